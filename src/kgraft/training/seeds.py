"""Randomness without a memory: each place of a run has its own stream, so resuming needs none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


def stream(seed: int, *place: int) -> np.random.Generator:
    """Return the generator that belongs to a place, such as an epoch or a step, under a seed.

    >>> bool(stream(7, 2).random() == stream(7, 2).random())
    True
    >>> bool(stream(7, 2).random() == stream(7, 2, 0).random())
    False
    """
    return np.random.Generator(np.random.PCG64(_sequence(seed, place)))


def torch_stream(seed: int, *place: int, device: torch.device | str = "cpu") -> torch.Generator:
    """Return torch's generator that belongs to a place under a seed."""
    drawn = _sequence(seed, place).generate_state(1, np.uint64)
    return torch.Generator(device).manual_seed(int(drawn[0]))


def shuffled(count: int, size: int, seed: int, *place: int) -> list[np.ndarray]:
    """Return the numbers below `count` in an order of their own, in batches of `size` or fewer."""
    return np.array_split(stream(seed, *place).permutation(count), -(-count // size))


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Let torch draw from a seed while the block runs, and go on after it as if nothing was."""
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        yield


def _sequence(seed: int, place: tuple[int, ...]) -> np.random.SeedSequence:
    # Not SeedSequence([seed, *place]): it pads with zeros, so that (7,) and (7, 0) would be one.
    return np.random.SeedSequence(seed, spawn_key=place)
