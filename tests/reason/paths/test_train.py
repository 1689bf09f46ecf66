"""Fine-tuning on one graph: what is held out, what is refused, and kills that change nothing."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tests.embed.tiny import build, desk_triples
from tests.reason.paths.killed import CALLS, SETTINGS
from tests.reason.paths.tiny import tiny_reasoner
from tests.training.tiny import log_lines

from kgraft.errors import BadInput
from kgraft.reason import Reasoner, train_reasoner
from kgraft.reason.paths import train as train_module
from kgraft.reason.paths.reasoner import WEIGHTS
from kgraft.training import read_manifest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def desks(tmp_path_factory):
    return build(tmp_path_factory.mktemp("desks") / "graph", desk_triples())


def train(graph, out, settings=SETTINGS, *, start=0, **options):
    return train_reasoner(graph, settings, out, reasoner=tiny_reasoner(start), **options)


def same(one, other):
    """Tell whether two folders hold the same weights, to the bit."""
    ours, theirs = (load_file(folder / WEIGHTS) for folder in (one, other))
    return all(torch.equal(tensor, theirs[name]) for name, tensor in ours.items())


@pytest.mark.slow
def test_a_reasoner_gets_better_on_its_graph(desks, tmp_path):
    settings = SETTINGS.replace(epochs=2, steps=12, batch=4, learning_rate=1e-2)
    epochs = list(train(desks, tmp_path / "out", settings))
    assert epochs[-1].losses["loss"] < 0.9 * epochs[0].losses["loss"]
    facts = read_manifest(tmp_path / "out", Reasoner).facts
    assert facts["graph"] == desks.manifest.name
    assert facts["version"] == desks.manifest.version
    assert facts["valid"]["mrr"] == pytest.approx(max(e.figures["mrr"] for e in epochs))
    assert Reasoner.load(tmp_path / "out").calibration == facts["calibration"]
    assert {path.name for path in tmp_path.iterdir()} == {"out"}


@pytest.mark.slow
def test_kills_at_any_moment_change_nothing(desks, tmp_path):
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.reason.paths.killed", str(desks.folder), str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    runs = [path for path in tmp_path.iterdir() if path.suffix not in (".training", ".lock")]
    assert len(runs) == 1 + sum(len(calls) for _, _, calls in CALLS)
    expected = tmp_path / "undisturbed"
    for folder in runs:
        assert same(folder, expected), folder.name
        assert log_lines(folder) == log_lines(expected), folder.name
        manifests = [read_manifest(path, Reasoner) for path in (folder, expected)]
        assert manifests[0].facts == manifests[1].facts
    assert not list(tmp_path.glob("*partial*"))


def test_a_run_that_was_stopped_ends_with_the_same_bits(desks, tmp_path):
    list(train(desks, tmp_path / "once"))
    run = train(desks, tmp_path / "twice")
    assert next(run).number == 1
    run.close()
    assert [epoch.number for epoch in train(desks, tmp_path / "twice")] == [2]
    assert same(tmp_path / "once", tmp_path / "twice")


def test_a_run_does_not_resume_from_another_reasoner(desks, tmp_path):
    run = train(desks, tmp_path / "out")
    next(run)
    run.close()
    with pytest.raises(BadInput, match="init_from"):
        next(train(desks, tmp_path / "out", start=1))


def test_without_a_valid_split_some_facts_are_held_out(tmp_path):
    graph = build(tmp_path / "graph", [triple[:3] for triple in desk_triples()])
    count = len(graph.triples)
    for seed in (0, 1):
        learnt, judged = train_module._splits(graph, seed)
        assert len(judged) == count // train_module.HELD_OUT
        rows = [
            set(zip(t.head.tolist(), t.relation.tolist(), t.tail.tolist(), strict=True))
            for t in (learnt, judged, graph.triples)
        ]
        assert rows[0] | rows[1] == rows[2]
        assert not rows[0] & rows[1]
    (first, again), (other, _) = train_module._splits(graph, 1), train_module._splits(graph, 0)
    np.testing.assert_array_equal(first.head, learnt.head)
    np.testing.assert_array_equal(again.head, judged.head)
    assert (first.head != other.head).any()
    epochs = list(train(graph, tmp_path / "out"))
    assert all("mrr" in epoch.figures for epoch in epochs)


def test_the_valid_split_judges(desks):
    learnt, judged = train_module._splits(desks, 0)
    np.testing.assert_array_equal(learnt.head, desks.split("train").triples.head)
    np.testing.assert_array_equal(judged.head, desks.split("valid").triples.head)


def test_a_graph_of_few_facts_is_refused(tmp_path):
    triples = [("a", "r", f"b{n}") for n in range(train_module.FEWEST - 1)]
    graph = build(tmp_path / "graph", triples)
    with pytest.raises(BadInput, match=str(len(triples))):
        next(train(graph, tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_a_reasoner_that_is_there_stays(desks, tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(BadInput, match="out"):
        next(train(desks, tmp_path / "out"))
