"""What the graph says of an entity: case of its label, degree, description."""

import numpy as np

from kgraft.link.facts import KNOWN, entity_facts


def test_facts_are_case_degree_and_description(graph):
    rows = graph.numbers_of(["germany", "euro", "nameless", "tokyo"])
    expected = [
        [1, np.log1p(9) / KNOWN, 0],  # its river at each third of 16, and four triples more
        [0, np.log1p(2) / KNOWN, 1],
        [0, 0, 1],
        [1, 0, 0],
    ]
    np.testing.assert_allclose(entity_facts(graph)[rows], expected, rtol=1e-6)


def test_without_entities_there_are_no_facts(nothing):
    assert entity_facts(nothing).shape == (0, 3)
