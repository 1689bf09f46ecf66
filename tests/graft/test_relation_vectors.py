"""Relations are known by their phrases, and their inverses by others."""

import numpy as np
import torch
from tests.graph.tiny import ENTITIES, build

from kgraft.graft.relation_vectors import relation_vectors


class Letters:
    """An encoder that counts letters."""

    dimension = 26

    def encode(self, texts):
        counts = [[text.lower().count(chr(97 + n)) for n in range(26)] for text in texts]
        return np.array(counts, np.float32).reshape(len(texts), 26)


def test_vectors_are_the_means_of_phrases(graph):
    vectors = relation_vectors(graph, Letters())
    assert vectors.shape == (2 * len(graph.relations), 26)
    torch.testing.assert_close(vectors.norm(dim=1), torch.full((len(vectors),), 26**0.5))
    row = graph.relation("capital").index
    for index, prefix in ((row, ""), (row + len(graph.relations), "inverse of ")):
        texts = [f"{prefix}is the capital of", f"{prefix}capital_of"]
        expected = torch.from_numpy(Letters().encode(texts).sum(0))
        torch.testing.assert_close(vectors[index], 26**0.5 * expected / expected.norm())


def test_a_graph_without_relations(tmp_path):
    assert relation_vectors(build(tmp_path / "g", [], ENTITIES, []), Letters()).shape == (0, 26)
