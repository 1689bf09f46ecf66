"""What a graph lacks is predicted by the formula, and never from the fact itself."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.graft.tiny import build, few

from kgraft.graft import similar_entities as module
from kgraft.graft.similar_entities import SimilarEntityFacts
from kgraft.graph.names import fold_name
from kgraft.vectors.entity_text import entity_texts


def facts_of(graph):
    columns = (getattr(graph.triples, n).tolist() for n in ("head", "relation", "tail"))
    return list(zip(*columns, strict=True))


def words_of(graph):
    """Return the words of each entity's name and description, signs too."""
    texts = entity_texts(graph, np.arange(len(graph.entities)), ("label", "description"))
    return [set(fold_name(text).split()) for text in texts.to_pylist()]


def slow_vectors(graph):
    """Return x of an entity, by the entities around it and its words."""
    words, count = words_of(graph), len(graph.entities)
    both = [(a, b) for h, _, t in facts_of(graph) for a, b in ((h, t), (t, h))]
    often = {entity: sum(near == entity for near, _ in both) for entity, _ in both}

    def vector(entity, without=-1):
        found = {}
        for near, far in both:
            if near == entity and far != without:
                found[far] = found.get(far, 0.0) + math.log(1 + count / often[far])
        for word in words[entity]:
            found[word] = math.log(1 + count / sum(word in others for others in words))
        length = math.sqrt(sum(x * x for x in found.values())) or 1.0
        return {far: x / length for far, x in found.items()}

    return vector


def naive(graph, entity, relation, without=-1):
    """Return what p(r, o | s) is a share of, by the formula."""
    vector, total = slow_vectors(graph), {}
    mine = vector(entity, without)
    for other, by, far in facts_of(graph):
        if by == relation and other != entity:
            theirs = vector(other)
            cosine = sum(x * theirs.get(part, 0.0) for part, x in mine.items())
            total[far] = total.get(far, 0.0) + 1e-6 + cosine**3
    return {far: x for far, x in total.items() if x > 0}


def predicted_of(similar, entity, relation, exclude=-1):
    entity, relation, exclude = (np.array([n]) for n in (entity, relation, exclude))
    row, far, share = similar.predict(entity, relation, exclude=exclude)
    assert not row.any()
    return dict(zip(far.tolist(), share.tolist(), strict=True))


@given(data=st.data())
@few
def test_what_is_expected_follows_the_formula(graph, data):
    similar, facts = SimilarEntityFacts(graph), facts_of(graph)
    entity = data.draw(st.integers(0, len(graph.entities) - 1))
    relation = data.draw(st.integers(0, len(graph.relations) - 1))
    ends = [t for h, _, t in facts if h == entity]
    without = data.draw(st.sampled_from([-1, *ends]))
    expected = naive(graph, entity, relation, without)
    assert predicted_of(similar, entity, relation, without) == pytest.approx(expected)


def test_several_at_once_are_as_one_by_one(graph, monkeypatch):
    monkeypatch.setattr(module, "AT_ONCE", 2)
    entity, relation = (part.ravel() for part in np.indices((len(graph.entities), 2)))
    nobody = np.full(len(entity), -1)
    row, far, share = SimilarEntityFacts(graph).predict(entity, relation, exclude=nobody)
    for number in range(len(entity)):
        held = dict(zip(far[row == number].tolist(), share[row == number].tolist(), strict=True))
        assert held == pytest.approx(
            predicted_of(SimilarEntityFacts(graph), entity[number], relation[number])
        )


def test_the_fact_itself_tells_nothing(tmp_path):
    """Of two towns in the same land and with the same river, one's land is told by the other."""
    facts = [("a", "in", "land"), ("a", "on", "river"), ("b", "in", "land"), ("b", "on", "river"),
             ("c", "in", "sea"), ("c", "on", "coast")]  # fmt: skip
    names = ("a", "b", "c", "land", "sea", "river", "coast")
    named = [{"id": name, "label": name} for name in names]
    graph = build(tmp_path / "towns", facts, named, None)
    alone = build(tmp_path / "alone", facts[:2] + facts[4:], named, None)
    a, land, sea = graph.indices_of(["a", "land", "sea"])
    by = graph.relations["id"].to_pylist().index("in")
    found = predicted_of(SimilarEntityFacts(graph), a, by, land)
    assert found[land] > 9 * found.get(sea, 0.0)
    by = alone.relations["id"].to_pylist().index("in")
    assert land not in predicted_of(SimilarEntityFacts(alone), a, by, land)


def test_where_nothing_is_alike_the_usual_is_expected(tmp_path):
    facts = [("a", "in", "land"), ("b", "in", "land"), ("c", "in", "sea")]
    named = [{"id": name, "label": name} for name in ("a", "b", "c", "lone", "land", "sea")]
    graph = build(tmp_path / "usual", facts, named, None)
    lone, land, sea = graph.indices_of(["lone", "land", "sea"])
    assert predicted_of(SimilarEntityFacts(graph), lone, 0) == pytest.approx(
        {land: 2e-6, sea: 1e-6}
    )


def test_only_the_likeliest(graph, monkeypatch):
    every = np.arange(len(graph.entities))
    asked = (every, np.zeros(len(every), np.int64))
    nobody = np.full(len(every), -1)
    whole = SimilarEntityFacts(graph).predict(*asked, exclude=nobody)
    monkeypatch.setattr(module, "MOST_ENDS", 1)
    row, far, share = SimilarEntityFacts(graph).predict(*asked, exclude=nobody)
    assert len(np.unique(row)) == len(row)
    firsts = np.searchsorted(whole[0], row)
    assert far.tolist() == whole[1][firsts].tolist()
    assert share.tolist() == pytest.approx(whole[2][firsts].tolist())
