"""Rows are found by number in the graph of training, by id in any other."""

import numpy as np
import pytest
import torch

from kgraft.errors import BadInput
from kgraft.vectors.trained import TrainedRows

IDS = ["paris", "france", "berlin", "germany", "rhine", "alone"]


def test_in_the_same_graph_numbers_are_rows(towns, stored, random_vectors):
    vectors = random_vectors(6, 3)
    ids = IDS[::-1]  # not looked at
    rows = TrainedRows(stored(vectors, ids, version=towns.manifest.version), towns)
    assert torch.equal(rows.take(np.arange(6)), vectors)
    assert rows.in_order
    assert len(rows.unseen) == 0


def test_in_another_graph_rows_are_found_by_id(towns, stored, random_vectors):
    vectors = random_vectors(5, 3)
    ids = ["rhine", "unknown", "paris", "germany", "france"]
    rows = TrainedRows(stored(vectors, ids, ["borders", "sings", "capital_of"]), towns)
    assert not rows.in_order
    numbers = towns.indices_of([i for i in ids if i != "unknown"])
    assert torch.equal(rows.take(numbers), vectors[[0, 2, 3, 4]])
    assert rows.unseen.tolist() == sorted(towns.indices_of(["berlin", "alone"]).tolist())
    by_id = dict(zip(towns.relations["id"].to_pylist(), rows.relations.tolist(), strict=True))
    assert by_id == {"capital_of": 2, "borders": 0, "flows_in": -1}


def test_a_foreign_graph_is_refused(towns, stored, random_vectors):
    ids = [f"Q{n}" for n in range(5)] + IDS[:4]
    with pytest.raises(BadInput) as caught:
        TrainedRows(stored(random_vectors(9, 2), ids), towns)
    line = str(caught.value)
    assert line.startswith("these vectors were trained on other (version another), not on ")
    assert "only 4 of 9 entities are known; train again: kgraft embed train" in line


def test_half_of_the_table_is_enough(towns, stored, random_vectors):
    ids = [f"Q{n}" for n in range(4)] + IDS[:4]
    assert len(TrainedRows(stored(random_vectors(8, 2), ids), towns).unseen) == 2


def test_a_sample_is_of_known_entities_and_always_the_same(star, stored, random_vectors):
    ids = [f"leaf{n}" for n in range(1, 501)]
    rows = TrainedRows(stored(random_vectors(500, 2), ids), star)
    sample = rows.sample(50)
    assert len(np.unique(sample)) == 50
    assert (rows.rows(sample) >= 0).all()
    assert (sample == rows.sample(50)).all()
    assert len(rows.sample()) == 500


def test_the_usual_length_is_the_median(towns, stored):
    vectors = torch.tensor([[3.0, 4], [1, 0], [0, 2], [0, 9], [7, 0]])
    assert TrainedRows(stored(vectors, IDS[:5]), towns).usual_length == pytest.approx(5)
