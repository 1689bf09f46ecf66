"""Two processes under `accelerate launch` learn what one learns."""

import numpy as np
import pytest
import torch
from tests.embed.tiny import build, desk_triples
from tests.embed.together import KINDS, run
from tests.training.test_processes import launch

from kgraft.embed.data import training_data
from kgraft.embed.predictor import LinkPredictor
from kgraft.embed.task import EmbedTask
from kgraft.graph import Graph
from kgraft.training import Processes


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Folders of what one process and of what two have learnt."""
    pytest.importorskip("accelerate")
    alone, together = (tmp_path_factory.mktemp(name) for name in ("alone", "together"))
    for folder in (alone, together):
        build(folder / "graph", desk_triples())
    run(alone)
    launch("tests.embed.together", together)
    return alone, together


def opened(folders, kind):
    return [
        LinkPredictor.from_pretrained(folder / kind, Graph.open(folder / "graph"))
        for folder in folders
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_quality_is_the_same(folders, kind):
    one, two = (
        [predictor.rank(split).figures()["mrr"] for split in ("valid", "test")]
        for predictor in opened(folders, kind)
    )
    assert min(one) > 0.7
    np.testing.assert_allclose(two, one, atol=0.12)


@pytest.mark.slow
def test_softmax_gives_nearly_the_same_vectors(folders):
    one, two = opened(folders, "softmax")
    torch.testing.assert_close(two.stored.entities, one.stored.entities, rtol=1e-2, atol=1e-3)
    torch.testing.assert_close(two.stored.relations, one.stored.relations, rtol=1e-2, atol=1e-3)


@pytest.mark.slow
def test_negatives_of_the_processes_differ(folders):
    one, two = opened(folders, "sampled")
    assert not torch.allclose(two.stored.entities, one.stored.entities, atol=1e-3)


@pytest.mark.slow
def test_nothing_but_the_vectors_is_left(folders):
    for folder in folders:
        assert {path.name for path in folder.iterdir()} == {"graph", *KINDS}


@pytest.mark.slow
def test_a_process_is_sometimes_without_a_share(folders):
    """What the kinds are made for does happen."""
    graph = Graph.open(folders[0] / "graph")
    for settings in KINDS.values():
        data = training_data(graph, seed=0)
        second = EmbedTask(graph, data, settings, processes=Processes(1, 2))
        last = second.batches(0)[-1]
        draw = np.random.default_rng(0)
        batch = (
            second._all_answers_batch(last)
            if settings.loss == "softmax"
            else second._negatives_batch(last, draw)
        )
        assert len(batch.answer) == 0
