"""The link model: an encoder with small changes, ELQ's mention head, and the link head.

One pass over the text gives each token three marks (start, end and inside of a mention) and a
vector. A span's log-odds of being a mention and its vector y come from them (see `spans`). The fit
of a candidate e is x_e · y, with x_e the vector that the unchanged encoder makes of the entity's
text. The link head weighs fit and marks together with what names, letters and graph say (see
`features`), and gives the probability of each candidate and of none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from math import isfinite
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from kgraft.errors import BadInput, NotFound
from kgraft.json_text import read_json_file
from kgraft.link.features import FEATURES
from kgraft.link.head import LinkHead
from kgraft.link.learned_names import LearnedName, read_names, write_names
from kgraft.storage import new_file
from kgraft.tensors import UNREADABLE, write_tensors
from kgraft.text import Encoder, adapt, adapter_state, load_adapters
from kgraft.training.adam import under

WEIGHTS, CONFIG, NAMES = "model.safetensors", "config.json", "names.jsonl"
KIND = "kgraft_link"
LARGEST = 1 << 16  # of the sizes that make sense
FORMAT = 2
ENCODER_FEATURES = (
    "silent",  # the encoder does not say anything: it cannot read the text
    "span logit",
    "dot",
    "cosine",
    "dot margin",  # to the best other candidate of the mention
)
COHERENCE_FEATURES = ("neighbour support",)
HEAD_FEATURES = (*FEATURES, *ENCODER_FEATURES, *COHERENCE_FEATURES)
_SHARP = 3.0  # what the vectors of tokens are first multiplied by, for dots of a useful size


@dataclass(frozen=True)
class LinkConfig:
    """What a link model is made of."""

    encoder: str | None = None  # name or folder; None is the default encoder
    rank: int = 16  # of the changes to the encoder
    longest: int = 10  # tokens of a mention that is proposed by the encoder
    width: int = 64  # of the link head
    threshold: float = 0.35  # score that a link needs by default
    features: tuple[str, ...] = HEAD_FEATURES
    format: int = FORMAT


class EncoderOutput(NamedTuple):
    """What the model makes of a batch of windows."""

    marks: Tensor  # (B, L, 3) start, end, inside
    vectors: Tensor  # (B, L, D)


class LinkModel(nn.Module):
    """An encoder with small changes, and the heads on top of it.

    It is loaded for use; `prepare_training` makes the changes to the encoder trainable.
    """

    def __init__(self, config: LinkConfig | None = None, *, seed: int = 0) -> None:
        super().__init__()
        self.config = config or LinkConfig()
        self.entity_encoder = Encoder.load(self.config.encoder)  # stays as it is
        self._reader = self.entity_encoder
        self.host: nn.Module | None = None  # the trainable encoder, in training only
        width = self.entity_encoder.dimension
        with torch.random.fork_rng([]):
            torch.manual_seed(seed)
            self.mark = nn.Linear(width, 3)
            self.project = nn.Linear(width, width)
            self.head = LinkHead(len(HEAD_FEATURES), self.config.width)
        with torch.no_grad():
            self.project.weight.copy_(torch.eye(width) * _SHARP)
            self.project.bias.zero_()
            self.mark.bias.fill_(-0.5)
        self._changes: dict[str, Tensor] = {}
        self.names: tuple[LearnedName, ...] = ()  # of entities, from annotated texts

    # Reading

    @property
    def encoder(self) -> Encoder:
        """The encoder that reads texts; it cuts them into windows."""
        return self._reader

    @property
    def longest(self) -> int:
        """How many tokens a proposed mention has at most."""
        return self.config.longest

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> EncoderOutput:
        """Read tokens (B, L)."""
        if self.host is None:
            hidden = self._reader.read(input_ids, attention_mask.bool())
        else:
            hidden = self.host(
                input_ids=input_ids, attention_mask=attention_mask.long()
            ).last_hidden_state
        return EncoderOutput(self.mark(hidden), self.project(hidden))

    @torch.no_grad()
    def read(self, ids: np.ndarray, mask: np.ndarray) -> EncoderOutput:
        """Read token ids and mask (B, L), for use."""
        return self(torch.from_numpy(ids), torch.from_numpy(mask))

    # Training

    def prepare_training(self, *, seed: int = 0) -> Self:
        """Make the heads and the changes to the encoder trainable."""
        host = Encoder.load(self.config.encoder).model
        adapt(host, self.config.rank, seed=seed)
        if self._changes:
            load_adapters(host, self._changes)
        self.requires_grad_(True)
        self.host = host
        return self

    def small_state(self) -> dict[str, Tensor]:
        """Return all that training changes, by name."""
        changes = self._changes if self.host is None else adapter_state(self.host)
        state = {f"host.{name}": tensor for name, tensor in changes.items()}
        own = {n: p.detach() for n, p in self.named_parameters() if not n.startswith("host.")}
        return state | own

    def load_small_state(self, state: dict[str, Tensor]) -> None:
        """Put back what `small_state` gave."""
        own = {n: p for n, p in self.named_parameters() if not n.startswith("host.")}
        for name, parameter in own.items():
            stored = state.get(name)
            if stored is None or stored.shape != parameter.shape:
                raise BadInput(f"the link model has no fitting {name}", remedy="train it again")
            parameter.data.copy_(stored)
        self._changes = under("host.", state)
        if self.host is not None:
            load_adapters(self.host, self._changes)
        elif self._changes:
            self._reader = self.entity_encoder.adapted(self._changes)

    def digest(self) -> str:
        """Return a name for encoder and weights: other ones have another."""
        digest = hashlib.sha256(self.entity_encoder.identity.encode())
        for name, tensor in sorted(self.small_state().items()):
            digest.update(name.encode() + tensor.contiguous().numpy().tobytes())
        digest.update(repr(self.names).encode() if self.names else b"")
        return digest.hexdigest()[:16]

    # To and from disk

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the heads and the changes to the encoder; the encoder itself is named only."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        write_tensors(path / WEIGHTS, self.small_state())
        with new_file(path / CONFIG) as partial:
            config = {"model_type": KIND, **asdict(self.config)}
            partial.write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
        if self.names:
            with new_file(path / NAMES) as partial:
                write_names(partial, self.names)

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> Self:
        """Load a model for use; it may be trained further."""
        path = Path(folder)
        if not (path / CONFIG).is_file():
            raise NotFound(
                f"no link model at {path}; give the folder that 'kgraft link train' wrote"
            )
        try:
            config = _read_config(path / CONFIG)
            state = load_file(path / WEIGHTS)
            names = read_names(path / NAMES)
        except (*UNREADABLE, KeyError, TypeError) as error:
            reason = str(error).strip().partition("\n")[0]
            raise BadInput(f"is not a link model ({reason})", file=str(path)) from error
        model = cls(config)
        model.load_small_state(state)
        model.names = names
        return model.requires_grad_(False).eval()


def _read_config(file: Path) -> LinkConfig:
    """Read a config; that of another kind or format of model is a ValueError."""
    stored = read_json_file(file)
    kind = stored.pop("model_type", None) if isinstance(stored, dict) else None
    if kind != KIND:
        raise ValueError(f"its model_type is {kind}")
    if stored.get("format") != FORMAT:
        raise ValueError(f"its format is {stored.get('format')}, this kgraft reads {FORMAT}")
    if tuple(stored.get("features", ())) != HEAD_FEATURES:
        raise ValueError("it weighs other features")
    names = {field.name for field in fields(LinkConfig)}
    for name, is_right in _CHECKS.items():
        if not is_right(stored[name]):
            raise ValueError(f"its {name} is {stored[name]!r}")
    return LinkConfig(**{**{n: stored[n] for n in names}, "features": HEAD_FEATURES})


def _is_size(value: object) -> bool:
    return type(value) is int and 0 < value <= LARGEST


_CHECKS: dict[str, Callable[[object], bool]] = {
    "encoder": lambda value: value is None or isinstance(value, str),
    "rank": _is_size,
    "longest": _is_size,
    "width": _is_size,
    "threshold": lambda value: isinstance(value, int | float) and isfinite(value),
}
