"""A joint model on disk: a folder that holds all of it, the encoder in Hugging Face's own form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from torch import nn

from kgraft.errors import BadInput, NotFound
from kgraft.joint.heads import Heads
from kgraft.joint.model import JointModel
from kgraft.joint.settings import config_of
from kgraft.json_text import read_json_file, to_json
from kgraft.storage import Kind, new_file
from kgraft.tensors import load_tensors, write_tensors
from kgraft.text import Encoder

FORMAT = 1
CONFIG, WEIGHTS, HEADS, ENCODER = "joint.json", "joint.safetensors", "heads.safetensors", "encoder"
JOINT = Kind("joint model", CONFIG)


def save_joint(
    model: JointModel, folder: Path, *, heads: Heads | None = None, facts: Mapping[str, Any]
) -> None:
    """Write a joint model, and the heads it was pre-trained with, into a folder."""
    encoder = model.encoder
    encoder.save(folder / ENCODER)
    write_tensors(folder / WEIGHTS, _own(model).state_dict())
    if heads is not None:
        write_tensors(folder / HEADS, heads.state_dict())
    told = {"format": FORMAT, "max_length": encoder.max_length, **asdict(model.config)}
    with new_file(folder / CONFIG) as partial:
        text = to_json({**told, "facts": dict(facts)}, indent=2)
        partial.write_text(text + "\n", encoding="utf-8")


def load_joint(folder: str | Path, *, device: str | None = None) -> JointModel:
    """Load a joint model."""
    folder = Path(folder)
    told = read_facts(folder)
    encoder = Encoder.load(folder / ENCODER, device=device, max_length=told["max_length"])
    model = JointModel(encoder, config_of(told))
    load_tensors(_own(model), folder / WEIGHTS)
    return model.eval()


def read_facts(folder: Path) -> dict[str, Any]:
    """Read what a joint model is made of, and how."""
    try:
        told: dict[str, Any] = read_json_file(folder / CONFIG)
        config_of(told)
    except FileNotFoundError as error:
        said = f"no joint model at {folder}; give the folder that 'kgraft joint pretrain' wrote"
        raise NotFound(said) from error
    except (OSError, ValueError, LookupError, TypeError) as error:
        said = f"is no joint model ({type(error).__name__}: {error})"
        raise BadInput(said, file=str(folder)) from error
    if told.get("format") != FORMAT:
        said = f"is a joint model of format {told.get('format')}"
        raise BadInput(said, file=str(folder), remedy="update kgraft")
    return told


def _own(model: JointModel) -> nn.ModuleDict:
    """Return the parts that an encoder has not."""
    return nn.ModuleDict({"knowledge": model.knowledge, "norm": model.language.norm})
