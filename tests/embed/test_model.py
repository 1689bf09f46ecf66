"""A model that scores in a way of its own, with a parameter that all triples share."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from tests.embed.tiny import quick

from kgraft.embed.data import training_data
from kgraft.embed.gradients import gradients
from kgraft.embed.model import Model
from kgraft.embed.models import MODELS
from kgraft.embed.predictor import LinkPredictor
from kgraft.embed.settings import LOSSES
from kgraft.embed.tables import EmbeddingTables
from kgraft.embed.task import EmbedTask
from kgraft.embed.train import train_embedding
from kgraft.errors import BadInput
from kgraft.training import Processes
from kgraft.vectors import read_vectors


@dataclass(frozen=True, kw_only=True)
class Core(Model):
    """Σ (h ∘ r)ᵢ Mᵢⱼ tⱼ + b·t: DistMult with a matrix and a bias that all relations share."""

    def query(self, entities, relations, parameters):
        """Return h ∘ r."""
        return entities * relations

    def score(self, queries, candidates, similarity, parameters):
        """Return the product with M t, and the bias of t."""
        bias = (candidates @ parameters["bias"])[..., None, :]
        return queries @ parameters["matrix"] @ candidates.mT + bias

    def parameter_shapes(self, dimension):
        """Return the shapes of M and b."""
        return {"matrix": (dimension, dimension), "bias": (dimension,)}

    def draw_parameters(self, dimension, scale, generator):
        """Draw M near the unit matrix, and b as zeros."""
        drawn = super().draw_parameters(dimension, scale, generator)
        return {"matrix": drawn["matrix"] + torch.eye(dimension), "bias": drawn["bias"] * 0}


CORE = Core(
    name="core", paper="a test", formula="h r M t", invert=lambda r: r, similarities=("dot",)
)
SHORT = {"epochs": 2, "validate_every": 1, "dimension": 8}


@pytest.fixture(autouse=True)
def core(monkeypatch):
    """Register the model for one test."""
    monkeypatch.setitem(MODELS._registered, "core", CORE)


def settings(**changes):
    return quick("core", similarity="dot", margin=1.0, **changes)


def train(graph, out, **changes):
    return list(train_embedding(graph, settings(**changes), out))


@pytest.mark.parametrize("loss", LOSSES)
def test_it_learns_all_it_has(desks, tmp_path, loss):
    epochs = train(desks, tmp_path / "v", loss=loss)
    assert epochs[-1].losses["loss"] < 0.8 * epochs[0].losses["loss"]
    predictor = LinkPredictor.from_pretrained(tmp_path / "v", desks)
    assert predictor.rank("test").figures()["mrr"] > 0.6
    first = EmbeddingTables.draw(predictor.settings, 44, 6).parameters
    for name, tensor in predictor.stored.parameters.items():
        assert not torch.allclose(tensor, first[name], atol=1e-3)


@pytest.mark.parametrize("loss", ["softmax", "margin"])
def test_gradients_of_parameters_are_those_of_the_scores(desks, loss):
    task = EmbedTask(desks, training_data(desks, seed=0), settings(loss=loss, dimension=4))
    batch = task.batches(0)[0]
    softmax = loss == "softmax"
    queries = (
        task._all_answers_batch(batch)
        if softmax
        else task._negatives_batch(batch, np.random.default_rng(0))
    )
    slopes = gradients(task.tables, queries, torch.Generator()).parameters
    for name, step in (("matrix", (1, 2)), ("bias", (3,))):
        parameter, losses = task.tables.parameters[name], []
        for change in (1e-2, -2e-2):
            parameter[step] += change
            losses.append(float(gradients(task.tables, queries, torch.Generator()).losses.sum()))
        parameter[step] += 1e-2
        expected = (losses[0] - losses[1]) / 2e-2
        assert float(slopes[name][step]) == pytest.approx(expected, rel=0.05, abs=1e-3)


def test_a_process_without_a_share_has_zeros(desks):
    data = training_data(desks, seed=0)
    idle = EmbedTask(desks, data, settings(), processes=Processes(1, 2))
    batch = idle._all_answers_batch(idle.batches(0)[0][:1])
    slopes = gradients(idle.tables, batch, torch.Generator()).parameters
    assert {name: tuple(slope.shape) for name, slope in slopes.items()} == {
        "matrix": (16, 16),
        "bias": (16,),
    }
    assert not any(slope.any() for slope in slopes.values())


def test_its_parameters_are_stored_and_resumed(desks, tmp_path):
    train(desks, tmp_path / "once", optimiser="adam", learning_rate=0.03, **SHORT)
    choices = settings(optimiser="adam", learning_rate=0.03, **SHORT)
    first = train_embedding(desks, choices, tmp_path / "twice")
    next(first)
    first.close()
    assert [epoch.number for epoch in train_embedding(desks, choices, tmp_path / "twice")] == [2]
    once, twice = (read_vectors(tmp_path / name) for name in ("once", "twice"))
    assert once.parameters.keys() == twice.parameters.keys() == {"matrix", "bias"}
    for name, tensor in once.parameters.items():
        assert torch.equal(tensor, twice.parameters[name])


def test_a_folder_without_the_parameters_is_refused(desks, tmp_path):
    train(desks, tmp_path / "v", **SHORT)
    stored = read_vectors(tmp_path / "v")
    assert LinkPredictor(desks, stored).trained.parameters == stored.parameters
    del stored.parameters["bias"]
    with pytest.raises(BadInput, match=r"'matrix': \(8, 8\)"):
        LinkPredictor(desks, stored)


def test_without_a_guess_a_new_entity_is_like_its_neighbours(desks, tmp_path):
    train(desks, tmp_path / "v", **SHORT)
    later = desks.extend(
        tmp_path / "later", triples=[("new", "sits at", "desk3")], entities=[{"id": "new"}]
    )
    predictor = LinkPredictor.from_pretrained(tmp_path / "v", later)
    vectors = predictor.vectors.take([later.entity(name).index for name in ("new", "desk3")])
    assert float(torch.cosine_similarity(*vectors, dim=0)) == pytest.approx(1)
    assert len(predictor.tails("new", "works at", limit=3)) == 3
