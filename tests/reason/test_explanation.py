"""What speaks for a fact and against it, each objection with the facts that it rests on."""

import pytest
from tests.reason.paths.tiny import tiny_reasoner
from tests.reason.tiny import FixedSource, atlas_triples, reason

from kgraft.measure import Plausibility
from kgraft.reason import Completer, PathSource
from kgraft.reason.explanation import objections

TRAIN = {triple[:3] for triple in atlas_triples() if triple[3] == "train"}


@pytest.fixture(scope="module")
def object_to(atlas):
    sense = Plausibility(atlas)

    def ask(head, relation, tail):
        ends = atlas.index(head), atlas.index(tail)
        which = atlas.relation(relation).index
        return objections(atlas, sense, ends[0], which, ends[1])

    return ask


def facts_of(reasons):
    return [triple for stated in reasons for path in stated.paths for triple in path.triples()]


@pytest.mark.parametrize(
    ("fact", "words", "facts"),
    [
        (("country1", "borders", "country1"), ["to itself"], []),
        (("country1", "borders", "country9"), [], []),
        (
            ("city1", "capital_of", "country2"),
            ["country 2 already", "city 1 already"],
            [("city2", "capital_of", "country2"), ("city1", "capital_of", "country1")],
        ),
        (("city30", "capital_of", "country33"), [], []),
        (("country3", "lies_in", "continent1"), [], []),  # of too few facts to be a rule
        (("country30", "borders", "city2"), ["city 2 is of another type"], []),
        (
            ("country0", "capital_of", "city0"),
            ["both ways", "city 0 is of another type", "country 0 is of another type"],
            [("city0", "capital_of", "country0")],
        ),
        (("city1", "capital_of", "country1"), [], []),
    ],
)
def test_objections_name_the_rule_and_its_facts(object_to, fact, words, facts):
    reasons = object_to(*fact)
    assert len(reasons) == len(words)
    for word in words:
        assert sum(word in stated.words for stated in reasons) == 1, word
    assert facts_of(reasons) == facts
    assert all(stated.against and stated.source == "graph" for stated in reasons)
    assert set(facts) <= TRAIN


@pytest.fixture(scope="module")
def completer(atlas):
    return Completer(atlas, [PathSource(atlas, tiny_reasoner()), FixedSource.right("right", atlas)])


def test_all_that_speaks_for_a_fact_and_against_it(atlas, completer):
    completer.sources[1].answers = [reason("right", 0.7)]
    explained = completer.explain("city1", "capital_of", "country2", limit=2)
    assert (explained.head.id, explained.tail.id) == ("city1", "country2")
    assert not explained.known
    assert explained.probability is None
    sources = [stated.source for stated in explained.reasons]
    assert sources == sorted(sources, key=["paths", "right", "graph"].index)
    assert sources.count("graph") == 2
    assert 1 <= sources.count("paths") <= 2
    assert set(facts_of(explained.reasons)) <= TRAIN
    for stated in explained.reasons:
        assert stated.against == (stated.source == "graph")
    assert explained.rank > 3  # behind the three countries whose capital is not known


def test_a_fact_of_the_graph_is_explained_by_others(completer):
    explained = completer.explain("country7", "borders", "country8")
    assert explained.known
    shown = facts_of(explained.reasons)
    assert shown
    assert ("country7", "borders", "country8") not in shown


def test_the_rank_leaves_out_other_known_answers(atlas, completer):
    scores = completer.score(
        completer.known.batch(
            [
                index
                for index, pair in enumerate(
                    zip(completer.known.entity, completer.known.relation, strict=True)
                )
                if pair == (atlas.index("country7"), atlas.relation("borders").index)
            ]
        )
    )[0]
    known = {atlas.index(name) for name in ("country6", "country8")}
    for name in ("country8", "country20"):
        tail = atlas.index(name)
        rivals = [v for v in range(len(atlas)) if v not in known | {tail}]
        expected = 1 + sum(scores[v] > scores[tail] for v in rivals)
        assert completer.explain("country7", "borders", name).rank == expected


def test_an_explanation_as_json(completer):
    explained = completer.explain("city1", "capital_of", "country2", limit=1)
    stored = explained.to_dict()
    assert (stored["head"], stored["relation"], stored["tail"]) == (
        "city1",
        "capital_of",
        "country2",
    )
    against = [stated for stated in stored["reasons"] if stated["against"]]
    assert ["city2", "capital_of", "country2"] in against[0]["facts"]
    assert stored["known"] is False
