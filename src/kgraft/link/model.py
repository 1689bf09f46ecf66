"""The link model: an encoder with small changes, ELQ's mention head, and the link head.

One pass over the text gives each token three marks (start, end and inside of a mention) and a
vector. A span's log-odds of being a mention and its vector y come from them (see `spans`). The fit
of a candidate e is x_e · y, with x_e the vector that the unchanged encoder makes of the entity's
text. The link head weighs fit and marks together with what names, letters and graph say (see
`features`), and gives the probability of each candidate and of none.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor, nn

from kgraft.errors import BadInput
from kgraft.link.features import FEATURES
from kgraft.link.head import LinkHead
from kgraft.link.learned_names import LearnedName, read_names, write_names
from kgraft.settings import FRACTION, RANK, Range, Settings, setting
from kgraft.storage import MODEL_MANIFEST, Kind, new_file
from kgraft.tensors import map_tensors, tensor_digest, write_tensors
from kgraft.text import Encoder, adapt, adapter_state, load_adapters
from kgraft.training import ModelManifest, Pretrained, without_prefix

WEIGHTS, NAMES = "model.safetensors", "names.jsonl"
SIZES: Range = (1, 1 << 16)
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
class LinkConfig(Settings):
    """What a link model is made of."""

    encoder: str | None = setting(None, "Name or folder; None is the default encoder.")
    rank: int = setting(16, "Rank of the changes to the encoder.", RANK)
    longest: int = setting(10, "Tokens of a mention that the encoder proposes, at most.", SIZES)
    width: int = setting(64, "Units of the link head.", SIZES)
    threshold: float = setting(0.35, "Score that a link needs by default.", FRACTION)
    features: tuple[str, ...] = setting(HEAD_FEATURES, "What the link head weighs.")

    def check(self) -> None:
        """Refuse a head that weighs other features than this kgraft computes."""
        if self.features != HEAD_FEATURES:
            raise BadInput("the link head weighs other features", remedy="train it again")


class EncoderOutput(NamedTuple):
    """What the model makes of a batch of windows."""

    marks: Tensor  # (B, L, 3) start, end, inside
    vectors: Tensor  # (B, L, D)


class LinkModel(nn.Module, Pretrained[LinkConfig]):
    """An encoder with small changes, and the heads on top of it.

    It is loaded for use; `prepare_training` makes the changes to the encoder trainable. On disk are
    the heads and the changes; the encoder itself is named only.
    """

    kind = Kind("link model", MODEL_MANIFEST)
    format = 3
    made_by = "kgraft link train"
    config_class = LinkConfig

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
        self._changes = without_prefix("host.", state)
        if self.host is not None:
            load_adapters(self.host, self._changes)
        elif self._changes:
            self._reader = self.entity_encoder.adapted(self._changes)

    def digest(self) -> str:
        """Return a name for encoder and weights: other ones have another."""
        names = repr(self.names) if self.names else ""
        parts = (self.entity_encoder.identity, tensor_digest(self.small_state()), names)
        return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]

    # To and from disk

    def _write_files(self, folder: Path) -> None:
        write_tensors(folder / WEIGHTS, self.small_state())
        if self.names:
            with new_file(folder / NAMES) as partial:
                write_names(partial, self.names)

    @classmethod
    def _read_files(
        cls, folder: Path, config: LinkConfig, manifest: ModelManifest, **_context: Any
    ) -> Self:
        """Read a model for use; it may be trained further."""
        state = map_tensors(folder / WEIGHTS)
        names = read_names(folder / NAMES) if NAMES in manifest.files else ()
        model = cls(config)
        model.load_small_state(state)
        model.names = names
        return model.requires_grad_(False).eval()
