"""Where a word is hidden, what the graph says of the entities around is expected."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.graft.conftest import DrawnVectors
from tests.graft.test_alike import naive as alike
from tests.graft.tiny import build, few

from kgraft.graft import GraftedEncoder, GraphKnowledge, open_knowledge
from kgraft.graft import expecting as module
from kgraft.graft.expecting import ExpectingKnowledge
from kgraft.text import Encoder

PARTS = ["Paris", "Texas", "France", "lies in", "is the capital of", "[MASK]", "New", "."]
TEXTS = st.lists(st.lists(st.sampled_from(PARTS), max_size=7).map(" ".join), max_size=4)


@pytest.fixture(scope="module")
def expecting(graph):
    return ExpectingKnowledge(graph, DrawnVectors(graph), name="tiny")


def candidates(named, text, start):
    """Return what a name at a place may be, by its number."""
    row = np.flatnonzero(named.start == named.bounds[text] + start)
    assert len(row) == 1
    held = slice(*named.candidates[row[0] : row[0] + 2])
    return dict(zip(named.entity[held].tolist(), named.prior[held].tolist(), strict=True))


def naive(expecting, text, without=-1):
    """Return p(o | text), by the formula."""
    graph, encoder = expecting.graph, Encoder.load()
    ids = graph.relations["id"].to_pylist()
    ways = [["capital_of", "is the capital of"] if name == "capital" else [name] for name in ids]
    columns = (getattr(graph.triples, n).tolist() for n in ("head", "relation", "tail"))
    facts = list(zip(*columns, strict=True))
    said = [(h, r, t, 1.0) for h, r, t in facts] + [(t, r, h, 0.3) for h, r, t in facts]
    found = GraphKnowledge(graph, expecting.vectors).find([text])
    spans = list(zip(found.start.tolist(), found.end.tolist(), strict=True))
    total = {}
    for row, (a, b) in enumerate(spans):
        if any(c <= a and b <= d and (c, d) != (a, b) for c, d in spans):
            continue
        rest = " ".join((text[:a] + " " + text[b:]).replace("[MASK]", " ").split()).rstrip(" .")
        read = encoder.encode([rest])[0]
        fits = np.exp([10 * (encoder.encode(said) @ read).max() for said in ways])
        for at in list(range(*found.candidates[row : row + 2]))[:2]:
            subject, prior = int(found.entity[at]), found.prior[at]
            mine = [x for x in said if x[0] == subject]
            for _, relation, far, weight in mine:
                several = sum((x[1], x[3]) == (relation, weight) for x in mine)
                if far != without:
                    part = prior * fits[relation] * weight / several**0.5
                    total[far] = total.get(far, 0.0) + part
            best = np.argsort(-fits)[:3].tolist()
            guessed = {r: alike(graph, subject, r, without) for r in best}
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
def test_what_is_expected_follows_the_formula(expecting, text):
    found = candidates(expecting.find(["", text]), 1, text.index("[MASK]"))
    assert found == pytest.approx(naive(expecting, text), rel=1e-3)
    assert list(found.values()) == sorted(found.values(), reverse=True)


@pytest.mark.slow
def test_what_is_not_to_be_known(expecting, graph):
    france = int(graph.numbers_of(["france"])[0])
    texts = ["Paris is the capital of [MASK] .", "Paris lies in [MASK] ."]
    named = expecting.find(texts, without=np.array([france, -1]))
    for number, without in enumerate([france, -1]):
        found = candidates(named, number, texts[number].index("[MASK]"))
        assert found == pytest.approx(naive(expecting, texts[number], without), rel=1e-3)


def test_what_fits_the_text_is_likelier(expecting, graph):
    france, texas = graph.numbers_of(["france", "texas"])
    found = candidates(expecting.find(["Paris is the capital of [MASK] ."]), 0, 24)
    assert found[france] > found.get(texas, 0.0)


@given(texts=TEXTS)
@few
def test_names_are_found_as_ever(graph, expecting, texts):
    """But for those in the sign itself; each hidden word is a mention, known of or not."""
    plain, found = GraphKnowledge(graph, expecting.vectors).find(texts), expecting.find(texts)
    whole = "\n".join(texts)
    signs = [n for n in range(len(whole)) if whole.startswith("[MASK]", n)]
    spans = zip(plain.start.tolist(), plain.end.tolist(), strict=True)
    expected = sorted([*spans, *((n, n + 6) for n in signs)])
    assert list(zip(found.start.tolist(), found.end.tolist(), strict=True)) == expected
    assert (found.prior >= 0).all()
    assert (found.prior <= 1.0001).all()


def test_an_entity_called_like_the_sign_is_not_meant(tmp_path):
    named = [{"id": "mask", "label": "Mask"}, {"id": "jim", "label": "Jim Carrey"}]
    graph = build(tmp_path / "masks", [("jim", "star", "mask")], named, None)
    found = ExpectingKnowledge(graph, DrawnVectors(graph)).find(["Jim Carrey is in The [MASK] ."])
    assert len(found) == 2
    assert found.entity.tolist() == graph.numbers_of(["jim", "mask"]).tolist()


def test_what_holds_of_too_many_is_expected_of_none(expecting, graph, monkeypatch):
    monkeypatch.setattr(module, "MANY", 0)
    monkeypatch.setattr(module, "RELATIONS", 0)
    fresh = ExpectingKnowledge(graph, expecting.vectors)
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
        ExpectingKnowledge(graph, DrawnVectors(graph)).find([text]), 0, len(name) + 6
    )
    assert (found != {}) == told


def test_only_so_much_is_looked_at(expecting, monkeypatch):
    text = " ".join(["Paris"] * 40 + ["[MASK]"] + ["Texas"] * 40)
    assert candidates(expecting.find([text]), 0, 240)
    monkeypatch.setattr(module, "LIKELY", 1)
    assert len(candidates(expecting.find(["Paris is in [MASK]"]), 0, 12)) == 1


@pytest.mark.slow
def test_it_is_made_again_with_its_sign(graph, host_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "cache"))
    knowledge = open_knowledge(graph.folder, hidden="[MASK]")
    encoder = GraftedEncoder(Encoder.load(host_folder, device="cpu"), {2: knowledge})
    encoder.save_pretrained(tmp_path / "graft")
    again = GraftedEncoder.from_pretrained(tmp_path / "graft").grafts.knowledge[2]
    assert isinstance(again, ExpectingKnowledge)
    assert again.identity() == knowledge.identity()
