"""Unseen entities from their text: text vectors carried over into the space of a trained table."""

from __future__ import annotations

import numpy as np

from kgraft.vectors.cold_start import ColdStart, ColdStartVectors
from kgraft.vectors.entity_vectors import NONE, EntityVectors, same_graph
from kgraft.vectors.ridge import Ridge, fit_ridge
from kgraft.vectors.trained import SAMPLED, TrainedRows


class TextFallback(ColdStart):
    """A ridge regression from text vectors to trained ones, fitted when first needed.

    `text` gives vectors for the graph the table is opened on: usually `TextVectors`. The fit looks
    at a sample of the entities that have a trained row, so those are encoded, too. An entity of
    which the text says nothing stays unknown.
    """

    def __init__(self, text: EntityVectors, *, sample: int = SAMPLED) -> None:
        self.text, self.sample = text, sample
        self._fitted: tuple[TrainedRows, Ridge | None] | None = None

    def fit(self, trained: TrainedRows) -> Ridge | None:
        """Return the regression onto a table; None where no row has a text."""
        if self._fitted is None or self._fitted[0] is not trained:
            same_graph(trained.graph, self.text.graph)
            self._fitted = trained, self._fit(trained)
        return self._fitted[1]

    def _fit(self, trained: TrainedRows) -> Ridge | None:
        entities = trained.sample(self.sample)
        entities = entities[self.text.origin(entities) != NONE]
        if not len(entities):
            return None
        return fit_ridge(self.text.take(entities), trained.take(entities))

    def fill(self, entities: np.ndarray, trained: TrainedRows) -> ColdStartVectors:
        """Return what the regression makes of each entity's text."""
        filled = ColdStartVectors.none(len(entities), trained.dimension)
        ridge = self.fit(trained)
        rows = np.flatnonzero(self.text.origin(entities) != NONE)
        if ridge is not None and len(rows):
            filled.put(rows, ridge(self.text.take(entities[rows])), "text")
        return filled
