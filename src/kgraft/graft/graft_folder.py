"""A graft on disk: what is grafted and what changed in the host, apart from the host itself.

Of the host it keeps only what training changed: adapters, or the tensors that are not what they
were.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from torch import Tensor
from transformers import PreTrainedModel

from kgraft.errors import BadInput
from kgraft.graft.settings import GraftConfig
from kgraft.storage import MODEL_MANIFEST, Kind
from kgraft.tensors import UNREADABLE, map_tensors, tensor_digest, write_tensors
from kgraft.text import adapt, adapter_rank, adapter_state, load_adapters
from kgraft.training import ModelManifest, Pretrained, without_prefix

if TYPE_CHECKING:
    from kgraft.graft.grafting import Grafts

WEIGHTS = "graft.safetensors"


class GraftFolder(Pretrained[GraftConfig]):
    """What a folder holds of a grafted encoder."""

    kind: ClassVar[Kind] = Kind("graft", MODEL_MANIFEST)
    format: ClassVar[int] = 2
    made_by: ClassVar[str] = "kgraft graft train"
    unversioned_file: ClassVar[str] = "graft.safetensors"
    config_class: ClassVar[type[GraftConfig]] = GraftConfig

    def __init__(self, config: GraftConfig, tensors: Mapping[str, Tensor]) -> None:
        self.config, self.tensors = config, tensors

    @classmethod
    def of(cls, host: PreTrainedModel, name: str) -> Self:
        """Collect what is grafted onto a host of a name, and what changed in it."""
        grafts: Grafts = host.grafts
        rank = adapter_rank(host)
        specs = {
            str(layer): {
                "kind": grafts.at(layer).kind,
                "settings": grafts.at(layer).settings.to_dict(),
                "knowledge": grafts.knowledge[layer].identity(),
            }
            for layer in grafts.layers
        }
        tensors = {f"grafts.{n}": t for n, t in grafts.state_dict().items()}
        tensors |= {f"host.{n}": t for n, t in _changed(host, rank).items()}
        return cls(GraftConfig(name, host_digest(grafts.host_digests), specs, rank), tensors)

    def load_into(self, host: PreTrainedModel, folder: Path) -> None:
        """Put the tensors into a host onto which the same is grafted."""
        if host_digest(host.grafts.host_digests) != self.config.host_digest:
            raise BadInput(
                f"was made for other weights of {self.config.host}",
                file=str(folder),
                remedy=f"train it again with '{self.made_by}'",
            )
        changed = without_prefix("host.", self.tensors)
        state = {n: t for n, t in self.tensors.items() if n.startswith("grafts.")}
        if self.config.rank is not None:
            adapt(host, self.config.rank, keep=["grafts"])
            load_adapters(host, changed)
        else:
            state |= changed
        missing, unexpected = host.load_state_dict(state, strict=False)
        absent = [name for name in missing if name.startswith("grafts.")]
        if absent or unexpected:
            raise self.damaged(folder, f"{[*absent, *unexpected][0]} does not fit")

    def _write_files(self, folder: Path) -> None:
        write_tensors(folder / WEIGHTS, self.tensors)

    @classmethod
    def _read_files(
        cls,
        folder: Path,
        config: GraftConfig,
        manifest: ModelManifest,  # noqa: ARG003
        **context: Any,  # noqa: ARG003
    ) -> Self:
        try:
            return cls(config, map_tensors(folder / WEIGHTS))
        except UNREADABLE as error:
            raise cls.damaged(folder, error) from error


def tensor_digests(host: PreTrainedModel) -> dict[str, str]:
    """Return the digest of each tensor of a host, without what is grafted."""
    return {name: tensor_digest({name: tensor}) for name, tensor in _host_state(host).items()}


def host_digest(digests: Mapping[str, str]) -> str:
    """Return one digest for the digests of all tensors."""
    return hashlib.sha256(json.dumps(sorted(digests.items())).encode()).hexdigest()


def _host_state(host: PreTrainedModel) -> dict[str, Tensor]:
    return {n: t for n, t in host.state_dict().items() if not n.startswith("grafts.")}


def _changed(host: PreTrainedModel, rank: int | None) -> dict[str, Tensor]:
    """Return what training changed in a host: its adapters, or the tensors that are others."""
    if rank is not None:
        return adapter_state(host)
    before, now = host.grafts.host_digests, tensor_digests(host)
    return {n: t for n, t in _host_state(host).items() if now[n] != before.get(n)}
