"""Sources together: weighed, held to sense, with reasons; saved, opened, and used by threads."""

import numpy as np
import pytest
from tests.embed.tiny import build
from tests.reason.paths.tiny import tiny_reasoner
from tests.reason.tiny import FixedSource, atlas_triples, reason
from tests.threads import results_of_threads

from kgraft.errors import BadInput, NotFound
from kgraft.graph import Graph
from kgraft.measure import QueryBatch, rank
from kgraft.reason import (
    Completer,
    CompleterConfig,
    PathSource,
    ScoreSource,
    SourceWeights,
    open_completer,
)
from kgraft.reason.completer import IMPLAUSIBLE
from kgraft.reason.weights import features


@pytest.fixture
def sources(atlas):
    return [FixedSource.random("noise", atlas, 1), FixedSource.right("right", atlas)]


@pytest.fixture(scope="module")
def paths(atlas):
    return Completer(atlas, [PathSource(atlas, tiny_reasoner())])


def batch_of(graph, count=40):
    random = np.random.default_rng(0)
    sizes = (len(graph), 2 * graph.manifest.relations)
    return QueryBatch(*(random.integers(size, size=count) for size in sizes))


def test_scores_are_weighed(atlas, sources):
    random = np.random.default_rng(0)
    fitted = SourceWeights(("noise", "right"), random.random(4), {1: random.random(4)})
    batch = batch_of(atlas)
    config = CompleterConfig(plausible_only=False)
    scores = Completer(atlas, sources, weights=fitted, config=config).score(batch)
    rows = fitted.of(batch.relation)
    expected = np.zeros_like(scores)
    for index, source in enumerate(sources):
        log_p, log_rank = features(source.score(batch))
        expected += rows[:, [2 * index]] * log_p + rows[:, [2 * index + 1]] * log_rank
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-4)
    assert scores.dtype == np.float32


def test_a_source_without_weight_is_not_asked(atlas, sources):
    fitted = SourceWeights(("noise", "right"), np.array([0.0, 0, 1, 0]), {})
    Completer(atlas, sources, weights=fitted).score(batch_of(atlas))
    assert [source.asked for source in sources] == [0, 1]


def test_implausible_answers_come_last(atlas, sources):
    batch = batch_of(atlas)
    completer = Completer(atlas, sources)
    broken = np.zeros((len(batch), len(atlas)), bool)
    broken[completer.plausibility.implausible(batch)] = True
    scores = completer.score(batch)
    assert broken.any()
    assert (scores[broken] < IMPLAUSIBLE / 2).all()
    assert (scores[~broken] > IMPLAUSIBLE / 2).all()


def answers(predictions):
    return [prediction.entity.id for prediction in predictions]


def test_answers_that_break_a_rule_do_not_come_up(atlas, sources):
    every = len(atlas)
    tails = Completer(atlas, sources).tails("country1", "borders", limit=every, reasons=0)
    assert set(answers(tails)) == {f"country{n}" for n in range(36)} - {"country1"}
    config = CompleterConfig(plausible_only=False)
    unbound = Completer(atlas, sources, config=config)
    assert len(unbound.tails("country1", "borders", limit=every, reasons=0)) == every


def test_a_query_that_has_its_answer_gets_no_new_one(atlas, sources):
    completer = Completer(atlas, sources)
    assert completer.tails("city3", "capital_of", new=True) == []
    assert answers(completer.tails("city3", "capital_of")) == ["country3"]
    assert completer.heads("capital_of", "country3", new=True) == []
    open_ends = answers(completer.heads("capital_of", "country33", new=True))
    assert set(open_ends) <= {"city30", "city35"}  # the only ones whose country is not known


def test_known_answers_say_so(atlas, sources):
    completer = Completer(atlas, sources)
    tails = completer.tails("country5", "borders", limit=10)
    assert {p.entity.id for p in tails if p.known} == {"country4", "country6"}
    assert len(tails) == 10
    assert [p.score for p in tails] == sorted((p.score for p in tails), reverse=True)
    new = completer.tails("country5", "borders", limit=10, new=True)
    assert not any(p.known for p in new)
    assert answers(new)[:8] == [p.entity.id for p in tails if not p.known]
    heads = completer.heads(atlas.relation("lies_in"), "continent1", limit=40)
    known = {f"country{n}" for n in range(1, 36, 3)}
    assert {p.entity.id for p in heads if p.known} == known


def test_what_a_prediction_says_of_itself(atlas, sources):
    (prediction,) = Completer(atlas, sources).tails("city3", "capital_of")
    assert prediction.to_dict() == {
        "id": "country3",
        "label": "country 3",
        "score": prediction.score,
        "probability": None,
        "known": True,
        "reasons": [],
    }


@pytest.mark.parametrize(
    ("head", "relation", "offender"),
    [("nobody", "borders", "nobody"), ("country1", "swims", "swims")],
)
def test_what_is_not_in_the_graph_is_refused(atlas, sources, head, relation, offender):
    with pytest.raises(NotFound, match=offender):
        Completer(atlas, sources).tails(head, relation)


def test_there_is_a_source_for_each_weight(atlas, sources):
    with pytest.raises(BadInput, match="noise"):
        Completer(atlas, sources, weights=SourceWeights.even(["right"]))
    with pytest.raises(BadInput, match="nothing"):
        Completer(atlas, [])


def test_weights_and_probabilities_are_learnt(atlas, sources):
    completer = Completer(atlas, sources)
    assert completer.tails("country5", "borders")[0].probability is None
    before = completer.rank("test").figures()["mrr"]
    completer.fit()
    noise, right = completer.weights.common[:2].sum(), completer.weights.common[2:].sum()
    assert noise < 0.1 * right
    assert completer.rank("test").figures()["mrr"] >= before > 0.5
    assert completer.calibration["error"] < 0.1
    tails = completer.tails("country30", "borders", limit=5)
    assert all(0 <= p.probability <= 1 for p in tails)
    again = Completer(atlas, sources)
    again.fit()
    assert again.weights.to_dict() == completer.weights.to_dict()


def test_ranking_is_filtered_and_over_all_entities(atlas, sources):
    completer = Completer(atlas, sources)
    test = completer._queries("test")
    expected = rank(completer.score, test, completer.known, entities=len(atlas))
    np.testing.assert_array_equal(completer.rank("test").rank, expected.rank)


@pytest.mark.parametrize("split", ["valid", "test"])
def test_a_split_that_is_not_there_is_refused(tmp_path, split):
    graph = build(tmp_path / "graph", [("a", "r", "b"), ("b", "r", "c")])
    completer = Completer(graph, [FixedSource.random("noise", graph)])
    with pytest.raises(BadInput, match=split):
        completer.rank(split)
    with pytest.raises(BadInput, match="valid"):
        completer.fit()


def test_reasons_that_rest_on_facts_come_first(atlas):
    path = atlas.paths("country1", "country2", longest=1)[0]
    one = FixedSource.random("one", atlas)
    two = FixedSource.random("two", atlas)
    one.answers = [reason("one", 0.9), reason("one", 0.2, [path])]
    two.answers = [reason("two", 0.5, [path]), reason("two", 0.95)]
    completer = Completer(atlas, [one, two])
    words = [r.words for r in completer.reasons(0, 0, 1, limit=4)]
    assert words == ["two 0.5", "one 0.2", "two 0.95", "one 0.9"]
    assert [r.words for r in completer.reasons(0, 0, 1, limit=1)] == ["two 0.5"]
    assert completer.tails("country1", "borders", reasons=0)[0].reasons == ()


def test_a_score_gives_its_rank_as_a_reason(atlas):
    fixed = FixedSource.random("fixed", atlas)
    source = ScoreSource("vectors", fixed.score)
    order = np.argsort(-fixed.scores[3, 1])
    (stated,) = source.reasons(3, 1, int(order[4]), limit=2)
    assert (stated.source, stated.score, stated.paths) == ("vectors", 1 / 5, ())
    assert f"rank 5 of {len(atlas)}" in stated.words
    assert source.reasons(3, 1, 0, limit=0) == []


@pytest.fixture(scope="module")
def reasoner_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reasoner") / "r"
    calibration = {"weights": [1.0, -0.5], "bias": 0.0}
    tiny_reasoner().save_pretrained(folder, facts={"calibration": calibration})
    return folder


def test_a_completer_is_saved_and_opened(atlas, tmp_path, reasoner_folder):
    config = CompleterConfig(reasoner=str(reasoner_folder), plausible_only=False)
    right = FixedSource.right("right", atlas)
    made = open_completer(atlas, config, vectors=right.score)
    assert [source.name for source in made.sources] == ["paths", "vectors"]
    assert made.calibration["weights"] == [1.0, -0.5]
    made.fit()
    made.write(tmp_path / "c")
    again = open_completer(atlas, config, weights=tmp_path / "c", vectors=right.score)
    assert again.config == config
    assert again.weights.to_dict() == made.weights.to_dict()
    assert again.calibration == made.calibration
    batch = batch_of(atlas)
    np.testing.assert_array_equal(again.score(batch), made.score(batch))
    with pytest.raises(BadInput, match="vectors"):
        open_completer(atlas, config, weights=tmp_path / "c")
    with pytest.raises(BadInput, match="c exists already"):
        made.write(tmp_path / "c")
    made.write(tmp_path / "c", overwrite=True)
    assert {path.name for path in tmp_path.iterdir()} == {"c"}


def test_weights_of_another_graph_are_refused(atlas, tmp_path, reasoner_folder):
    config = CompleterConfig(reasoner=str(reasoner_folder))
    open_completer(atlas, config).write(tmp_path / "c")
    with pytest.raises(BadInput, match="not on world"):
        open_completer(Graph.open("world"), config, weights=tmp_path / "c")


def test_a_folder_that_is_damaged_is_refused(atlas, tmp_path, reasoner_folder):
    config = CompleterConfig(reasoner=str(reasoner_folder))
    with pytest.raises(NotFound, match="nowhere"):
        open_completer(atlas, config, weights=tmp_path / "nowhere")
    open_completer(atlas, config).write(tmp_path / "c")
    (tmp_path / "c" / "weights.json").write_text("{")
    with pytest.raises(BadInput, match=r"weights\.json"):
        open_completer(atlas, config, weights=tmp_path / "c")


def test_a_reasoner_completes_with_facts_as_reasons(paths):
    train = {triple[:3] for triple in atlas_triples() if triple[3] == "train"}
    tails = paths.tails("country5", "borders", limit=3, reasons=2)
    assert len(tails) == 3
    for prediction in tails:
        shown = {t for r in prediction.reasons for path in r.paths for t in path.triples()}
        assert shown
        assert shown <= train - {("country5", "borders", prediction.entity.id)}


def test_threads_get_what_one_gets(atlas, paths):
    queries = [("country5", "borders"), ("country7", "lies_in"), ("city9", "capital_of")]

    def ask(completer):
        return [
            [p.to_dict() for p in completer.tails(*query, limit=3, reasons=1)] for query in queries
        ]

    expected = ask(paths)
    fresh = Completer(atlas, [PathSource(atlas, tiny_reasoner())])
    for stated in results_of_threads(lambda _: ask(fresh)):
        assert stated == expected
