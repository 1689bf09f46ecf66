"""Settings of grafts: their sizes, how they are trained and how they are stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kgraft.errors import BadInput
from kgraft.settings import EPOCHS, EPOCHS_OR_NONE, FRACTION, RANK, RATE, SIZE, Settings, setting
from kgraft.training import TrainingSettings

WIDTH = (1, 1 << 16)  # of the vectors inside a graft
LAYERS = (0, 1000)


@dataclass(frozen=True)
class AttentionSettings(Settings):
    """The sizes of a knowledge attention."""

    size: int = setting(300, "Size of an entity's vector inside (E).", WIDTH)
    heads: int = setting(4, "Attention heads.", WIDTH)
    inner: int = setting(1024, "Size of the feed-forward parts.", WIDTH)
    score: int = setting(100, "Hidden units of the candidate's score.", WIDTH)
    threshold: float | None = setting(
        0.0, "Score below which a candidate does not count (δ); None: all count, NULL does not."
    )
    dropout: float = setting(0.1, "Dropout.", FRACTION)
    log_prior: bool = setting(False, "Let the score read log p, and start as that.")
    own_size: int = setting(
        0,
        "Size of a vector that is learned per entity, besides the one it comes with.",
        (0, WIDTH[1]),
    )

    def check(self) -> None:
        """Refuse a size that the heads cannot divide."""
        if self.size % self.heads:
            raise BadInput(
                f"size {self.size} cannot be divided by {self.heads} heads",
                remedy=f"give a multiple of {self.heads}",
            )


@dataclass(frozen=True)
class InjectionSettings(Settings):
    """How vectors are injected."""

    method: str = setting("add", "Add to what is read, or concatenate.", choices=("add", "concat"))


@dataclass(frozen=True)
class GraftSettings(TrainingSettings):
    """How grafts are trained; the rates are those of the paper for a host of 12 layers.

    In the first epochs (`linker_epochs`) the linker inside the grafts learns alone, from mentions
    whose entity is known. Then all but the entity vectors learns: from batches with masked words
    and batches with known mentions, mixed.
    """

    linker_epochs: int = setting(2, "Epochs in which only the linker learns.", EPOCHS_OR_NONE)
    epochs: int = setting(
        3, "Epochs in which everything learns, after those of the linker.", EPOCHS_OR_NONE
    )
    patience: int | None = setting(
        3, "Validations without a better figure before training stops.", EPOCHS
    )
    linker_loss: str | None = setting(
        None,
        "Loss of the linker; by default margin where perhaps no candidate is right",
        choices=("likelihood", "margin"),
    )
    masked_fraction: float = setting(
        0.5, "Fraction of the later batches that are read with masked words.", FRACTION
    )
    gold_fraction: float = setting(
        0.0,
        "Fraction of those in which annotated mentions stay known, and are masked often.",
        FRACTION,
    )
    rank: int | None = setting(
        None, "Rank of the changes to the host, for a small file; by default all its weights.", RANK
    )
    frozen_layers: int = setting(
        0, "Layers of the host at the bottom, with the word vectors, that do not learn.", LAYERS
    )
    batch_tokens: int = setting(2048, "Tokens per batch, padding included.", SIZE)
    linker_rate: float = setting(1e-3, "Learning rate of the linker while it learns alone.", RATE)
    graft_rate: float = setting(1e-4, "Learning rate of the grafts.", RATE)
    host_rate: float = setting(2e-5, "Learning rate of the host below the first graft.", RATE)
    above_rate: float = setting(5e-5, "Learning rate of the host above it.", RATE)
    head_rate: float = setting(5e-4, "Learning rate of the head for masked words.", RATE)
    weight_decay: float = setting(0.01, "Weight decay of AdamW.", FRACTION)

    @property
    def all_epochs(self) -> int:
        """How many epochs there are in all."""
        return self.linker_epochs + self.epochs

    @property
    def masks_words(self) -> bool:
        """Whether any batch is read with masked words."""
        return bool(self.masked_fraction and self.epochs)

    def without_knowledge(self) -> GraftSettings:
        """Return the settings of a training of the same length without knowledge."""
        return self.replace(
            linker_epochs=0, epochs=self.all_epochs, masked_fraction=1.0, gold_fraction=0.0
        )


@dataclass(frozen=True)
class TextSettings(Settings):
    """How knowledge prepares the texts that a graft is trained on."""

    next_sentence: bool = setting(
        False, "Read the texts of a document in pairs, and learn which follow one another."
    )
    open_vocabulary: bool = setting(
        False, "Look words up as in any text, not by their annotated lemma and part of speech."
    )
    exclude_own_counts: bool = setting(
        False, "Leave out of the priors of senses what a document itself added to the counts."
    )


@dataclass(frozen=True)
class KnowledgeConfig(Settings):
    """How knowledge is opened; a saved graft opens its own again."""

    graph: str
    kind: str = "graph"  # see `kgraft.graft.knowledge`
    vectors: tuple[str, ...] = ()  # folders of 'kgraft embed train'
    hypernym_relations: tuple[str, ...] = ()
    mask_token: str | None = None
    facts: str | None = None  # a file of predicted facts

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as they are stored: `facts` only where it is set."""
        stored = super().to_dict()
        return stored if self.facts is not None else {n: stored[n] for n in stored if n != "facts"}


@dataclass(frozen=True)
class GraftConfig(Settings):
    """What a saved graft is made of."""

    host: str  # its name or folder
    host_digest: str  # of its weights, before anything was grafted
    grafts: dict[str, Any]  # by layer: kind, settings, knowledge
    rank: int | None = None  # of the adapters of the host
