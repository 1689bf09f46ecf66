"""Ids get indices in the order of their arrival, as a dictionary would give them."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.graph import id_table
from kgraft.graph.id_table import IdTable
from kgraft.hashing import hash_strings

IDS = st.lists(st.text("abcé\u0000 ", max_size=3), max_size=30)


def narrow_hashes(column, seed):
    """Return hashes of which many are equal under the first seeds."""
    hashes = hash_strings(column, seed)
    return hashes if seed > 2 else hashes % np.uint64(3 + seed)


@pytest.mark.parametrize("make_hashes", [hash_strings, narrow_hashes])
@given(batches=st.lists(st.tuples(IDS, st.booleans()), max_size=8))
def test_indices_are_those_of_a_dictionary(make_hashes, batches):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(id_table, "hash_strings", make_hashes)
        ids, known = IdTable(), {}
        for batch, add in batches:
            if add:
                expected = [known.setdefault(item, len(known)) for item in batch]
            else:
                expected = [known.get(item, -1) for item in batch]
            assert ids.look_up(pa.array(batch, pa.string()), add=add).tolist() == expected
        assert len(ids) == len(known)
        assert list(ids) == ids.column.to_pylist() == list(known)
        assert all(ids.get(item) == index for item, index in known.items())
        assert "no such id" not in ids


def test_there_are_never_many_runs():
    ids = IdTable()
    for first in range(0, 300, 3):
        ids.look_up(pa.array([str(n) for n in range(first, first + 3)]), add=True)
    assert len(ids._runs) <= 8
    assert ids.get("299") == 299
