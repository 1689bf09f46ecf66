"""The grafted encoder: an encoder that looks up what is known of a text by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from transformers import PreTrainedModel

from kgraft.errors import BadInput
from kgraft.graft.graft_folder import GraftFolder
from kgraft.graft.grafting import Grafts, attach, grafts_of
from kgraft.graft.interfaces import Knowledge
from kgraft.graft.kinds import GRAFTS
from kgraft.graft.opening import reopen_knowledge
from kgraft.graft.settings import GraftConfig
from kgraft.graft.windows import LocatedMentions, MentionWindows
from kgraft.text import Encoder, Windows
from kgraft.training import differences


class MentionInputs:
    """The mentions of windows, as extra inputs of an encoder with grafts."""

    def __init__(self, host: PreTrainedModel) -> None:
        self.host = host

    def annotate(self, windows: Windows, texts: Sequence[str]) -> MentionWindows:
        """Find the mentions of texts and put them into their windows."""
        located = {
            layer: LocatedMentions.of(knowledge.find(texts), windows)
            for layer, knowledge in grafts_of(self.host).knowledge.items()
        }
        return MentionWindows.of(windows, located)

    def batch(self, windows: Windows, indices: np.ndarray) -> dict[str, Any]:
        """Return the mentions of some windows, by layer."""
        if not isinstance(windows, MentionWindows):
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
        kind: str = "attention",
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
        GraftFolder.of(self.model, self.name).save_pretrained(folder, facts=facts)

    @classmethod
    def from_pretrained(
        cls,
        folder: str | Path,
        knowledge: Mapping[int, Knowledge] | None = None,
        *,
        device: str | None = None,
    ) -> Self:
        """Load a grafted encoder, with the knowledge it was saved with.

        What `open_knowledge` opened is opened again where it is not given.
        """
        saved = GraftFolder.from_pretrained(folder)
        specs = {int(layer): spec for layer, spec in saved.config.grafts.items()}
        if knowledge is None:
            knowledge = {n: reopen_knowledge(spec["knowledge"]) for n, spec in specs.items()}
        _check_knowledge(saved.config, knowledge, str(folder))
        encoder = Encoder.load(saved.config.host, device=device)
        for layer, spec in specs.items():
            kind = spec["kind"]
            settings = GRAFTS[kind].settings_class.from_dict(spec["settings"])
            attach(encoder.model, {layer: knowledge[layer]}, kind=kind, settings={layer: settings})
        saved.load_into(encoder.model, Path(folder))
        return cls(encoder)


def _check_knowledge(config: GraftConfig, knowledge: Mapping[int, Knowledge], folder: str) -> None:
    """Refuse knowledge that is not what the graft was made with."""
    for layer, spec in config.grafts.items():
        source, identity = knowledge.get(int(layer)), spec["knowledge"]
        if source is None:
            raise BadInput(
                f"no knowledge for layer {layer}",
                file=folder,
                remedy=f"give that of {identity.get('name')}",
            )
        changes = differences(identity, source.identity())
        if changes:
            raise BadInput(
                f"was made with other knowledge after layer {layer}: {', '.join(changes)}",
                file=folder,
            )
