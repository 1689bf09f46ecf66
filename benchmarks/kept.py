"""Trained grafts are kept between runs, as long as they were trained in the same way."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from kgraft.graft import GraftSettings
from kgraft.graft.saving import read_config


def kept(folder: Path, settings: GraftSettings, identity: Mapping[str, object]) -> bool:
    """Tell whether a graft is there; one of other settings or texts is removed."""
    if not folder.exists():
        return False
    facts = read_config(folder).facts
    wanted = json.loads(json.dumps({**asdict(settings), **identity}))
    same = all(facts.get(name) == value for name, value in wanted.items())
    if not same:
        print(f"{folder.name} was trained with other settings or texts: anew", flush=True)
        shutil.rmtree(folder)
    return same
