import bz2
import gzip
import json
import re
from datetime import date, timedelta

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.random_inputs import at_most

from kgraft.errors import BadInput, KgraftError
from kgraft.graph import Graph
from kgraft.graph.batches import Refusals
from kgraft.graph.build import build_graph, read_content
from kgraft.graph.io.readers.wikidata import WikidataSource
from kgraft.graph.io.wikidata.ids import SeenIds, common_labels
from kgraft.graph.io.wikidata.values import WKT, gregorian, value_of
from kgraft.graph.literals import XSD
from kgraft.progress import Silent


def texts(**by_language):
    return {tag: {"language": tag, "value": value} for tag, value in by_language.items()}


def claim(target, *, rank="normal", kind="item"):
    value = {"entity-type": kind, "id": target}
    snak = {"snaktype": "value", "datavalue": {"type": "wikibase-entityid", "value": value}}
    return {"mainsnak": snak, "rank": rank}


def statement(kind, value, datatype=""):
    """A claim with a value that is no entity."""
    snak = {"snaktype": "value", "datavalue": {"type": kind, "value": value}}
    return {"mainsnak": {**snak, "datatype": datatype or kind}, "rank": "normal"}


WIKIDATA = "http://www.wikidata.org/entity/"


def time(text, precision, calendar="Q1985727"):
    model = f"{WIKIDATA}{calendar}"
    return statement("time", {"time": text, "precision": precision, "calendarmodel": model})


def amount(text, unit="1"):
    return statement("quantity", {"amount": text, "unit": unit})


DATE = time("+1237-00-00T00:00:00Z", 9)
HEIGHT = amount("+34.5", f"{WIKIDATA}Q11573")
NAME = statement("monolingualtext", {"text": "Berlin", "language": "de"})
PLACE = statement("globecoordinate", {"latitude": 52.5, "longitude": 13, "globe": f"{WIKIDATA}Q2"})
GND = statement("string", "4005728-8", "external-id")
PAGE = statement("string", "https://www.berlin.de/", "url")
ODD = statement("lyrics", "la")
NO_VALUE = {"mainsnak": {"snaktype": "novalue"}, "rank": "normal"}
OLD = {
    "mainsnak": {
        "snaktype": "value",
        "datavalue": {
            "type": "wikibase-entityid",
            "value": {"entity-type": "item", "numeric-id": 5},
        },
    },
    "rank": "normal",
}
ITEMS = [
    {
        "type": "item",
        "id": "Q64",
        "labels": texts(de="Berlin", en="Berlin", fr="Berlin (fr)"),
        "descriptions": texts(en="capital of Germany", de="Hauptstadt"),
        "aliases": {
            "en": [{"language": "en", "value": v} for v in ("Berlin, Germany", "Berlin")],
            "mul": [{"language": "mul", "value": "BER"}],
            "de": [{"language": "de", "value": "Spreeathen"}],
        },
        "claims": {
            "P31": [claim("Q515"), claim("Q5119", rank="preferred")],
            "P17": [claim("Q183"), claim("Q7318", rank="deprecated"), claim("Q999")],
            "P571": [DATE, NO_VALUE],
            "P2044": [HEIGHT],
            "P1448": [NAME],
            "P625": [PLACE],
            "P227": [GND],
            "P856": [PAGE],
            "P9": [ODD],
            "P1": [claim("P17", kind="property")],
        },
    },
    {"type": "property", "id": "P17", "labels": texts(en="country"), "claims": {"P31": [OLD]}},
    {"type": "item", "id": "Q183", "labels": texts(mul="Germany"), "claims": []},
    {"type": "item", "id": "Q5119", "labels": texts(sv="huvudstad", fi="pääkaupunki")},
    {
        "type": "item",
        "id": "Q5",
        "labels": [],
        "descriptions": [],
        "aliases": [],
        "claims": {"P31": [OLD]},
    },
    {"type": "lexeme", "id": "L1", "lemmas": {}},
]
DUMP = "[\n" + ",\n".join(map(json.dumps, ITEMS)) + "\n]\n"


def source(folder, text=DUMP, *, lang="en", name="dump.json", pack=bytes):
    path = folder / name
    path.write_bytes(pack(text.encode()))
    return WikidataSource(path, lang=lang)


def test_items_properties_and_claims(tmp_path, collect):
    got = collect(source(tmp_path))
    berlin, germany, capital, human = got.entities
    assert berlin["label"] == "Berlin"
    assert berlin["description"] == "capital of Germany"
    assert berlin["aliases"] == ["Berlin, Germany", "BER"]
    assert berlin["types"] == ["Q5119"]
    assert germany["label"] == "Germany"
    assert capital["label"] == "pääkaupunki"
    assert human["label"] is None
    assert got.lines == [2, 4, 5, 6]
    assert [relation["label"] for relation in got.relations] == ["country", "instance of"]
    assert got.triples == [
        ("Q64", "P31", "Q5119", "train"),
        ("Q64", "P17", "Q183", "train"),
        ("Q64", "P17", "Q999", "train"),
        ("Q5", "P31", "Q5", "train"),
    ]
    assert got.left_out == {
        "claims of lower rank": 2,
        "external ids: P227 GND ID": 1,
        "values of the type 'lyrics': P9": 1,
        "claims without a value": 1,
        "claims that lead to no item": 1,
        "lexemes and other entities": 1,
    }


def test_values_are_literals(tmp_path, collect):
    kept = [
        ("P571", "1237", f"{XSD}gYear"),
        ("P2044", "34.5", f"{WIKIDATA}Q11573"),
        ("P1448", "Berlin", "@de"),
        ("P625", "Point(13 52.5)", WKT),
        ("P856", "https://www.berlin.de/", f"{XSD}anyURI"),
    ]
    assert collect(source(tmp_path)).literals == [("Q64", *row) for row in kept]
    with_ids = WikidataSource(tmp_path / "dump.json", external_ids=True)
    assert ("Q64", "P227", "4005728-8", "") in collect(with_ids).literals


def test_units_and_properties_have_labels(tmp_path):
    build_graph(source(tmp_path), tmp_path / "graph")
    graph = Graph.open(tmp_path / "graph")
    words = [value.words() for value in graph.card("Q64").literals]
    assert words[:2] == ["inception: 1237", "elevation above sea level: 34.5 metre"]
    assert graph.find_by_value("elevation above sea level", 34.5)[0].id == "Q64"


@pytest.mark.parametrize(
    ("claim", "text", "datatype"),
    [
        (time("+1990-05-01T00:00:00Z", 11), "1990-05-01", f"{XSD}date"),
        (time("+1990-05-01T10:20:30Z", 14), "1990-05-01T10:20:30Z", f"{XSD}dateTime"),
        (time("+1990-05-00T00:00:00Z", 10), "1990-05", f"{XSD}gYearMonth"),
        (time("+1990-00-00T00:00:00Z", 11), "1990", f"{XSD}gYear"),
        (time("+0079-00-00T00:00:00Z", 9), "0079", f"{XSD}gYear"),
        (time("-0044-03-15T00:00:00Z", 11, "Q1985786"), "-0043-03-13", f"{XSD}date"),
        (time("+1642-12-25T00:00:00Z", 11, "Q1985786"), "1643-01-04", f"{XSD}date"),
        (time("+1995-00-00T00:00:00Z", 8), "1990s", ""),
        (time("+1900-00-00T00:00:00Z", 7), "19th century", ""),
        (time("-0550-00-00T00:00:00Z", 7), "6th century BC", ""),
        (time("-2500-00-00T00:00:00Z", 6), "3rd millennium BC", ""),
        (amount("+3"), "3", f"{XSD}decimal"),
        (amount("-2.50", "https://e.org/kg"), "-2.50", "https://e.org/kg"),
        (statement("monolingualtext", {"text": "x", "language": "??"}), "x", ""),
        (statement("string", "4A", ""), "4A", ""),
    ],
)
def test_a_value_has_its_datatype(claim, text, datatype):
    assert value_of(claim["mainsnak"], external_ids=False) == (text, datatype)


def test_what_is_too_vague_is_left_out():
    moon = time("-4500000000-00-00T00:00:00Z", 1)
    assert value_of(moon["mainsnak"], external_ids=False) == "times vaguer than a millennium"


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        (time("yesterday", 11), "the time 'yesterday' cannot be read"),
        (time("+1990-05-01T00:00:00Z", "11"), "expected a number, found a string"),
        (amount("many"), "the amount 'many' is not a number"),
        (amount("1", "kg"), "the unit 'kg' is neither 1 nor an IRI"),
        (statement("globecoordinate", {"latitude": 1}), "no 'longitude'"),
    ],
)
def test_a_bad_value_is_refused(tmp_path, collect, claim, reason):
    item = {"type": "item", "id": "Q1", "claims": {"P1": [claim]}}
    with pytest.raises(BadInput, match=reason):
        collect(source(tmp_path, json.dumps(item)))


@given(st.dates(date(200, 3, 1)))
def test_julian_days_follow_one_another(day):
    julian = day - timedelta(days=gap(day))
    assume((julian.month, julian.day) != (2, 29) and julian.year == day.year)
    assert gregorian(julian.year, julian.month, julian.day) == (day.year, day.month, day.day)


def gap(day):
    """By how many days the Julian calendar is behind, for days from March of a century on."""
    century = (day.year if day.month > 2 else day.year - 1) // 100
    return century - century // 4 - 2


def test_another_language(tmp_path, collect):
    berlin = collect(source(tmp_path, lang="de")).entities[0]
    assert (berlin["description"], berlin["aliases"]) == ("Hauptstadt", ["Spreeathen", "BER"])


def test_the_builder_keeps_what_lies_inside(tmp_path):
    refusals = Refusals()
    content = read_content(source(tmp_path), refusals, Silent())
    assert content.entities["types"].to_pylist()[0] == ["pääkaupunki"]
    assert len(content.triples.head) == 3
    assert refusals.left_out["triples to entities outside the source"] == 1


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_packed_and_json_lines(tmp_path, collect, suffix, pack):
    expected = collect(source(tmp_path))
    assert collect(source(tmp_path, name=f"dump.json{suffix}", pack=pack)) == expected
    lines = "\n".join(map(json.dumps, ITEMS))
    assert collect(source(tmp_path, lines, name="lines.jsonl")).triples == expected.triples


def test_progress_shows_both_readings(tmp_path):
    started = []

    class Recorder(Silent):
        def start(self, what, total=None):
            started.append(what)

    list(source(tmp_path).batches(Refusals(), Recorder()))
    assert started == ["reading items of dump.json", "reading claims of dump.json"]


# Other shapes

ANSWER = {"entities": {item["id"]: item for item in ITEMS}, "success": 1}
MISSING = {"id": "Q404", "missing": ""}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (json.dumps(ANSWER), [1] * 4),
        (json.dumps(ANSWER, indent=2), [0] * 4),
        ("\ufeff" + json.dumps(ANSWER, indent=1), [0] * 4),
        (json.dumps({**ANSWER, "entities": ITEMS}), [1] * 4),
        (json.dumps(ITEMS), [0] * 4),
        (json.dumps(ITEMS, indent=2), [0] * 4),
        ("[" + ",\n".join(map(json.dumps, ITEMS)) + "]", [0] * 4),
        ("\n".join(json.dumps({"entities": {i["id"]: i}}) for i in ITEMS), [1, 3, 4, 5]),
    ],
)
def test_answers_and_lists_are_read_like_a_dump(tmp_path, collect, text, lines):
    expected = collect(source(tmp_path))
    got = collect(source(tmp_path, text, name="other.json"))
    assert got.lines == lines
    got.lines = expected.lines
    assert got == expected


def test_one_item_over_several_lines(tmp_path, collect):
    got = collect(source(tmp_path, json.dumps(ITEMS[0], indent=2)))
    assert [entity["id"] for entity in got.entities] == ["Q64"]


def test_entities_that_wikidata_lacks_are_counted(tmp_path, collect):
    got = collect(source(tmp_path, json.dumps({"entities": {"Q404": MISSING, "Q64": ITEMS[0]}})))
    assert [entity["id"] for entity in got.entities] == ["Q64"]
    assert got.left_out["entities that Wikidata lacks"] == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{\n"entities": {\n', "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('[{"type": "item"}, 3', "not JSON"),
        ('{\n"entities": {"Q1": 3}}', "expected an entity, found a number"),
        ('{"entities": 5}', "expected an entity, found a number"),
        ('{\n"entities": {"Q1": {"type": "item", "id": "\\ud800"}}}', "surrogate"),
        ('{"entities": {"Q1": {"type": "item", "id": "\\ud800"}}}', "surrogate"),
    ],
)
def test_a_broken_answer_is_one_line(tmp_path, collect, text, reason):
    with pytest.raises(BadInput, match=reason) as raised:
        collect(source(tmp_path, text))
    assert "\n" not in str(raised.value)
    assert ":0:" not in str(raised.value)


def test_a_whole_text_has_a_limit(tmp_path, collect, monkeypatch):
    monkeypatch.setattr("kgraft.graph.io.wikidata.json_entities.LARGEST", 100)
    with pytest.raises(BadInput, match=r"more than 100 bytes; write one entity per line"):
        collect(source(tmp_path, json.dumps(ITEMS)))
    assert len(collect(source(tmp_path)).entities) == 4


def test_repeated_items_are_kept_once(tmp_path, collect):
    again = {**ITEMS[0], "labels": texts(en="Another"), "claims": {"P36": [claim("Q183")]}}
    dump = "\n".join(map(json.dumps, [*ITEMS, again, ITEMS[0], ITEMS[1]]))
    got, expected = collect(source(tmp_path, dump)), collect(source(tmp_path, name="once.json"))
    assert got.left_out.pop("repeated items") == 3
    assert (got.entities, got.relations, got.triples, got.left_out) == (
        expected.entities,
        expected.relations,
        expected.triples,
        expected.left_out,
    )


def test_what_was_refused_has_no_triples(tmp_path, collect):
    bad = {"type": "item", "id": "Q1", "labels": [1], "claims": {"P31": [OLD]}}
    good = {"type": "item", "id": "Q1", "claims": {"P17": [OLD]}}
    got = collect(source(tmp_path, "\n".join(map(json.dumps, [bad, good]))), skip=True)
    assert got.refused == {"bad entity": 1}
    assert got.triples == [("Q1", "P17", "Q5", "train")]


# Labels and priors


def test_common_properties_and_classes_have_their_labels(tmp_path):
    items = [
        {"type": "item", "id": "Q1", "claims": {"P31": [claim("Q5")], "P1": [claim("Q2")]}},
        {"type": "item", "id": "Q2", "claims": {"P31": [claim("Q99999"), claim("Q1")]}},
        {"type": "item", "id": "Q3", "claims": {"P19": [claim("Q1")]}},
    ]
    items[0]["labels"] = texts(en="one")
    content = read_content(source(tmp_path, json.dumps(items)), Refusals(), Silent())
    labels = dict(zip(*(content.relations[n].to_pylist() for n in ("id", "label")), strict=True))
    assert labels == {"P31": "instance of", "P1": "P1", "P19": "place of birth"}
    assert content.entities["types"].to_pylist() == [["human"], ["Q99999", "one"], []]


def test_labels_of_the_file_come_first(tmp_path):
    items = [
        {"type": "item", "id": "Q1", "claims": {"P31": [claim("Q5")]}},
        {"type": "item", "id": "Q5", "labels": texts(en="person")},
        {"type": "property", "id": "P31", "labels": texts(en="is a")},
    ]
    content = read_content(source(tmp_path, json.dumps(items)), Refusals(), Silent())
    assert content.entities["types"].to_pylist()[0] == ["person"]
    assert content.relations["label"].to_pylist() == ["is a"]


def test_sitelinks_are_priors(tmp_path):
    def paris(number, sitelinks):
        alias = [{"language": "en", "value": f"Paris {number}"}]
        item = {"type": "item", "id": f"Q{number}", "labels": texts(en="Paris")}
        return {**item, "aliases": {"en": alias}, "sitelinks": sitelinks}

    sites = {f"{tag}wiki": {"site": f"{tag}wiki", "title": "Paris"} for tag in ("en", "fr", "de")}
    items = [paris(1, []), paris(2, sites), {"type": "item", "id": "Q3", "labels": texts(en="x")}]
    build_graph(source(tmp_path, json.dumps(items)), tmp_path / "graph")
    graph = Graph.open(tmp_path / "graph")
    assert graph.entities["name_counts"].to_pylist() == [None, [3, 3], None]
    assert graph.manifest.priors == "counts"
    priors = [(c.entity.id, round(c.prior, 4)) for c in graph.candidates("Paris")]
    assert priors == [("Q2", 0.8), ("Q1", 0.2)]


IDS = st.sampled_from("QPL") | st.text(max_size=2)
DIGITS = st.integers(0, 40).map(str) | st.sampled_from(["007", "1" * 9, "1" * 20, "", "٣"])


@given(st.lists(st.builds(str.__add__, IDS, DIGITS)))
def test_seen_ids_are_a_set(ids):
    seen, known = SeenIds(), set()
    for item in ids:
        assert seen.add(item) == (item not in known)
        known.add(item)


def test_the_table_of_labels_is_sound():
    labels = common_labels()
    assert len(labels) > 900
    assert all(re.fullmatch(r"[PQ][1-9]\d*", item) for item in labels)
    assert all(label == label.strip() != "" for label in labels.values())


def numbered(value):
    """An item with one claim that names its target by number, as JSON."""
    return json.dumps({"type": "item", "id": "Q1", "claims": {"P31": [OLD]}}).replace(
        '"numeric-id": 5', f'"numeric-id": {value}'
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "column 2"),
        ("[1, 2]", "expected one object per line"),
        ('{"id": "Q1"}', "no 'type'"),
        ('{"type": "item"}', "no 'id'"),
        ('{"type": "item", "id": ""}', "the id is empty"),
        ('{"type": "item", "id": 1}', "expected a string, found a number"),
        ('{"type": [], "id": "Q1"}', "expected a string, found a list"),
        ('{"type": "item", "id": "Q1", "labels": [1]}', "labels is not an object"),
        ('{"type": "item", "id": "Q1", "labels": {"en": "x"}}', "not as in a dump"),
        ('{"type": "item", "id": "Q1", "claims": {"P1": [5]}}', "not as in a dump"),
        ('{"type": "item", "id": "Q1", "claims": {"P1": [{"mainsnak": {}}]}}', "no 'snaktype'"),
        ('{"type": "item", "id": "Q1", "claims": {"": []}}', "the id of a property is empty"),
        (numbered("1e999"), "expected a whole number, found a number"),
        (numbered("true"), "expected a whole number, found true or false"),
        (numbered('"5"'), "expected a whole number, found a string"),
    ],
)
def test_bad_entities_are_refused_once(tmp_path, collect, line, reason):
    reader = source(tmp_path, f'[\n{line},\n{{"type": "item", "id": "Q2"}}\n]')
    with pytest.raises(BadInput) as raised:
        collect(reader)
    assert raised.value.line == 2
    assert reason in str(raised.value)
    got = collect(reader, skip=True)
    assert got.refused == {"bad entity": 1}
    assert [entity["id"] for entity in got.entities] == ["Q2"]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.sampled_from(["Q1", "value", "item"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["en", "value", "P31", "mainsnak", "rank", "type"]), inner
        )
    ),
    max_leaves=8,
)
ENTITY = st.fixed_dictionaries(
    {"type": st.sampled_from(["item", "property"]) | JSON, "id": st.just("Q1") | JSON},
    optional=dict.fromkeys(("labels", "descriptions", "aliases", "claims"), JSON),
)


@pytest.mark.slow
@settings(deadline=None)
@given(
    st.lists(ENTITY, max_size=3),
    st.sampled_from(
        [
            lambda values: "\n".join(map(json.dumps, values)),
            json.dumps,
            lambda values: json.dumps(values, indent=1),
            lambda values: json.dumps({"entities": dict(enumerate(values))}),
            lambda values: json.dumps({"entities": values}, indent=1),
        ]
    ),
)
def test_any_json_is_read_or_refused(tmp_path_factory, collect, values, shape):
    folder = tmp_path_factory.mktemp("any")
    got = collect(source(folder, shape(values)), skip=True)
    left_out = got.left_out["lexemes and other entities"] + got.left_out["repeated items"]
    kept = len(got.entities) + len(got.relations)
    assert kept + left_out + got.refused.total() == len(values)


def places(value, path=()):
    """The path of every value inside a JSON value."""
    yield path
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*path, key))


def replaced(value, path, new):
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


ANY_NUMBER = st.floats() | st.integers() | st.sampled_from([float("inf"), 10**400, -1])
PLACES = [(item, path) for item in ITEMS for path in places(item)]


@pytest.mark.slow
@settings(deadline=None, max_examples=at_most(300))
@given(place=st.sampled_from(PLACES), new=JSON | ANY_NUMBER, skip=st.booleans())
def test_any_json_in_any_place_is_imported_or_refused(tmp_path_factory, place, new, skip):
    items = [{"type": "item", "id": "Q0"}, replaced(*place, new)]
    dump = source(tmp_path_factory.mktemp("any"), "\n".join(map(json.dumps, items)))
    try:
        content = read_content(dump, Refusals(skip=skip), Silent())
    except KgraftError:
        assert not skip
    else:
        assert content.entities["id"][0].as_py() == "Q0"
        assert "" not in content.relations["id"].to_pylist()
