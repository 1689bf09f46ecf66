"""The grafted encoder: an encoder that looks up what is known of a text by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
from transformers import PreTrainedModel

from kgraft.errors import BadInput
from kgraft.graft.attach import Grafts, attach, grafts_of
from kgraft.graft.kinds import KINDS, Kind
from kgraft.graft.knowledge import Knowledge
from kgraft.graft.mentions import Mentions
from kgraft.graft.noticed import Noticed
from kgraft.graft.recipe import from_recipe
from kgraft.graft.saving import GraftConfig, load_weights, read_config, save_grafts
from kgraft.text import Encoder, Windows
from kgraft.training.folder import differences


@dataclass(frozen=True)
class NoticedWindows(Windows):
    """Windows that know the mentions in them, for each layer with a graft."""

    noticed: Mapping[int, Noticed]
    follows: np.ndarray | None = None  # (W,) what is known of the second half, see `next_sentence`
    hidden: np.ndarray | None = None  # (W,) the token for which the mask token stands already

    @classmethod
    def of(cls, windows: Windows, noticed: Mapping[int, Noticed]) -> Self:
        """Let windows know their mentions."""
        held = {f.name: getattr(windows, f.name) for f in fields(Windows)}
        return cls(**held, noticed=noticed)

    def mentions(self, numbers: np.ndarray) -> dict[int, Mentions]:
        """Return the mentions of some windows, by layer."""
        return {layer: noticed.batch(numbers) for layer, noticed in self.noticed.items()}


class MentionInputs:
    """The mentions of windows, as extra inputs of an encoder with grafts."""

    def __init__(self, host: PreTrainedModel) -> None:
        self.host = host

    def annotate(self, windows: Windows, texts: Sequence[str]) -> NoticedWindows:
        """Find the mentions of texts and put them into their windows."""
        knowledge = grafts_of(self.host).knowledge
        mentions = {layer: Noticed.of(windows, k.find(texts)) for layer, k in knowledge.items()}
        return NoticedWindows.of(windows, mentions)

    def batch(self, windows: Windows, indices: np.ndarray) -> dict[str, Any]:
        """Return the mentions of some windows, by layer."""
        if not isinstance(windows, NoticedWindows):
            return {}
        return {"knowledge": windows.mentions(indices)}


class GraftedEncoder(Encoder):
    """An encoder with knowledge: `GraftedEncoder(Encoder.load(), {5: knowledge})`.

    It reads texts as any encoder does; its extra inputs are the mentions found in them.
    """

    def __init__(
        self,
        encoder: Encoder,
        knowledge: Mapping[int, Knowledge] | None = None,
        *,
        kind: Kind = "attention",
        settings: Mapping[int, Any] | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(
            encoder.model,
            encoder.tokenizer,
            name=encoder.name,
            max_length=encoder.max_length,
            extra_inputs=MentionInputs(encoder.model),
        )
        if knowledge:
            attach(self.model, knowledge, kind=kind, settings=settings, seed=seed)

    @property
    def grafts(self) -> Grafts:
        """What is grafted."""
        return grafts_of(self.model)

    def save_pretrained(
        self, folder: str | Path, *, facts: Mapping[str, Any] | None = None
    ) -> None:
        """Write the grafts, and what changed in the host, to a folder."""
        save_grafts(self.model, Path(folder), self.name, facts)

    @classmethod
    def from_pretrained(
        cls,
        folder: str | Path,
        knowledge: Mapping[int, Knowledge] | None = None,
        *,
        device: str | None = None,
    ) -> Self:
        """Load a grafted encoder, with the knowledge it was saved with.

        What `open_knowledge` made is made again where it is not given.
        """
        config = read_config(Path(folder))
        if knowledge is None:
            held = config.grafts.items()
            knowledge = {int(layer): from_recipe(told["knowledge"]) for layer, told in held}
        encoder = Encoder.load(config.host, device=device)
        _check_knowledge(config, knowledge, str(folder))
        for layer, told in config.grafts.items():
            settings = KINDS[told["kind"]].settings_class(**told["settings"])
            only = {int(layer): settings}
            attach(
                encoder.model, {int(layer): knowledge[int(layer)]}, kind=told["kind"], settings=only
            )
        load_weights(encoder.model, Path(folder), config)
        return cls(encoder)


def _check_knowledge(config: GraftConfig, knowledge: Mapping[int, Knowledge], folder: str) -> None:
    """Refuse knowledge that is not what the graft was made with."""
    for layer, told in config.grafts.items():
        given = knowledge.get(int(layer))
        if given is None:
            raise BadInput(
                f"no knowledge for layer {layer}",
                file=folder,
                remedy=f"give that of {told['knowledge'].get('name')}",
            )
        changes = differences(told["knowledge"], given.identity())
        if changes:
            raise BadInput(
                f"was made with other knowledge after layer {layer}: {', '.join(changes)}",
                file=folder,
            )
