"""`TextCompleter`: an encoder that reads queries and entities into one space."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from kgraft.reason.text.settings import TextConfig
from kgraft.storage import MODEL_MANIFEST, Kind
from kgraft.tensors import load_tensors, write_tensors
from kgraft.text import Encoder, length_batches
from kgraft.training import ModelManifest, Pretrained

ENCODER, TEMPERATURE = "encoder", "temperature.safetensors"
TOKENS = 2048  # padded tokens that are read together while gradients are kept


class Temperature(nn.Module):
    """The temperature τ of the scores, learnt as log 1/τ."""

    def __init__(self, temperature: float) -> None:
        super().__init__()
        self.log_scale = nn.Parameter(torch.tensor(-np.log(temperature), dtype=torch.float32))

    def forward(self) -> Tensor:
        """Return 1 / τ, what a cosine is multiplied by."""
        return self.log_scale.exp()


class TextCompleter(Pretrained[TextConfig]):
    """An encoder that reads queries and entities into one space, where answers are near.

    It completes any graph whose entities are described: nothing in it belongs to one graph.
    """

    kind = Kind("text completer", MODEL_MANIFEST)
    made_by = "kgraft reason train --text"
    config_class = TextConfig

    def __init__(self, encoder: Encoder, *, temperature: float = 0.05) -> None:
        self.encoder, self.config = encoder, TextConfig(encoder.max_length)
        self.temperature = Temperature(temperature)

    @property
    def scale(self) -> float:
        """1 / τ: what a cosine is multiplied by to be the logarithm of a probability."""
        return float(self.temperature().detach())

    def module(self) -> nn.ModuleDict:
        """Return all that is trained."""
        return nn.ModuleDict({"encoder": self.encoder.model, "temperature": self.temperature})

    def read(self, texts: list[str]) -> Tensor:
        """Return the vectors of texts, (N, D), with gradients; texts of like length together."""
        windows = self.encoder.windows(texts).firsts()
        batches = length_batches(windows.lengths, TOKENS)
        vectors = torch.cat([self._read(*windows.padded(rows)) for rows in batches])
        order = torch.from_numpy(np.argsort(np.concatenate(batches)))
        return vectors[order]

    def _read(self, ids: np.ndarray, mask: np.ndarray) -> Tensor:
        columns = torch.from_numpy(mask)
        hidden = self.encoder.read(torch.from_numpy(ids), columns)
        weights = columns.to(hidden.dtype)
        weights = weights / weights.sum(1, keepdim=True)
        return normalize(torch.einsum("bl,bld->bd", weights, hidden), dim=-1)

    def _write_files(self, folder: Path) -> None:
        self.encoder.save(folder / ENCODER)
        write_tensors(folder / TEMPERATURE, self.temperature.state_dict())

    @classmethod
    def _read_files(
        cls,
        folder: Path,
        config: TextConfig,
        manifest: ModelManifest,  # noqa: ARG003
        **context: Any,
    ) -> Self:
        device: str | None = context.get("device")
        encoder = Encoder.load(folder / ENCODER, device=device, max_length=config.tokens)
        completer = cls(encoder)
        load_tensors(completer.temperature, folder / TEMPERATURE)
        return completer
