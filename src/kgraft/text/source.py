"""Where an encoder came from: its folder, and the changes merged into it since."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from torch import Tensor

from kgraft.errors import BadInput
from kgraft.tensors import tensor_digest
from kgraft.text.adapters import merge_changes
from kgraft.text.digests import Stamp, file_digest, stamp
from kgraft.text.find import FILES
from kgraft.text.loading import load_model, load_tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


@dataclass(frozen=True, eq=False)
class Source:
    """The state of a folder when an encoder was loaded from it."""

    folder: Path
    files: Mapping[str, Stamp]  # what the encoder was made of
    changes: tuple[Mapping[str, Tensor], ...] = ()  # see `adapters.adapter_state`

    @classmethod
    def of(cls, folder: Path, patterns: Sequence[str] = FILES) -> Source:
        """Record the state of the files that match one of the patterns."""
        matches = chain.from_iterable(folder.glob(pattern) for pattern in patterns)
        return cls(folder, {file.name: stamp(file) for file in sorted(set(matches))})

    def adapted(self, changes: Mapping[str, Tensor]) -> Source:
        """Return the source of the encoder with changes merged into it."""
        own = {name: tensor.detach().clone() for name, tensor in changes.items()}
        return replace(self, changes=(*self.changes, own))

    def is_untouched(self) -> bool:
        """Tell whether the files are still as they were."""
        try:
            return all(
                stamp(self.folder / name) == recorded for name, recorded in self.files.items()
            )
        except OSError:
            return False

    def digest(self) -> str:
        """Return a digest of the files and the changes."""
        files = [f"{name}:{file_digest(self.folder / name)}" for name in self.files]
        return " ".join([*files, *map(tensor_digest, self.changes)])

    def load_model(self) -> PreTrainedModel:
        """Load Hugging Face's model, with the changes."""
        self._check()
        model = load_model(self.folder)
        for changes in self.changes:
            merge_changes(model, changes)
        return model

    def load_tokenizer(self) -> PreTrainedTokenizerBase:
        """Load Hugging Face's tokenizer."""
        self._check()
        return load_tokenizer(self.folder)

    def _check(self) -> None:
        if not self.is_untouched():
            raise BadInput(
                "its files have changed since the encoder was loaded",
                file=str(self.folder),
                remedy="load the encoder again",
            )


def model_digest(model: PreTrainedModel) -> str:
    """Return a digest of a model's kind, settings and tensors, without those of its pooler."""
    config = model.config.to_dict().items()
    settings = {k: v for k, v in config if k[0] != "_" and k != "transformers_version"}
    text = json.dumps([type(model).__name__, settings], sort_keys=True, default=str)
    tensors = {n: t for n, t in model.state_dict().items() if not n.startswith("pooler.")}
    return f"{hashlib.sha256(text.encode()).hexdigest()} {tensor_digest(tensors)}"
