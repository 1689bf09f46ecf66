"""The memory of facts: what a graph says that fits a text, with the attention on it.

Every (entity, relation) of the graph is a slot; its key k is what an encoder makes of both in
words, its value the entities at the other end. For a text with vector q,

    a_i = softmax_i((q · k_i + b_i) / τ)  over the best M slots        answer(v) = Σ_i a_i [v_i = v]

where b_i says how likely the text names the entity of the slot. The slots are those of the entities
that the text may name; where it names none, those of the whole graph.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kgraft.arrays import expand
from kgraft.errors import BadInput
from kgraft.graph import EntityLike, Graph, Mentions
from kgraft.graph.names import NameMatcher
from kgraft.measure import Queries
from kgraft.progress import Progress
from kgraft.reason.memory.attention import attend
from kgraft.reason.memory.context import Context
from kgraft.reason.memory.index import SlotIndex, table_folder
from kgraft.reason.memory.recalled import RecalledAnswer, RecalledFact
from kgraft.reason.memory.settings import RecallSettings
from kgraft.reason.memory.slots import SlotWords, distinct_facts, most_connected, slots_of
from kgraft.vectors import TextCache

if TYPE_CHECKING:
    from kgraft.text import Encoder, StaticEncoder


class Attention(NamedTuple):
    """Slots that a text attends to, best first."""

    slots: Queries
    row: np.ndarray  # (M,) of the slots
    weight: np.ndarray  # (M,) a_i


class FactMemory:
    """The facts of a graph as slots that texts attend to.

    Nothing is encoded before it is needed: for a text that names entities only their slots, for one
    that names none all slots of the graph, once (`fill`). Vectors are kept in kgraft's cache by
    their words, so that a graph that grew costs what is new. `encoder` is an encoder, a static one,
    a folder or a name; None is the default encoder. `cache` names a folder; False keeps vectors in
    memory and in a temporary folder. A memory may be used from several threads at once.

    >>> memory = FactMemory(Graph.open("world"), cache=False)
    >>> memory.recall("What is the capital of Peru?", limit=1)[0].words
    'Lima is the capital of Peru.'
    """

    def __init__(
        self,
        graph: Graph,
        encoder: Encoder | StaticEncoder | str | Path | None = None,
        *,
        settings: RecallSettings | None = None,
        cache: bool | str | Path = True,
    ) -> None:
        self.graph, self.settings = graph, settings or RecallSettings()
        self.encoder = _loaded(encoder)
        self.words = SlotWords(graph)
        folder = table_folder(self.encoder.identity, cache)
        texts = TextCache(self.encoder, cache=cache)
        self.index = SlotIndex(graph, self.words, texts, folder)  # all slots, once `fill` ran
        self._matcher = NameMatcher(graph)

    def __repr__(self) -> str:
        return f"<FactMemory of {self.graph.manifest.name}: {len(self.graph.triples):,} facts>"

    def fill(self, *, progress: Progress | None = None) -> int:
        """Encode all slots that are not in the cache, and return how many texts that was.

        An interrupted call resumes.
        """
        return self.index.fill(progress=progress)

    def encode(self, entities: np.ndarray, relations: np.ndarray) -> np.ndarray:
        """Return the vectors of entities with relations in words, (n, D), facts or not."""
        return self.index.take(self.words(entities, relations))

    def recall(
        self,
        text: str,
        *,
        limit: int = 10,
        entities: Iterable[EntityLike] | None = None,
        mentions: Mentions | None = None,
        everywhere: bool = False,
        progress: Progress | None = None,
    ) -> list[RecalledFact]:
        """Return the facts that fit a text, best first.

        The entities that the text names are looked for by their names, unless `entities` or a
        linker's `mentions` of the text are given. `everywhere` looks at the whole graph, as is done
        anyway where none of the entities has a fact. Facts that differ at the other end only are
        one result, which lists the best connected ones and says how many there are.
        """
        if limit < 1:
            raise BadInput(f"limit is {limit}", remedy="give 1 or more")
        context = None if everywhere else self._context(text, entities, mentions)
        attention = self._attend(text, context, limit, progress)
        return self._results(attention, limit)

    def answer(
        self,
        text: str,
        *,
        limit: int = 10,
        entities: Iterable[EntityLike] | None = None,
        mentions: Mentions | None = None,
        everywhere: bool = False,
        progress: Progress | None = None,
    ) -> list[RecalledAnswer]:
        """Return the entities that the recalled facts lead to, by the attention on them.

        The options are those of `recall`.
        """
        if limit < 1:
            raise BadInput(f"limit is {limit}", remedy="give 1 or more")
        context = None if everywhere else self._context(text, entities, mentions)
        attention = self._attend(text, context, limit, progress)
        return self._answers(attention, limit)

    def _context(
        self,
        text: str,
        entities: Iterable[EntityLike] | None,
        mentions: Mentions | None,
    ) -> Context:
        if entities is not None:
            return Context.of_entities(np.array([self.graph.index(e) for e in entities], np.int64))
        if mentions is None:
            mentions = self._matcher.find([text])
        return Context.of_mentions(mentions, self.settings)

    def _attend(
        self, text: str, context: Context | None, limit: int, progress: Progress | None
    ) -> Attention:
        """Return the best slots of a context, or of the whole graph where it has none."""
        query = self.encoder.encode([text])[0]
        most = max(self.settings.slots, limit)
        slots = None if context is None else slots_of(self.graph, context.entity)
        if slots is None or context is None or not len(slots):
            self.fill(progress=progress)
            slots = self.index.slots
            row, score = self.index.search(query, most)
        else:
            row = np.arange(len(slots))
            score = self.encode(slots.entity, slots.relation) @ query
            score += context.bonus_of(slots.entity)
        best, weight = attend(score[None], most, self.settings.temperature)
        return Attention(slots, row[best[0]], weight[0])

    def _results(self, attention: Attention, limit: int) -> list[RecalledFact]:
        slots, best = attention.slots, attention.row
        row = distinct_facts(slots, best, limit)
        weight = attention.weight[np.flatnonzero(np.isin(best, row))].tolist()
        counts = (slots.bounds[row + 1] - slots.bounds[row]).tolist()
        shown = most_connected(self.graph, slots, row, self.settings.shown)
        inverse, relation = np.divmod(slots.relation[row], slots.relations)
        return [
            RecalledFact(
                entity,
                self.graph.all_relations[relation[n]],
                not inverse[n],
                tuple(self.graph.entities_at(shown[n])),
                counts[n],
                weight[n],
            )
            for n, entity in enumerate(self.graph.entities_at(slots.entity[row]))
        ]

    def _answers(self, attention: Attention, limit: int) -> list[RecalledAnswer]:
        """Return the entities that the best slots hold: answer(v) of each."""
        slots, row, weight = attention
        owner, position = expand(slots.bounds[row], slots.bounds[row + 1])
        other, inverse = np.unique(slots.answer[position], return_inverse=True)
        score = np.bincount(inverse, weights=weight[owner], minlength=len(other))
        best = np.argsort(-score, kind="stable")[:limit]
        chosen = zip(best.tolist(), self.graph.entities_at(other[best]), strict=True)
        holders = row[owner]
        return [
            RecalledAnswer(
                entity,
                float(score[n]),
                tuple(
                    self._fact_ids(slots, holder, entity.index)
                    for holder in holders[inverse == n].tolist()
                ),
            )
            for n, entity in chosen
        ]

    def _fact_ids(self, slots: Queries, row: int, other: int) -> tuple[str, str, str]:
        """Return the ids of the fact by which a slot holds an entity."""
        is_inverse, relation = divmod(int(slots.relation[row]), slots.relations)
        ids = self.graph.id_column
        ends = ids[int(slots.entity[row])], ids[other]
        head, tail = ends[::-1] if is_inverse else ends
        return head, self.graph.all_relations[relation].id, tail


def _loaded(encoder: Encoder | StaticEncoder | str | Path | None) -> Encoder | StaticEncoder:
    from kgraft.text import Encoder, StaticEncoder

    return encoder if isinstance(encoder, Encoder | StaticEncoder) else Encoder.load(encoder)
