"""The grafted encoder: an encoder that looks up what is known of a text by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch

from kgraft.errors import BadInput
from kgraft.graft.attach import Grafts, attach, grafts_of
from kgraft.graft.kinds import KINDS, Kind
from kgraft.graft.knowledge import Knowledge
from kgraft.graft.noticed import Noticed
from kgraft.graft.recipe import from_recipe
from kgraft.graft.saving import GraftConfig, load_weights, read_config, save_grafts
from kgraft.text.encoder import Encoder
from kgraft.text.mention_batch import MentionBatch
from kgraft.text.windows import Windows
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

    def mentions(self, numbers: np.ndarray) -> dict[int, MentionBatch]:
        """Return the mentions of some windows, by layer."""
        return {layer: noticed.batch(numbers) for layer, noticed in self.noticed.items()}


class GraftedEncoder(Encoder):
    """An encoder with knowledge: `GraftedEncoder(Encoder.load(), {5: knowledge})`.

    Texts go in as before; `encode`, `windows` and `encode_tokens` find the mentions themselves.
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
            encoder.model, encoder.tokenizer, name=encoder.name, max_length=encoder.max_length
        )
        if knowledge:
            attach(self.model, knowledge, kind=kind, settings=settings, seed=seed)

    @property
    def grafts(self) -> Grafts:
        """What is grafted."""
        return grafts_of(self.model)

    def plain_windows(self, texts: Sequence[str]) -> Windows:
        """Cut texts into windows that know nothing of their mentions."""
        return super()._cut(texts, self.max_length // 4, offsets=True)

    def _cut(self, texts: Sequence[str], overlap: int | None, *, offsets: bool) -> Windows:  # noqa: ARG002
        windows = super()._cut(texts, overlap, offsets=True)
        known = self.grafts.knowledge.items()
        return NoticedWindows.of(
            windows, {layer: Noticed.of(windows, what.find(texts)) for layer, what in known}
        )

    def read(self, ids: torch.Tensor, mask: torch.Tensor, **beside: Any) -> torch.Tensor:  # noqa: ANN401
        """Return a vector for each token of padded windows; `knowledge` are mentions by layer."""
        given: Mapping[int, MentionBatch] | None = beside.get("knowledge")
        if given is not None:
            held = {layer: found.to(self.device) for layer, found in given.items()}
            beside = beside | {"knowledge": held}
        return super().read(ids, mask, **beside)

    def beside(self, windows: Windows, numbers: np.ndarray) -> dict[str, Any]:
        """Return the mentions of some windows, by layer."""
        if not isinstance(windows, NoticedWindows):
            return {}
        return {"knowledge": windows.mentions(numbers)}

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
