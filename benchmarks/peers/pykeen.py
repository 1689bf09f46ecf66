"""PyKEEN as a peer: a model that starts from given vectors, trains by its own loop, ranks.

Vectors come and go in kgraft's layout: complex ones as real parts, then imaginary ones, and the
relations of RotatE as angles. None of kgraft's models are imported here, so that the peak of
`python -m benchmarks.peers.pykeen FOLDER` is PyKEEN's own; without a folder it is that of torch.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from kgraft.errors import import_optional

RANK_BATCHES = (8, 16, 32)  # triples ranked at a time; 32 is its own choice on a CPU
Vectors = tuple[Tensor, Tensor]
"""(N, D) entities, (R, D) relations; or (R, D/2) angles."""


@dataclass(frozen=True)
class Options:
    """What the peer and kgraft have in common."""

    dimension: int = 256  # real numbers; a complex number takes two
    negatives: int = 64  # for each triple
    margin: float = 9.0
    temperature: float = 1.0
    rate: float = 0.01  # of Adam
    batch: int = 1024  # triples
    seed: int = 0


def pykeen(module: str) -> Any:  # noqa: ANN401
    """Return a module of PyKEEN, kept quiet and away from the home folder, or say how to get it."""
    os.environ.setdefault("PYSTOW_HOME", tempfile.gettempdir())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import_optional("pykeen", "bench")
        loaded = import_module(f"pykeen.{module}")
    for name in ("pykeen", "torch_max_mem"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return loaded


def as_pairs(vectors: Tensor) -> Tensor:
    """Turn halves (N, D) into the pairs (N, D/2, 2) that PyKEEN keeps complex numbers as."""
    return torch.stack(vectors.chunk(2, dim=-1), dim=-1)


def as_halves(vectors: Tensor) -> Tensor:
    """Turn complex (N, D/2) into halves (N, D)."""
    return torch.cat([vectors.real, vectors.imag], dim=-1)


def unit_pairs(angles: Tensor) -> Tensor:
    """Turn angles (R, W) into pairs (R, W, 2) of modulus 1."""
    return torch.stack([angles.cos(), angles.sin()], dim=-1)


class Peer:
    """One of PyKEEN's models, TransE or RotatE with the L2 norm.

    It starts from the given vectors, else from its own.
    """

    def __init__(
        self,
        name: str,
        entities: int,
        relations: int,
        *,
        vectors: Vectors | None = None,
        options: Options | None = None,
    ) -> None:
        self.name, self.entities, self.relations = name, entities, relations
        self.options = options or Options()
        self.model = _model(name, self.options, self._factory(np.zeros((1, 3), np.int64)), vectors)
        self.model.reset_parameters_()

    def _factory(self, triples: np.ndarray) -> Any:  # noqa: ANN401
        return pykeen("triples").CoreTriplesFactory(
            torch.from_numpy(triples), num_entities=self.entities, num_relations=self.relations
        )

    def epochs(self, triples: np.ndarray, epochs: int) -> Iterator[float]:
        """Train by SLCWATrainingLoop with the basic sampler; yield the seconds of each epoch."""
        factory = self._factory(triples)
        loop = pykeen("training").SLCWATrainingLoop(
            model=self.model,
            triples_factory=factory,
            optimizer=torch.optim.Adam(self.model.get_grad_params(), lr=self.options.rate),
            negative_sampler="basic",
            negative_sampler_kwargs={"num_negs_per_pos": self.options.negatives},
            automatic_memory_optimization=False,
        )
        torch.manual_seed(self.options.seed)
        for epoch in range(epochs):
            began = time.perf_counter()
            loop.train(
                factory,
                num_epochs=epoch + 1,
                batch_size=self.options.batch,
                continue_training=epoch > 0,
                use_tqdm=False,
                pin_memory=False,
                checkpoint_directory=tempfile.gettempdir(),
            )
            yield time.perf_counter() - began

    def vectors(self) -> Vectors:
        """Return the vectors in kgraft's layout."""
        with torch.no_grad():
            entities, relations = (
                part[0]().clone()
                for part in (self.model.entity_representations, self.model.relation_representations)
            )
        if self.name == "transe":
            return entities, relations
        return as_halves(entities), relations.angle()

    def rank(
        self, triples: np.ndarray, true_triples: Tensor, *, batch: int
    ) -> tuple[float, np.ndarray]:
        """Rank triples (T, 3) by RankBasedEvaluator; return seconds and ranks (2T,).

        Those of the tails come first. `true_triples` is what `filter_triples` gave: making it takes
        a second or two, whatever the number of triples, and is not counted.
        """
        evaluator = pykeen("evaluation").RankBasedEvaluator(
            metrics=["mrr"], add_defaults=False, clear_on_finalize=False
        )
        began = time.perf_counter()
        evaluator._evaluate_on_device(
            model=self.model,
            mapped_triples=torch.from_numpy(triples),
            batch_size=batch,
            slice_size=None,
            device=self.model.device,
            all_pos_triples=true_triples,
            targets=("head", "tail"),
            tqdm_kwargs={"disable": True},
            restrict_entities_to=None,
        )
        seconds = time.perf_counter() - began
        ranks = [np.concatenate(evaluator.ranks[side, "realistic"]) for side in ("tail", "head")]
        return seconds, np.concatenate(ranks)


def filter_triples(triples: np.ndarray) -> Tensor:
    """Return all known triples as PyKEEN's evaluator filters by them."""
    all_triples: Tensor = pykeen("evaluation.evaluator").prepare_filter_triples(
        torch.from_numpy(triples), additional_filter_triples=[]
    )
    return all_triples


def _model(name: str, options: Options, factory: Any, vectors: Vectors | None) -> Any:  # noqa: ANN401
    models, losses = pykeen("models"), pykeen("losses")
    given = {
        "loss": losses.NSSALoss(margin=options.margin, adversarial_temperature=options.temperature),
        "triples_factory": factory,
        "random_seed": options.seed,
    }
    given |= {} if vectors is None else _start(name, vectors)
    if name == "transe":  # kgraft does not keep entities at length 1
        return models.TransE(
            **given, embedding_dim=options.dimension, scoring_fct_norm=2, entity_constrainer=None
        )
    return models.RotatE(**given, embedding_dim=options.dimension // 2)


def _start(name: str, vectors: Vectors) -> dict[str, Callable[[Tensor], Tensor]]:
    """Return what sets a model to the vectors, time and again: a tensor given out is trained."""
    entities, relations = (part.detach().clone() for part in vectors)
    if name == "rotate":
        entities, relations = as_pairs(entities), unit_pairs(relations)
    return {
        "entity_initializer": lambda _: entities.clone(),
        "relation_initializer": lambda _: relations.clone(),
    }


def peak_megabytes() -> float:
    """Return the peak of this process's resident memory; that of rusage may be its parent's."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    peak = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    if not peak:
        raise ValueError("this system does not tell the peak of resident memory (VmHWM)")
    return int(peak[1]) * 1024 / 1e6


def train_and_rank(folder: Path) -> None:
    """Train TransE on some triples and rank others: those that `embed.speed` wrote to a folder."""
    train, test, true_triples = (
        np.load(folder / f"{part}.npy") for part in ("train", "test", "known")
    )
    peer = Peer("transe", int(true_triples[:, ::2].max()) + 1, int(true_triples[:, 1].max()) + 1)
    for _ in peer.epochs(train, 1):
        peer.rank(test, filter_triples(true_triples), batch=RANK_BATCHES[0])


if __name__ == "__main__":
    if len(sys.argv) == 2:
        train_and_rank(Path(sys.argv[1]))
    print(peak_megabytes())
