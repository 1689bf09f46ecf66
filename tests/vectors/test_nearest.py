"""The best rows over blocks do not depend on how the rows are cut."""

import numpy as np
import pytest
import torch

from kgraft.vectors.nearest import nearest_rows


@pytest.mark.parametrize("size", [1, 7, 50, 100])
def test_the_cut_does_not_matter(size, random_vectors):
    vectors, query = random_vectors(50, 8), random_vectors(1, 8, seed=1)[0]
    cuts = [np.arange(first, min(first + size, 50)) for first in range(0, 50, size)]
    blocks = ((cut, vectors[torch.from_numpy(cut)]) for cut in cuts)
    found, cosines = nearest_rows(blocks, query, 5)
    expected = torch.cosine_similarity(vectors, query[None]).topk(5)
    assert found.tolist() == expected.indices.tolist()
    assert cosines == pytest.approx(expected.values.numpy(), abs=1e-6)


def test_very_long_and_very_short_rows_are_compared_alike():
    rows = torch.tensor([[1e30, 0.0], [1e-30, 0.0], [0.0, 1.0]])
    found, cosines = nearest_rows([(np.arange(3), rows)], torch.tensor([1.0, 0.0]), 3)
    assert found.tolist() == [0, 1, 2]
    assert cosines == pytest.approx([1, 1, 0])
