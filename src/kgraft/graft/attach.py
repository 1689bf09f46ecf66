"""Grafting itself: knowledge plugged into an encoder between two of its layers.

The host keeps its class, its inputs and its outputs. What is grafted stands in `host.grafts` and
works by hooks on the host's layers; without knowledge of a text the host does what it always did,
to the bit.
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
from kgraft.graft.kinds import KINDS, Kind
from kgraft.graft.knowledge import Knowledge
from kgraft.graft.mentions import Looked, Mentions
from kgraft.graft.saving import digests, save_grafts
from kgraft.text import hook_after, layers_of
from kgraft.training.seeds import seeded

Host = TypeVar("Host", bound=PreTrainedModel)
Batch = Mentions | Mapping[int, Mentions]
"""The mentions of a batch: of each layer with a graft, or of the only one."""

_READING: ContextVar[Mapping[int, Mentions] | None] = ContextVar("_READING", default=None)
_OFF: ContextVar[frozenset[int]] = ContextVar("_OFF", default=frozenset())
_LOOKING: ContextVar[dict[int, Looked] | None] = ContextVar("_LOOKING", default=None)


class Grafts(nn.ModuleDict):
    """What is grafted onto a host: by the number of the layer it stands after, counted from 1."""

    def __init__(self, grafts: Mapping[int, nn.Module], knowledge: Mapping[int, Knowledge]) -> None:
        super().__init__({str(layer): graft for layer, graft in grafts.items()})
        self.knowledge = dict(knowledge)
        self.host_digests: dict[str, str] = {}  # of its tensors, as they were before
        self.handles: list[Any] = []

    @property
    def layers(self) -> list[int]:
        """The layers with a graft, rising."""
        return sorted(self.knowledge)

    @property
    def sizes(self) -> dict[int, int]:
        """How many numbers each graft makes of a mention (`Looked.known`), by its layer."""
        return {layer: cast("int", self[str(layer)].known_size) for layer in self.layers}

    def plug(self, host: PreTrainedModel) -> None:
        """Begin to work in a host."""
        self.host_digests = self.host_digests or digests(host)
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
        given = {} if named.get("knowledge") is None else self._by_layer(named["knowledge"])
        named.pop("knowledge", None)
        _READING.set({layer: mentions.to(host.device) for layer, mentions in given.items()})
        return inputs, named

    def _end(self, *_: object) -> None:
        _READING.set(None)

    def _by_layer(self, given: Batch) -> Mapping[int, Mentions]:
        if isinstance(given, Mentions):
            if len(self) != 1:
                layers = ", ".join(map(str, self.layers))
                raise BadInput(
                    "mentions for no layer in particular",
                    remedy=f"there are grafts after {layers}: give {{layer: mentions, …}}",
                )
            return {self.layers[0]: given}
        for layer in given:
            if layer not in self.knowledge:
                raise BadInput(f"no graft stands after layer {layer}")
        return given

    def change(self, layer: int, hidden: Tensor) -> Tensor:
        """Return what the next layer reads in place of what this one gave out."""
        mentions = (_READING.get() or {}).get(layer)
        if mentions is None or id(self) in _OFF.get() or not mentions.there.any():
            return hidden
        changed, looked = self[str(layer)](hidden, mentions, self.knowledge[layer])
        looking = _LOOKING.get()
        if looking is not None:
            looking[layer] = looked
        return changed


class _Save:
    """What a host with grafts saves: the grafts, and what changed in itself."""

    def __init__(self, host: PreTrainedModel) -> None:
        self.host = host

    def __call__(self, save_directory: str | Path, **_: object) -> None:
        save_grafts(self.host, Path(save_directory), self.host.name_or_path)


def attach(
    host: Host,
    knowledge: Mapping[int, Knowledge],
    *,
    kind: Kind = "attention",
    settings: Mapping[int, Any] | None = None,
    seed: int = 0,
) -> Host:
    """Graft knowledge onto an encoder and return it: `{layer: knowledge}`, layers from 1.

    `grafted(**inputs, knowledge=mentions)` then reads with knowledge. Layers that have a graft
    already keep it. `kind` says how knowledge comes in, `settings` its sizes by layer.
    """
    layers = layers_of(host)
    held = getattr(host, "grafts", None)
    grafts = dict(held.items()) if isinstance(held, Grafts) else {}
    known = dict(held.knowledge) if isinstance(held, Grafts) else {}
    for layer, what in knowledge.items():
        if not 1 <= layer <= len(layers):
            remedy = f"choose one of its {len(layers)} layers, counted from 1"
            raise BadInput(f"the encoder has no layer {layer}", remedy=remedy)
        if layer in known:
            raise BadInput(f"layer {layer} has a graft already", remedy="detach it first")
        grafts[str(layer)] = _new(host, kind, what, (settings or {}).get(layer), seed + layer)
        known[layer] = what
    if not known:
        raise BadInput("no knowledge is given", remedy="give {layer: knowledge}")
    detach(host)
    new = Grafts({int(n): graft for n, graft in grafts.items()}, known)
    if isinstance(held, Grafts):
        new.host_digests = held.host_digests
    new.plug(host)
    return host


def _new(host: PreTrainedModel, kind: Kind, what: Knowledge, settings: Any, seed: int) -> nn.Module:  # noqa: ANN401
    if kind not in KINDS:
        raise BadInput(f"no graft is called {kind}", remedy=f"choose from {', '.join(KINDS)}")
    with seeded(seed):
        graft = KINDS[kind](int(host.config.hidden_size), what, settings)
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
    """Let a grafted encoder read without its knowledge for a while, just as its host did."""
    token = _OFF.set(_OFF.get() | {id(grafts_of(host))})
    try:
        yield
    finally:
        _OFF.reset(token)


@contextmanager
def looking() -> Iterator[dict[int, Looked]]:
    """Keep what the grafts look at, by layer, of each reading while the block runs."""
    seen: dict[int, Looked] = {}
    token = _LOOKING.set(seen)
    try:
        yield seen
    finally:
        _LOOKING.reset(token)


def grafts_of(host: PreTrainedModel) -> Grafts:
    """Return what is grafted onto a host."""
    grafts = getattr(host, "grafts", None)
    if not isinstance(grafts, Grafts):
        raise BadInput("nothing is grafted onto this encoder", remedy="attach(model, {5: …})")
    return grafts
