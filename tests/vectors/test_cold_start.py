"""Ways to find a vector are tried in order."""

import numpy as np
import torch

from kgraft.vectors import FallbackChain
from kgraft.vectors.cold_start import ColdStart, ColdStartVectors
from kgraft.vectors.trained import TrainedRows


class Knows(ColdStart):
    """Knows some entities, each by a vector of its own number."""

    def __init__(self, origin, *entities):
        self.origin, self.entities, self.asked = origin, entities, []

    def fill(self, entities, trained):
        self.asked += entities.tolist()
        filled = ColdStartVectors.none(len(entities), trained.dimension)
        places = np.flatnonzero(np.isin(entities, self.entities))
        vectors = torch.from_numpy(entities[places]).float()[:, None].expand(-1, 2)
        filled.put(places, vectors, self.origin)
        return filled


def test_the_first_that_knows_wins(towns, stored):
    rows = TrainedRows(stored(torch.zeros(1, 2), ["paris"]), towns)
    first, second = Knows("neighbours", 3), Knows("text", 3, 5)
    third = Knows("text")
    filled = FallbackChain(first, second, third).fill(np.array([5, 3, 4]), rows)
    assert filled.origin.tolist() == ["text", "neighbours", "none"]
    assert filled.vectors.tolist() == [[5, 5], [3, 3], [0, 0]]
    assert (second.asked, third.asked) == ([5, 4], [4])


def test_no_way_at_all_knows_nothing(towns, stored):
    rows = TrainedRows(stored(torch.zeros(1, 2), ["paris"]), towns)
    assert FallbackChain().fill(np.array([1]), rows).origin.tolist() == ["none"]
