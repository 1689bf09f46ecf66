"""Reuses what an earlier run trained or counted, as long as it was made in the same way."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from benchmarks.harness import WORK
from kgraft.graft import GraftSettings
from kgraft.graft.graft_folder import GraftFolder
from kgraft.training import read_manifest


def graft_is_current(folder: Path, settings: GraftSettings, identity: Mapping[str, object]) -> bool:
    """Tell whether a graft is there; one of other settings or texts is removed."""
    wanted = {**settings.to_dict(), **identity}
    return is_current(folder, lambda: graft_facts(folder), wanted)


def graft_facts(folder: Path) -> Mapping[str, object]:
    """Return how a graft was trained: its settings, and what its texts were."""
    return read_manifest(folder, GraftFolder).facts


def is_current(
    folder: Path, read_facts: Callable[[], Mapping[str, object]], wanted: Mapping[str, object]
) -> bool:
    """Tell whether a model with the wanted facts is there; another one is removed."""
    if not folder.exists():
        return False
    stored, wanted = read_facts(), json.loads(json.dumps(wanted))
    if all(stored.get(name) == value for name, value in wanted.items()):
        return True
    print(f"{folder.name} was trained with other settings or texts: training it again", flush=True)
    shutil.rmtree(folder)
    return False


def cached_counts(name: str, made_by: object, work: Callable[[], np.ndarray]) -> np.ndarray:
    """Return the counts of a measurement; one made in the same way is read, not repeated.

    `made_by` describes how: all settings and data by their names.
    """
    digest = hashlib.sha256(repr(made_by).encode()).hexdigest()[:12]
    path = WORK / "counts" / f"{name}.{digest}.npy"
    if not path.exists():
        measured = work()
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f"{path.name}.partial-{os.getpid()}.npy")
        np.save(partial, measured)
        partial.replace(path)
    counts: np.ndarray = np.load(path)
    return counts
