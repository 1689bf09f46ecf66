"""Names are found as texts write them: as they are, inflected, abbreviated, in part, or pinned."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.random_inputs import at_most

from kgraft.graph.mentions import Match
from kgraft.graph.names.abbreviations import find_definitions
from kgraft.graph.names.fold import WordTokens, fold_name
from kgraft.graph.names.matcher import NameMatcher
from kgraft.graph.names.rewordings import in_brackets
from kgraft.graph.names.stems import stem

ENTITIES = [
    {"id": "wilson", "label": "Wilson disease", "aliases": ["Wilson's disease"]},
    {"id": "digital", "label": "WD", "aliases": ["Western Digital"]},
    {"id": "tumor", "label": "tumor"},
    {"id": "cancer", "label": "Cancer"},
    {"id": "breast", "label": "Breast Cancer"},
    {"id": "colorectal", "label": "Colorectal Cancer"},
    {"id": "lynch", "label": "Hereditary Nonpolyposis Colorectal Cancer"},
    {"id": "ischemia", "label": "Ischemia"},
    {"id": "lakers", "label": "Los Angeles Lakers"},
    {"id": "angeles", "label": "Los Angeles"},
    {"id": "work", "label": "Work"},
    {"id": "paris", "label": "Paris"},
    {"id": "texas", "label": "Paris", "aliases": ["Paris, Texas"]},
    {"id": "tokyo", "label": "東京"},
    {"id": "rat", "label": "Rat"},
    {"id": "tay", "label": "Tay-Sachs Disease"},
    {"id": "sachs", "label": "Sachs"},
]
IDS = [entity["id"] for entity in ENTITIES]
TRIPLES = [("paris", "next to", "tokyo"), ("paris", "next to", "work")]
ADDED = [{"id": "new", "label": "Zorblax Fever", "aliases": ["Paris", "Angeles Lakers Club"]}]
NEW = len(IDS)
WORDS = [
    *("Wilson", "disease", "WD", "(WD)", "(", ")", "tumours", "cancer", "Cancers", "of", "the"),
    *("breast", "ischaemic", "Colorectal", "Los", "Angeles", "Lakers", "Paris", ",", "Texas"),
    *("Zorblax", "fever", "working", "東京", "都", "😀", "\u00ad", "\u0301", "\ud800", "\uffff"),
    *(".", "\n", "½", "…", "⑽"),
]
TEXT = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join),
    st.lists(st.sampled_from([*WORDS, " "]), max_size=12).map("".join),
    st.text(max_size=15),
)
TEXTS = st.lists(TEXT, max_size=5)


@pytest.fixture(scope="module")
def graph(make_graph, tmp_path_factory):
    return make_graph(tmp_path_factory.mktemp("matcher"), TRIPLES, ENTITIES)


@pytest.fixture(scope="module")
def added(make_graph, tmp_path_factory):
    return make_graph(tmp_path_factory.mktemp("added"), [], ADDED)


@pytest.fixture
def matcher(graph):
    return NameMatcher(graph)


@pytest.fixture(scope="module")
def changed(graph, added):
    """Return a matcher of a graph with one entity more, one less, and a pinned name."""
    matcher = NameMatcher(graph)
    matcher.add(added, np.array([NEW]))
    matcher.remove(np.array([IDS.index("texas")]))
    matcher.pin({"fever": IDS.index("cancer")})
    return matcher


def rows(mentions):
    """Return (text, start, end, kinds of match, entities) of each mention."""
    spans = zip(*(c.tolist() for c in (mentions.text, mentions.start, mentions.end)), strict=True)
    bounds, names = mentions.bounds.tolist(), [*IDS, "new"]
    return [
        (
            *span,
            {Match(kind) for kind in mentions.match[bounds[n] : bounds[n + 1]].tolist()},
            [names[entity] for entity in mentions.entity[bounds[n] : bounds[n + 1]].tolist()],
        )
        for n, span in enumerate(spans)
    ]


def links(matcher, text, **options):
    """Return {surface: (kind of match, entities)} of a text; a surface has one of each."""
    made = {}
    for _, start, end, kinds, entities in rows(matcher.find([text], **options)):
        [kind] = kinds
        assert made.setdefault(text[start:end], (kind, entities)) == (kind, entities)
    return made


@pytest.mark.parametrize(
    ("text", "surface", "kind", "entity"),
    [
        ("a tumor.", "tumor", Match.NAME, "tumor"),
        ("two tumours.", "tumours", Match.VARIANT, "tumor"),
        ("TUMORS", "TUMORS", Match.VARIANT, "tumor"),
        ("an ischaemic stroke", "ischaemic", Match.VARIANT, "ischemia"),
        ("cancer of the breast", "cancer of the breast", Match.VARIANT, "breast"),
        ("breast-cancers", "breast-cancers", Match.VARIANT, "breast"),
        ("cancer, breast", "cancer, breast", Match.VARIANT, "breast"),
        ("breast cancer", "breast cancer", Match.NAME, "breast"),
        ("that works", "works", Match.VARIANT, "work"),
        ("the Lakers won", "Lakers", Match.PARTIAL, "lakers"),
        ("a Tay-Sachs carrier", "Tay-Sachs", Match.PARTIAL, "tay"),
        ("a Tay-Sachs carrier", "Sachs", Match.NAME, "sachs"),
        ("大東京都", "東京", Match.NAME, "tokyo"),
    ],
)
def test_a_name_is_found_as_it_is_written(matcher, text, surface, kind, entity):
    assert links(matcher, text)[surface] == (kind, [entity])


@pytest.mark.parametrize(
    "text",
    [
        "they were working",  # too common a word to be a variant
        "the breast",
        "Parisian",
        "",
        " ",
        "\ud800\udc00",
        "\u0301\u00ad",
        "\uffff",
    ],
)
def test_nothing_is_found_where_there_is_no_name(matcher, text):
    assert links(matcher, text) == {}


def test_no_variant_runs_across_the_end_of_a_sentence(matcher):
    assert "breast. Cancer" not in links(matcher, "of the breast. Cancer")
    assert "cancer (breast" not in links(matcher, "cancer (breast)")


@pytest.mark.parametrize("text", ["breast or cancer", "cancer and the breast", "4 tumours"])
def test_no_variant_has_more_than_its_name(matcher, text):
    assert text not in links(matcher, text)


def test_names_inside_longer_names_are_found(matcher):
    text = "hereditary nonpolyposis colorectal cancer"
    names = links(matcher, text)
    assert names[text] == (Match.NAME, ["lynch"])
    assert names["colorectal cancer"] == (Match.NAME, ["colorectal"])
    assert names["cancer"] == (Match.NAME, ["cancer"])


def test_candidates_stand_by_their_priors(matcher):
    mentions = matcher.find(["Paris"])
    assert [IDS[entity] for entity in mentions.entity] == ["paris", "texas"]
    assert mentions.prior == pytest.approx([3 / 4, 1 / 4])
    assert mentions.score.tolist() == [0, 0]


def test_exact_search_finds_names_as_the_graph_has_them(matcher):
    text = "Wilson disease (WD), tumours, the Lakers, WD"
    assert links(matcher, text, exact=True) == {
        "Wilson disease": (Match.NAME, ["wilson"]),
        "WD": (Match.NAME, ["digital"]),
    }


def test_exact_candidates_are_those_of_the_alias_table(graph, matcher):
    text = "Paris, Paris, Texas, 東京 and tumor"
    mentions = matcher.find([text], exact=True)
    for row, (start, end) in enumerate(zip(mentions.start, mentions.end, strict=True)):
        entity, prior = graph.aliases.candidates(graph.aliases.row(text[start:end]))
        own = slice(*mentions.bounds[row : row + 2])
        assert mentions.entity[own].tolist() == entity.tolist()
        assert mentions.prior[own].tolist() == pytest.approx(prior.tolist())


def test_forms_of_words_count_like_names(graph, matcher):
    """Rats means what its name means, and tumors besides; a word of no form means its names."""
    rat, tumor = graph.indices_of(["rat", "tumor"]).tolist()

    def forms(words):
        index = np.array([words.index("rats"), words.index("rat")])
        return index, np.array([rat, tumor]), np.array([2.0, 3.0], np.float32)

    mentions = matcher.find(["Rats", "a rat"], exact=True, forms=forms)
    columns = (mentions.text, mentions.start, mentions.end)
    assert list(zip(*(c.tolist() for c in columns), strict=True)) == [(0, 0, 4), (1, 2, 5)]
    assert mentions.entity.tolist() == [rat, tumor, rat]
    assert mentions.prior.tolist() == pytest.approx([1, 0.75, 0.25])


# Abbreviations


@pytest.mark.parametrize(
    "text",
    [
        "WD is rare. Wilson disease (WD) is treated; WD's cause, (WD).",
        "WD (Wilson disease) is rare. WD is treated. WD, WD.",
    ],
)
def test_an_abbreviation_means_its_long_form_everywhere(matcher, text):
    found = rows(matcher.find([text, "WD"]))
    uses = [row for row in found if row[2] - row[1] == 2]
    assert [row[0] for row in uses] == [0, 0, 0, 0, 1]
    assert [row[3:] for row in uses[:4]] == [({Match.ABBREVIATION}, ["wilson"])] * 4
    assert uses[4][3:] == ({Match.NAME}, ["digital"])  # another text defines nothing


def test_an_abbreviation_may_stand_for_a_variant(matcher):
    names = links(matcher, "Wilson diseases (WD), later WD")
    assert names["WD"] == (Match.ABBREVIATION, ["wilson"])


def test_an_abbreviation_has_all_candidates_of_its_long_form(matcher):
    mentions = matcher.find(["Paris (PAR)"])
    assert mentions.prior[mentions.owner == 1] == pytest.approx([3 / 4, 1 / 4])
    assert links(matcher, "Paris (PAR)")["PAR"] == (Match.ABBREVIATION, ["paris", "texas"])


def test_a_long_form_that_is_no_name_defines_nothing(matcher):
    assert links(matcher, "Weird discipline (WD)")["WD"] == (Match.NAME, ["digital"])


def test_two_definitions_of_one_abbreviation_give_the_candidates_of_both(matcher):
    text = "Wilson disease (WD) and Work Done (WD); Wilson disease (WD)"
    matcher.pin({"work done": IDS.index("work")})
    kind, entities = links(matcher, text)["WD"]
    assert (kind, sorted(entities)) == (Match.ABBREVIATION, ["wilson", "work"])


def test_a_definition_that_is_repeated_costs_no_more_than_one(matcher, monkeypatch):
    from kgraft.graph.names import matcher as module

    searched = []
    find_uses = module.find_uses
    monkeypatch.setattr(module, "find_uses", lambda *a: searched.append(a) or find_uses(*a))
    mentions = matcher.find(["Wilson disease (WD). " * 50])
    assert len(searched) == 1
    assert (mentions.match == Match.ABBREVIATION).sum() == 50


# Pins, additions and removals


def test_a_pin_wins_over_all_else(matcher):
    paris, tumor = IDS.index("paris"), IDS.index("tumor")
    text = "Wilson disease (WD): tumours, breast cancer, the Lakers"
    names = ["WD", "Tumours", "Breast  CANCER", "lakers", "Wilson disease"]
    matcher.pin(dict.fromkeys(names, paris))
    pinned = {
        surface: entities
        for surface, (kind, entities) in links(matcher, text).items()
        if kind == Match.PINNED
    }
    surfaces = ["WD", "tumours", "breast cancer", "Lakers", "Wilson disease"]
    assert pinned == {surface: ["paris"] for surface in surfaces}
    assert links(matcher, text, exact=True)["WD"] == (Match.PINNED, ["paris"])
    matcher.pin({"WD": tumor})  # in the place of the pins before
    assert links(matcher, "WD, Breast Cancer") == {
        "WD": (Match.PINNED, ["tumor"]),
        "Breast Cancer": (Match.NAME, ["breast"]),
        "Cancer": (Match.NAME, ["cancer"]),
    }
    matcher.pin({})
    assert links(matcher, "WD") == {"WD": (Match.NAME, ["digital"])}


def test_a_pin_needs_no_name_of_the_graph(matcher):
    matcher.pin({"Big Blue\ud800": IDS.index("digital"), "": 0, "\u00ad": 0})
    assert links(matcher, "big blue\ud800 ") == {}
    matcher.pin({"Big Blue": IDS.index("digital")})
    assert links(matcher, "big blue ") == {"big blue": (Match.PINNED, ["digital"])}


def test_a_removed_entity_is_never_a_candidate(matcher):
    text = "Wilson disease (WD), Wilson's diseases, tumours and tumor, Paris"
    removed = ["wilson", "tumor", "texas"]
    matcher.pin({"Tumor": IDS.index("tumor")})
    matcher.remove(np.array([IDS.index(name) for name in removed]))
    names = links(matcher, text)
    assert names == {"WD": (Match.NAME, ["digital"]), "Paris": (Match.NAME, ["paris"])}
    matcher.pin({"Tumor": IDS.index("tumor")})
    assert links(matcher, text) == names


def test_an_added_entity_is_found_by_all_its_names(matcher, added):
    matcher.add(added, np.array([NEW]))
    assert links(matcher, "zorblax fever (ZF), ZF, fevers of zorblax") == {
        "zorblax fever": (Match.NAME, ["new"]),
        "ZF": (Match.ABBREVIATION, ["new"]),
        "fevers of zorblax": (Match.VARIANT, ["new"]),
        "zorblax": (Match.PARTIAL, ["new"]),
    }
    assert links(matcher, "Paris")["Paris"] == (Match.NAME, ["paris", "texas", "new"])
    matcher.remove(np.array([NEW]))
    assert links(matcher, "zorblax fever") == {}


def test_an_entity_that_is_added_again_has_its_new_names_only(matcher, added):
    tumor = IDS.index("tumor")
    matcher.pin({"lump": tumor})
    matcher.remove(np.array([tumor]))
    assert links(matcher, "tumor lump") == {}
    matcher.add(added, np.array([tumor]))
    assert links(matcher, "tumor, lump, Zorblax fever") == {
        "lump": (Match.PINNED, ["tumor"]),
        "Zorblax fever": (Match.NAME, ["tumor"]),
    }


def test_names_of_added_entities_cover_their_words_too(matcher, make_graph, tmp_path):
    entities = [{"id": "new", "label": "Utah Lakers"}]
    assert "Lakers" in links(matcher, "the Utah Lakers")
    matcher.add(make_graph(tmp_path, [], entities), np.array([NEW]))
    assert links(matcher, "the Utah Lakers") == {"Utah Lakers": (Match.NAME, ["new"])}


# Many texts


@pytest.mark.parametrize(
    "texts",
    [
        ["Breast", "Cancer"],
        ["Los Angeles", "Lakers"],
        ["cancer of the", "breast"],
        ["Wilson disease", "(WD) WD"],
        ["Paris", "", "", ", Texas"],
        ["Zorblax", "\u0301fever"],
        ["\ud800", "\udc00Paris"],
        [],
        [""],
    ],
)
def test_nothing_crosses_from_one_text_into_the_next(changed, texts):
    check_one_by_one(changed, texts)


def check_one_by_one(matcher, texts):
    for exact in (False, True):
        together = matcher.find(texts, exact=exact)
        alone = [matcher.find([text], exact=exact) for text in texts]
        for row, text in enumerate(texts):
            assert rows(alone[row]) == rows(alone[row].select(alone[row].end <= len(text)))
        expected = [(row, *line[1:]) for row, part in enumerate(alone) for line in rows(part)]
        assert rows(together) == expected
        for name in ("prior", "forms", "match", "score"):
            parts = [getattr(part, name) for part in alone]
            assert getattr(together, name).tolist() == [x for part in parts for x in part.tolist()]


@pytest.mark.slow
@given(texts=TEXTS)
@settings(max_examples=at_most(150))
def test_texts_together_give_what_each_gives_alone(changed, texts):
    check_one_by_one(changed, texts)


def stems(words):
    return Counter(stem(word) for word in words if stem(word))


def names_of(graph, added, entity):
    """Return the folded names of an entity, those as people write them too."""
    aliases = added.aliases if entity == NEW else graph.aliases
    index = 0 if entity == NEW else entity
    return [name for row, name in enumerate(aliases.keys) if index in aliases.candidates(row)[0]]


def is_part(words, name):
    sizes = range(len(name) - len(words) + 1)
    return len(words) < len(name) and any(name[n : n + len(words)] == words for n in sizes)


@pytest.mark.slow
@given(texts=TEXTS)
@settings(max_examples=at_most(150))
def test_every_mention_is_a_form_of_a_name_of_its_candidates(graph, added, changed, texts):
    mentions = changed.find(texts)
    columns = (mentions.text[mentions.owner], mentions.start[mentions.owner])
    spans = (*columns, mentions.end[mentions.owner], mentions.entity, mentions.match)
    for index, start, end, entity, match in zip(*(c.tolist() for c in spans), strict=True):
        text = texts[index]
        assert 0 <= start < end <= len(text)
        assert entity != IDS.index("texas")
        surface, names = text[start:end], names_of(graph, added, entity)
        words = WordTokens.of(surface).words
        if match == Match.PINNED:
            assert (fold_name(surface), entity) == ("fever", IDS.index("cancer"))
        elif match == Match.NAME:
            assert fold_name(surface) in names
        elif match == Match.VARIANT:
            assert any(stems(words) == stems(name.split(" ")) for name in names)
        elif match == Match.REWORDED:  # no words are exchangeable here: it goes around brackets
            outside = [w for w, inside in zip(words, in_brackets(words), strict=True) if not inside]
            assert any(stems(outside) == stems(name.split(" ")) for name in names)
        elif match == Match.PARTIAL:
            assert any(is_part(words, name.split(" ")) for name in names)
        else:
            ends = [d.end for d in find_definitions(text) if d.short == surface]
            long_forms = (mentions.text == index) & np.isin(mentions.end, ends)
            long_forms = mentions.select(long_forms)
            assert match == Match.ABBREVIATION
            assert entity in long_forms.entity


@given(texts=TEXTS)
def test_mentions_stand_in_order_each_span_once(changed, texts):
    mentions = changed.find(texts)
    spans = [line[:3] for line in rows(mentions)]
    assert spans == sorted(set(spans))
    assert (mentions.sizes > 0).all()
    totals = np.bincount(mentions.owner, weights=mentions.prior, minlength=len(mentions))
    assert totals == pytest.approx(np.ones(len(mentions)))
    assert all(len(kinds) == 1 for _, _, _, kinds, _ in rows(mentions))


def test_a_graph_without_names_finds_nothing(graph, tmp_path):
    matcher = NameMatcher(graph.without(tmp_path / "none", entities=IDS))
    assert len(matcher.find(["Paris (P)", "", "tumours"])) == 0


ORGANS = [
    {"id": f"{organ}{n}", "label": f"Kidney {organ}", "aliases": [f"Renal {organ}"]}
    for n, organ in enumerate(["failure", "calculi", "abscess"])
] + [
    {"id": f"{name}{n}", "label": f"{name} Syndrome", "aliases": [name]}
    for n, name in enumerate(["Horner", "Marfan", "Reye"])
]
ORGANS += [
    {"id": "necrosis", "label": "Kidney Papillary Necrosis"},
    {"id": "fragile", "label": "Fragile X Syndrome"},
    {"id": "vhl", "label": "von Hippel-Lindau disease"},
]


@pytest.mark.parametrize(
    ("text", "surface", "match", "entity"),
    [
        ("A renal papillary necrosis.", "renal papillary necrosis", Match.REWORDED, "necrosis"),
        ("In fragile X patients", "fragile X", Match.SHORTENED, "fragile"),
        (
            "von Hippel-Lindau (VHL) disease",
            "von Hippel-Lindau (VHL) disease",
            Match.REWORDED,
            "vhl",
        ),
        ("Renal wugosis", "Renal wugosis", Match.REWORDED, "wug"),  # added later
    ],
)
def test_names_are_found_in_other_words(make_graph, tmp_path, text, surface, match, entity):
    graph = make_graph(tmp_path, [], ORGANS)
    matcher = NameMatcher(graph)
    wug = [{"id": "wug", "label": "Kidney Wugosis"}]
    matcher.add(make_graph(tmp_path, [], wug), np.array([len(ORGANS)]))
    mentions = matcher.find([text])
    ids = [*(item["id"] for item in ORGANS), "wug"]
    rows = {
        text[start:end]: (kind, ids[mentions.entity[best]])
        for start, end, kind, best in zip(
            mentions.start, mentions.end, mentions.kind, mentions.best, strict=True
        )
    }
    assert rows[surface] == (match, entity)
    assert surface not in {text[s:e] for s, e in matched_exactly(matcher, text)}


def matched_exactly(matcher, text):
    mentions = matcher.find([text], exact=True)
    return zip(mentions.start.tolist(), mentions.end.tolist(), strict=True)
