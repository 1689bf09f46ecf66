"""A hidden word may be what the graph says of the entities around it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.graft.conftest import DrawnVectors
from tests.graft.test_similar_entities import naive as predicted
from tests.graft.tiny import build, few

from kgraft.graft import FactRecallKnowledge, GraftedEncoder, GraphKnowledge, open_knowledge
from kgraft.graft.knowledge import fact_recall as module
from kgraft.text import Encoder

PARTS = ["Paris", "Texas", "France", "lies in", "is the capital of", "[MASK]", "New", "."]
TEXTS = st.lists(st.lists(st.sampled_from(PARTS), max_size=7).map(" ".join), max_size=4)


@pytest.fixture(scope="module")
def recall(graph):
    return FactRecallKnowledge(graph, DrawnVectors(graph), name="tiny")


def candidates(mentions, text, start):
    """Return what the mention at a character of a text may be, with priors."""
    (row,) = np.flatnonzero((mentions.text == text) & (mentions.start == start))
    own = slice(*mentions.bounds[row : row + 2])
    return dict(zip(mentions.entity[own].tolist(), mentions.prior[own].tolist(), strict=True))


def spans(mentions):
    """Return text, start and end of each mention."""
    columns = (mentions.text, mentions.start, mentions.end)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def naive(recall, text, exclude=-1):
    """Return p(o | text), by the formula."""
    graph, encoder = recall.graph, Encoder.load()
    ids = graph.relations["id"].to_pylist()
    ways = [["capital_of", "is the capital of"] if name == "capital" else [name] for name in ids]
    columns = (getattr(graph.triples, n).tolist() for n in ("head", "relation", "tail"))
    facts = list(zip(*columns, strict=True))
    said = [(h, r, t, 1.0) for h, r, t in facts] + [(t, r, h, 0.3) for h, r, t in facts]
    found = GraphKnowledge(graph, recall.vectors).find([text])
    places = [span[1:] for span in spans(found)]
    total = {}
    for row, (a, b) in enumerate(places):
        if any(c <= a and b <= d and (c, d) != (a, b) for c, d in places):
            continue
        rest = " ".join((text[:a] + " " + text[b:]).replace("[MASK]", " ").split()).rstrip(" .")
        read = encoder.encode([rest])[0]
        fits = np.exp([10 * (encoder.encode(said) @ read).max() for said in ways])
        for at in list(range(*found.bounds[row : row + 2]))[:2]:
            subject, prior = int(found.entity[at]), found.prior[at]
            mine = [x for x in said if x[0] == subject]
            for _, relation, far, weight in mine:
                several = sum((x[1], x[3]) == (relation, weight) for x in mine)
                if far != exclude:
                    part = prior * fits[relation] * weight / several**0.5
                    total[far] = total.get(far, 0.0) + part
            best = np.argsort(-fits)[:3].tolist()
            guessed = {r: predicted(graph, subject, r, exclude) for r in best}
            mass = sum(x for held in guessed.values() for x in held.values())
            for relation, held in guessed.items():
                for far, x in held.items():
                    part = prior * fits[relation] * 4.0 * x / mass
                    total[far] = total.get(far, 0.0) + part
    whole = sum(total.values())
    return {entity: part / whole for entity, part in total.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["Paris is the capital of [MASK] .", "[MASK] lies in Texas", "Paris [MASK] in Texas ."]
)
def test_candidates_follow_the_formula(recall, text):
    found = candidates(recall.find(["", text]), 1, text.index("[MASK]"))
    assert found == pytest.approx(naive(recall, text), rel=1e-3)
    assert list(found.values()) == sorted(found.values(), reverse=True)


def test_excluded_entities(recall, graph):
    france = int(graph.indices_of(["france"])[0])
    texts = ["Paris is the capital of [MASK] .", "Paris lies in [MASK] ."]
    mentions = recall.find(texts, exclude=np.array([france, -1]))
    for number, exclude in enumerate([france, -1]):
        found = candidates(mentions, number, texts[number].index("[MASK]"))
        assert found == pytest.approx(naive(recall, texts[number], exclude), rel=1e-3)


def test_what_fits_the_text_is_likelier(recall, graph):
    france, texas = graph.indices_of(["france", "texas"])
    found = candidates(recall.find(["Paris is the capital of [MASK] ."]), 0, 24)
    assert found[france] > found.get(texas, 0.0)


@given(texts=TEXTS)
@few
def test_names_are_found_as_ever(graph, recall, texts):
    """But for those in the sign itself; each hidden word is a mention, with candidates or not."""
    plain, found = GraphKnowledge(graph, recall.vectors).find(texts), recall.find(texts)
    signs = [
        (index, n, n + 6)
        for index, text in enumerate(texts)
        for n in range(len(text))
        if text.startswith("[MASK]", n)
    ]
    assert spans(found) == sorted([*spans(plain), *signs])
    assert (found.prior >= 0).all()
    assert (found.prior <= 1.0001).all()


def test_an_entity_called_like_the_sign_is_not_meant(tmp_path):
    named = [{"id": "mask", "label": "Mask"}, {"id": "jim", "label": "Jim Carrey"}]
    graph = build(tmp_path / "masks", [("jim", "star", "mask")], named, None)
    found = FactRecallKnowledge(graph, DrawnVectors(graph)).find(["Jim Carrey is in The [MASK] ."])
    assert len(found) == 2
    assert found.entity.tolist() == graph.indices_of(["jim", "mask"]).tolist()


def test_what_has_too_many_ends_says_nothing(recall, graph, monkeypatch):
    monkeypatch.setattr(module, "MOST_ENDS", 0)
    monkeypatch.setattr(module, "RELATIONS", 0)
    fresh = FactRecallKnowledge(graph, recall.vectors)
    assert candidates(fresh.find(["Paris is in [MASK]"]), 0, 12) == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "told"), [("is", False), (".", False), ("IS", True), ("東", True)]
)
def test_plain_words_tell_nothing(tmp_path, name, told):
    named = [{"id": "x", "label": name}, {"id": "y", "label": "Yonder"}]
    graph = build(tmp_path / "words", [("x", "near", "y")], named, None)
    text = f"{name} near [MASK] here"
    found = candidates(
        FactRecallKnowledge(graph, DrawnVectors(graph)).find([text]), 0, len(name) + 6
    )
    assert (found != {}) == told


def test_only_so_much_is_looked_at(recall, monkeypatch):
    text = " ".join(["Paris"] * 40 + ["[MASK]"] + ["Texas"] * 40)
    assert candidates(recall.find([text]), 0, 240)
    monkeypatch.setattr(module, "CANDIDATES", 1)
    assert len(candidates(recall.find(["Paris is in [MASK]"]), 0, 12)) == 1


def test_it_is_opened_again_with_its_mask_token(graph, host_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "cache"))
    knowledge = open_knowledge(graph.folder, kind="fact-recall", mask_token="[MASK]")
    encoder = GraftedEncoder(Encoder.load(host_folder, device="cpu"), {2: knowledge})
    encoder.save_pretrained(tmp_path / "graft")
    again = GraftedEncoder.from_pretrained(tmp_path / "graft").grafts.knowledge[2]
    assert isinstance(again, FactRecallKnowledge)
    assert again.identity() == knowledge.identity()
