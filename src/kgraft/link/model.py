"""The link model: an encoder that marks mentions in a text and weighs what each may mean.

One pass over the text gives each token three marks (start, end and inside of a mention) and a
vector. A span's probability and vector come from them (see `spans`). Its candidates e are weighed:

    a(e) = x_e · y + w · f(e)        p(e | span) = softmax of a over the candidates

with y the span's vector, x_e the frozen vector of the entity's text, and f what the graph knows of
the pair, such as the prior (see `candidates`). A small network says of the best one whether it is
meant at all: the probability of the link.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.functional import gelu, normalize
from transformers import PreTrainedConfig, PreTrainedModel

from kgraft.errors import BadInput, NotFound
from kgraft.storage import new_file
from kgraft.text import Encoder
from kgraft.text.adapters import adapt, adapter_state, load_adapters, merge
from kgraft.text.encoder import Pooling
from kgraft.text.lean import LeanBert
from kgraft.training.adam import under
from kgraft.vectors.tensors import UNREADABLE, write_tensors
from kgraft.vectors.text_vectors import identity_of

POOLING: Pooling = "mean"  # of the vectors of entities
WEIGHTS = "model.safetensors"
FEATURES = ("log prior", "found by name", "written like a name", "log degree", "described")
SCORES = 5 + len(FEATURES)
_SHARP = 3.0  # what the vectors of tokens are first multiplied by, for dots of a useful size


class LinkConfig(PreTrainedConfig):  # type: ignore[misc]
    """What a link model is made of."""

    model_type = "kgraft_link"

    encoder: str | None = None  # name or folder; None is the default encoder
    rank: int = 16  # of the changes to the encoder
    longest: int = 10  # tokens of a mention
    hidden: int = 128  # width of the network that says whether a link is meant
    threshold: float = 0.5  # of the link's probability, chosen on validation data


class Read(NamedTuple):
    """What the model makes of a batch of windows."""

    marks: Tensor  # (B, L, 3) start, end, inside
    vectors: Tensor  # (B, L, D)


class LinkModel(PreTrainedModel):  # type: ignore[misc]
    """An encoder with small changes, and the heads on top of it."""

    config_class = LinkConfig
    config: LinkConfig

    def __init__(self, config: LinkConfig, encoder: Encoder | None = None) -> None:
        super().__init__(config)
        self.encoder = encoder or Encoder.load(config.encoder)
        self.entity_encoder = identity_of(self.encoder, POOLING)  # before it is changed
        self.host = self.encoder.model
        self._merged = False
        self._lean: LeanBert | None = None
        adapt(self.host, config.rank)
        width = self.encoder.dimension
        self.mark = nn.Linear(width, 3)
        self.project = nn.Linear(width, width)
        self.weigh = nn.Linear(len(FEATURES), 1, bias=False)
        self.judge = nn.Linear(4 * width + SCORES, config.hidden)
        self.verdict = nn.Linear(config.hidden, 1)
        self._begin()

    @torch.no_grad()
    def _begin(self) -> None:
        """Start with the encoder's own vectors, the prior, and a preference for names."""
        self.project.weight.copy_(torch.eye(len(self.project.weight)) * _SHARP)
        self.project.bias.zero_()
        self.mark.bias.fill_(-0.5)
        self.weigh.weight.copy_(torch.tensor([[0.5, 3.0, 0.0, 0.0, 0.0]]))

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Read:
        """Read tokens (B, L)."""
        hidden = self.host(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return Read(self.mark(hidden), self.project(hidden))

    @property
    def longest(self) -> int:
        """How many tokens a mention has at most."""
        return self.config.longest

    @torch.no_grad()
    def read(self, ids: np.ndarray, mask: np.ndarray) -> Read:
        """Read token ids and mask (B, L), for use."""
        if self._lean is None:
            return self(torch.from_numpy(ids), torch.from_numpy(mask).long())
        hidden = self._lean(torch.from_numpy(ids), torch.from_numpy(mask))
        return Read(self.mark(hidden), self.project(hidden))

    # To and from disk

    def save_pretrained(self, save_directory: str | Path, **_: object) -> None:
        """Write the heads and the changes to the encoder; the encoder itself is named only."""
        if self._merged:
            raise BadInput("the model is merged into its encoder", remedy="save it before merge()")
        folder = Path(save_directory)
        folder.mkdir(parents=True, exist_ok=True)
        with new_file(folder / WEIGHTS) as partial:
            write_tensors(partial, self.small_state())
        self.config.save_pretrained(folder)

    @classmethod
    def from_pretrained(cls, folder: str | Path, **_: object) -> Self:
        """Load a model, to be trained further or (after `merge`) used."""
        path = Path(folder)
        if not (path / "config.json").is_file():
            raise NotFound(
                f"no link model at {path}; give the folder that 'kgraft link train' wrote"
            )
        try:
            config = _config(path)
            state = load_file(path / WEIGHTS)
            model = cls(config)
        except (*UNREADABLE, KeyError, TypeError) as error:
            reason = str(error).strip().partition("\n")[0]
            raise BadInput(f"is no link model ({reason})", file=str(path)) from error
        model.load_small_state(state)
        return model.eval()

    def small_state(self) -> dict[str, Tensor]:
        """Return all that training changes, by name."""
        state = {f"host.{name}": tensor for name, tensor in adapter_state(self.host).items()}
        own = {n: p.detach() for n, p in self.named_parameters() if not n.startswith("host.")}
        return state | own

    def digest(self) -> str:
        """Return a name for encoder and weights: other ones have another."""
        digest = hashlib.sha256(self.entity_encoder.encode())
        for name, tensor in sorted(self.small_state().items()):
            digest.update(name.encode() + tensor.contiguous().numpy().tobytes())
        return digest.hexdigest()[:16]

    def load_small_state(self, state: dict[str, Tensor]) -> None:
        """Put back what `small_state` gave."""
        own = {n: p for n, p in self.named_parameters() if not n.startswith("host.")}
        for name, parameter in own.items():
            stored = state.get(name)
            if stored is None or stored.shape != parameter.shape:
                raise BadInput(f"the link model lacks a fitting {name}", remedy="train it anew")
            parameter.data.copy_(stored)
        load_adapters(self.host, under("host.", state))

    def merge(self) -> Self:
        """Make the changes part of the encoder, for use: it is then as fast as it was."""
        merge(self.host)
        self._merged, self._lean = True, LeanBert.of(self.host)
        return self.requires_grad_(False).eval()

    # Scores

    def candidate_logits(self, mentions: Tensor, entities: Tensor, features: Tensor) -> Tensor:
        """Return a(e): (S, D), (S, K, D) and (S, K, F) to (S, K)."""
        dots = torch.bmm(entities, mentions[:, :, None])[:, :, 0]
        return dots + self.weigh(features)[:, :, 0]

    def link_logits(self, mentions: Tensor, entities: Tensor, scores: Tensor) -> Tensor:
        """Return the log-odds that links are meant: (P, D), (P, D) and (P, SCORES) to (P,)."""
        m = normalize(mentions, dim=-1)
        joint = torch.cat([m, entities, m - entities, m * entities * 8, scores], dim=-1)
        return self.verdict(gelu(self.judge(joint)))[:, 0]


def _config(folder: Path) -> LinkConfig:
    """Read the config of a folder; that of another kind of model is a ValueError."""
    told, _ = LinkConfig.get_config_dict(folder)
    kind = told.get("model_type") if isinstance(told, dict) else None
    if kind != LinkConfig.model_type:
        raise ValueError(f"its model_type is {kind}")
    return LinkConfig.from_dict(told)


def pair_scores(
    span_logit: Tensor, mentions: Tensor, entities: Tensor, features: Tensor, logits: Tensor
) -> Tensor:
    """Return what the verdict looks at besides the vectors, brought to like sizes, (S, K, SCORES).

    The span's log-odds, the dot, the cosine, log p(e | span), how many candidates are close, and
    the features.
    """
    dots = torch.bmm(entities, mentions[:, :, None])[:, :, 0]
    cosine = dots / mentions.norm(dim=-1, keepdim=True).clamp_min(1e-6)
    share = logits.log_softmax(-1).clamp_min(-10.0)
    doubt = -(logits.softmax(-1) * share).sum(-1, keepdim=True)  # entropy
    sizes = torch.stack(
        [
            (span_logit / 5)[:, None].expand_as(dots),
            dots / 10,
            cosine * 3,
            share / 3,
            doubt.expand_as(dots),
        ],
        dim=-1,
    )
    return torch.cat([sizes, features], dim=-1)
