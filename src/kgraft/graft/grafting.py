"""Grafting itself: knowledge plugged into an encoder between two of its layers.

The host keeps its class, its inputs and its outputs. What is grafted is in `host.grafts` and works
by hooks on the host's layers; without knowledge of a text the host reads as it always did, to the
bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

from torch import Tensor, nn
from transformers import PreTrainedModel

from kgraft.errors import BadInput
from kgraft.graft.graft_folder import GraftFolder, tensor_digests
from kgraft.graft.interfaces import Graft, Knowledge
from kgraft.graft.kinds import GRAFTS
from kgraft.graft.output import GraftOutput
from kgraft.graft.path_encoder import PathSource
from kgraft.text import MentionBatch, hook_after, layers_of
from kgraft.training import seeded

Host = TypeVar("Host", bound=PreTrainedModel)
Batch = MentionBatch | Mapping[int, MentionBatch]
"""The mentions of a batch: of each layer with a graft, or of the only one."""

_READING: ContextVar[Mapping[int, MentionBatch] | None] = ContextVar("_READING", default=None)
_OFF: ContextVar[frozenset[int]] = ContextVar("_OFF", default=frozenset())
_RECORD: ContextVar[dict[int, GraftOutput] | None] = ContextVar("_RECORD", default=None)


class Grafts(nn.ModuleDict):
    """What is grafted onto a host, by the layer that it comes after, counted from 1."""

    def __init__(self, grafts: Mapping[int, nn.Module], knowledge: Mapping[int, Knowledge]) -> None:
        super().__init__({str(layer): graft for layer, graft in grafts.items()})
        self.knowledge = dict(knowledge)
        self.host_digests: dict[str, str] = {}  # of the host's tensors, before anything was grafted
        self.handles: list[Any] = []

    @property
    def layers(self) -> list[int]:
        """The layers with a graft, in order."""
        return sorted(self.knowledge)

    @property
    def mention_sizes(self) -> dict[int, int]:
        """The size of the vectors that each graft makes of mentions, by its layer."""
        return {layer: self.at(layer).mention_size for layer in self.layers}

    def at(self, layer: int) -> Graft:
        """Return the graft after a layer."""
        return cast("Graft", self[str(layer)])

    def plug(self, host: PreTrainedModel) -> None:
        """Begin to work in a host."""
        self.host_digests = self.host_digests or tensor_digests(host)
        host.grafts, host.save_pretrained = self, _Save(host)
        hooks = [hook_after(host, layer, partial(self.change, layer)) for layer in self.layers]
        before = host.register_forward_pre_hook(self._begin, with_kwargs=True)
        after = host.register_forward_hook(self._end, always_call=True)
        self.handles = [before, after, *hooks]

    def _begin(
        self, host: PreTrainedModel, inputs: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Take the knowledge out of the host's inputs."""
        named = dict(named)
        knowledge = named.pop("knowledge", None)
        batches = {} if knowledge is None else self._by_layer(knowledge)
        _READING.set({layer: batch.to(host.device) for layer, batch in batches.items()})
        return inputs, named

    def _end(self, *_: object) -> None:
        _READING.set(None)

    def _by_layer(self, batch: Batch) -> Mapping[int, MentionBatch]:
        if isinstance(batch, MentionBatch):
            if len(self) != 1:
                layers = ", ".join(map(str, self.layers))
                raise BadInput(
                    f"mentions without a layer, but there are grafts after {layers}",
                    remedy="give {layer: mentions, …}",
                )
            return {self.layers[0]: batch}
        for layer in batch:
            if layer not in self.knowledge:
                raise BadInput(f"there is no graft after layer {layer}")
        return batch

    def change(self, layer: int, hidden: Tensor) -> Tensor:
        """Return what the next layer reads in place of what this one gave out."""
        mentions = (_READING.get() or {}).get(layer)
        if mentions is None or id(self) in _OFF.get() or not mentions.present.any():
            return hidden
        changed, output = self[str(layer)](hidden, mentions, self.knowledge[layer])
        record = _RECORD.get()
        if record is not None:
            record[layer] = output
        return changed


class _Save:
    """What a host with grafts saves: the grafts, and what changed in itself."""

    def __init__(self, host: PreTrainedModel) -> None:
        self.host = host

    def __call__(self, save_directory: str | Path, **_: object) -> None:
        GraftFolder.of(self.host, self.host.name_or_path).save_pretrained(save_directory)


def attach(
    host: Host,
    knowledge: Mapping[int, Knowledge],
    *,
    kind: str = "attention",
    settings: Mapping[int, Any] | None = None,
    seed: int = 0,
) -> Host:
    """Graft knowledge onto an encoder and return it: `{layer: knowledge}`, layers from 1.

    `grafted(**inputs, knowledge=mentions)` then reads with knowledge. Layers that have a graft
    already keep it. `kind` says how knowledge comes in (see `kgraft.graft.kinds`), `settings` its
    sizes by layer.
    """
    before = getattr(host, "grafts", None)
    before = before if isinstance(before, Grafts) else Grafts({}, {})
    grafts: dict[int, nn.Module] = {layer: before.at(layer) for layer in before.layers}
    sources = dict(before.knowledge)
    for layer, source in knowledge.items():
        _check_free(host, layer, sources)
        grafts[layer] = _new_graft(host, kind, source, (settings or {}).get(layer), seed + layer)
        sources[layer] = source
    if not sources:
        raise BadInput("no knowledge is given", remedy="give {layer: knowledge}")
    detach(host)
    attached = Grafts(grafts, sources)
    attached.host_digests = before.host_digests
    attached.plug(host)
    return host


def _check_free(host: PreTrainedModel, layer: int, sources: Mapping[int, Knowledge]) -> None:
    """Refuse a layer that the host lacks, or that has a graft."""
    count = len(layers_of(host))
    if not 1 <= layer <= count:
        remedy = f"choose one of its {count} layers, counted from 1"
        raise BadInput(f"the encoder has no layer {layer}", remedy=remedy)
    if layer in sources:
        raise BadInput(f"layer {layer} has a graft already", remedy="detach it first")


def _new_graft(
    host: PreTrainedModel,
    kind: str,
    knowledge: Knowledge,
    settings: Any,  # noqa: ANN401
    seed: int,
) -> Graft:
    graft_class = GRAFTS[kind]
    with seeded(seed):
        graft = graft_class(int(host.config.hidden_size), knowledge, settings)
    if isinstance(knowledge, PathSource) and graft.paths is None:
        raise BadInput(f"grafts of the kind {kind} read no paths", remedy="choose another kind")
    graft.kind = kind
    return graft.to(host.device).train(host.training)


def detach(host: Host) -> Host:
    """Take all grafts out; the host is what it was before."""
    grafts = getattr(host, "grafts", None)
    if isinstance(grafts, Grafts):
        for handle in grafts.handles:
            handle.remove()
        grafts.handles = []
        del host.grafts, host.save_pretrained
    return host


@contextmanager
def knowledge_off(host: PreTrainedModel) -> Iterator[None]:
    """Let a grafted encoder read without its knowledge while the block runs, as its host did."""
    token = _OFF.set(_OFF.get() | {id(grafts_of(host))})
    try:
        yield
    finally:
        _OFF.reset(token)


@contextmanager
def record_grafts() -> Iterator[dict[int, GraftOutput]]:
    """Record what the grafts give out, by layer, at the last reading while the block runs."""
    record: dict[int, GraftOutput] = {}
    token = _RECORD.set(record)
    try:
        yield record
    finally:
        _RECORD.reset(token)


def grafts_of(host: PreTrainedModel) -> Grafts:
    """Return what is grafted onto a host."""
    grafts = getattr(host, "grafts", None)
    if not isinstance(grafts, Grafts):
        raise BadInput("nothing is grafted onto this encoder", remedy="attach(model, {5: …})")
    return grafts
