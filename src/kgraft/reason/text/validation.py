"""How well a text completer answers some queries of the valid split, among some entities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgraft.graph import Graph
from kgraft.measure import Queries, filtered_ranks, rank_figures
from kgraft.reason.text.completer import TextCompleter
from kgraft.reason.text.settings import TextSettings
from kgraft.reason.text.texts import CompletionTexts
from kgraft.training import Purpose, stream


@dataclass(frozen=True)
class Validation:
    """Queries with their answers, and the entities among which these are ranked.

    To rank all entities would take longer than the training between two validations.
    """

    queries: Queries
    rows: np.ndarray  # (Q,) of the queries
    known: Queries
    entities: np.ndarray  # (C,) ascending, the answers among them

    @classmethod
    def of(cls, graph: Graph, settings: TextSettings) -> Validation:
        """Draw queries and entities; a graph without a valid split has no queries."""
        draw = stream(settings.seed, Purpose.VALID)
        relations = graph.manifest.relations
        has_valid = 0 < graph.manifest.splits["valid"] < graph.manifest.triples
        triples = (
            graph.split("valid").triples if has_valid else graph.triples.take(np.zeros(0, int))
        )
        queries = Queries.of(triples, relations)
        rows = np.sort(draw.permutation(len(queries))[: settings.valid_queries])
        others = draw.permutation(len(graph))[: settings.valid_entities]
        entities = np.union1d(queries.answers(rows)[1], others)
        return cls(queries, rows, Queries.of(graph.whole().triples, relations), entities)

    def figures(self, completer: TextCompleter, texts: CompletionTexts) -> dict[str, float]:
        """Return MRR and Hits, other known answers left out; nothing without queries."""
        if not len(self.rows):
            return {}
        batch = self.queries.batch(self.rows)
        asked, entities = (
            completer.encoder.encode(part.to_pylist())
            for part in (texts.queries(batch.entity, batch.relation), texts.entities(self.entities))
        )
        row, answer = self.queries.answers(self.rows)
        other_row, other = self.known.known(batch)
        is_ranked = np.isin(other, self.entities)
        ranks = filtered_ranks(
            asked @ entities.T,
            row,
            np.searchsorted(self.entities, answer),
            other_row[is_ranked],
            np.searchsorted(self.entities, other[is_ranked]),
        )
        return rank_figures(ranks)
