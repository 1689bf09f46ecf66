"""Randomness without a memory: each step of a run has its own stream, so resuming needs none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

import numpy as np
import torch


class Purpose(IntEnum):
    """What a stream of random numbers is for; no two purposes of one seed share numbers."""

    ORDER = 0  # the order of examples in an epoch
    STEP = 1  # what is drawn in a step: dropout, masks, negatives
    VALID = 2  # what is drawn in a validation
    SPLIT = 3  # examples that are held out
    DATA = 4  # examples that are made


def stream(seed: int, *path: int) -> np.random.Generator:
    """Return the generator of a purpose, and of an epoch or a step, under a seed.

    >>> bool(stream(7, Purpose.STEP, 2).random() == stream(7, Purpose.STEP, 2).random())
    True
    >>> bool(stream(7, 2).random() == stream(7, 2, 0).random())
    False
    """
    return np.random.Generator(np.random.PCG64(_sequence(seed, path)))


def torch_stream(seed: int, *path: int, device: torch.device | str = "cpu") -> torch.Generator:
    """Return torch's generator of a purpose, and of an epoch or a step, under a seed."""
    drawn = _sequence(seed, path).generate_state(1, np.uint64)
    return torch.Generator(device).manual_seed(int(drawn[0]))


def shuffled_batches(count: int, size: int, seed: int, *path: int) -> list[np.ndarray]:
    """Return the indices below `count` in random order, in batches of `size` or fewer."""
    return np.array_split(stream(seed, *path).permutation(count), -(-count // size))


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Let torch draw from a seed while the block runs, and continue after it as if nothing was."""
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        yield


def _sequence(seed: int, path: tuple[int, ...]) -> np.random.SeedSequence:
    # Not SeedSequence([seed, *path]): it pads with zeros, so that (7,) and (7, 0) would be one.
    return np.random.SeedSequence(seed, spawn_key=tuple(map(int, path)))
