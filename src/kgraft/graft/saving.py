"""A graft on disk: what is grafted and what changed in the host, apart from the host itself.

A folder holds `config.json`, which names the host and the knowledge, and `graft.safetensors`. Of
the host it keeps only what training changed: adapters, or the tensors that are not what they were.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor
from transformers import PreTrainedModel

from kgraft.errors import BadInput, NotFound
from kgraft.graft.kinds import KINDS
from kgraft.json_text import read_json_file, to_json
from kgraft.storage import Kind, new_file
from kgraft.tensors import UNREADABLE, write_tensors
from kgraft.text import adapt, adapter_rank, adapter_state, load_adapters
from kgraft.training.adam import under

FORMAT = 1
CONFIG, WEIGHTS = "config.json", "graft.safetensors"
GRAFT = Kind("graft", WEIGHTS)


@dataclass(frozen=True)
class GraftConfig:
    """What a graft is made of."""

    host: str  # its name or folder
    host_digest: str  # of its weights, before anything was grafted
    grafts: dict[str, dict[str, Any]]  # by layer: kind, settings, knowledge
    rank: int | None = None  # of the adapters of the host
    format: int = FORMAT
    facts: dict[str, Any] = field(default_factory=dict)  # how it was trained


def digests(host: PreTrainedModel) -> dict[str, str]:
    """Return the digest of each tensor of a host, without what is grafted."""
    return {name: _digest(tensor) for name, tensor in host_state(host).items()}


def host_digest(found: Mapping[str, str]) -> str:
    """Return one digest for all tensors."""
    return hashlib.sha256(json.dumps(sorted(found.items())).encode()).hexdigest()[:32]


def host_state(host: PreTrainedModel) -> dict[str, Tensor]:
    """Return the tensors of a host itself."""
    return {n: t for n, t in host.state_dict().items() if not n.startswith("grafts.")}


def _digest(tensor: Tensor) -> str:
    held = tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data
    return hashlib.sha256(held).hexdigest()[:32]


def save_grafts(
    host: PreTrainedModel, folder: Path, name: str, facts: Mapping[str, Any] | None = None
) -> None:
    """Write what is grafted onto a host, and what changed in it, to a folder."""
    grafts = host.grafts
    rank = adapter_rank(host)
    told = {
        str(layer): {
            "kind": next(kind for kind, made in KINDS.items() if type(grafts[str(layer)]) is made),
            "settings": asdict(grafts[str(layer)].settings),
            "knowledge": grafts.knowledge[layer].identity(),
        }
        for layer in grafts.layers
    }
    before = host_digest(grafts.host_digests)
    config = GraftConfig(name, before, told, rank, facts=dict(facts or {}))
    state = {f"grafts.{n}": t for n, t in grafts.state_dict().items()}
    state |= {f"host.{n}": t for n, t in _changed(host, rank).items()}
    folder.mkdir(parents=True, exist_ok=True)
    write_tensors(folder / WEIGHTS, state)
    with new_file(folder / CONFIG) as partial:
        partial.write_text(to_json(asdict(config), indent=2) + "\n", encoding="utf-8")


def _changed(host: PreTrainedModel, rank: int | None) -> dict[str, Tensor]:
    if rank is not None:
        return adapter_state(host)
    before = host.grafts.host_digests
    return {n: t for n, t in host_state(host).items() if _digest(t) != before.get(n)}


def read_config(folder: Path) -> GraftConfig:
    """Read what a graft is made of."""
    try:
        told = read_json_file(folder / CONFIG)
        config = GraftConfig(**{f.name: told[f.name] for f in fields(GraftConfig)})
    except FileNotFoundError as error:
        told = f"no graft at {folder}; give the folder that 'kgraft graft train' wrote"
        raise NotFound(told) from error
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise BadInput(
            f"is no graft ({type(error).__name__}: {error})", file=str(folder)
        ) from error
    if config.format != FORMAT:
        raise BadInput(f"is a graft of format {config.format}", file=str(folder), remedy="update")
    return config


def load_weights(host: PreTrainedModel, folder: Path, config: GraftConfig) -> None:
    """Put the weights of a folder into a host onto which the same is grafted."""
    if host_digest(host.grafts.host_digests) != config.host_digest:
        raise BadInput(
            f"was made for other weights of {config.host}", file=str(folder), remedy="train anew"
        )
    try:
        state = load_file(folder / WEIGHTS)
    except UNREADABLE as error:
        reason = str(error).strip().partition("\n")[0]
        raise BadInput(f"cannot be read ({reason})", file=str(folder / WEIGHTS)) from error
    parts = {p: under(f"{p}.", state) for p in ("grafts", "host")}
    if config.rank is not None:
        adapt(host, config.rank, keep=["grafts"])
        load_adapters(host, parts["host"])
    missing, strange = host.load_state_dict(
        {f"grafts.{n}": t for n, t in parts["grafts"].items()}
        | ({} if config.rank is not None else parts["host"]),
        strict=False,
    )
    absent = [name for name in missing if name.startswith("grafts.")]
    if absent or strange:
        raise BadInput(f"does not fit: {[*absent, *strange][0]}", file=str(folder / WEIGHTS))
