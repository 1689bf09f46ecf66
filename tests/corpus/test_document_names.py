"""Which texts of a file belong to one document."""

import json

import pytest

from kgraft.corpus import read_document_names


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a.1", "a.2", "b.1"], ["a", "a", "b"]),
        (["a.1", "b.1", "a.2"], None),  # no two neighbours
        (["a.1", "a.2", "3"], None),
        ([None, None], None),
    ],
)
def test_ids_name_documents(tmp_path, names, expected):
    path = tmp_path / "texts.jsonl"
    lines = [{"text": "x", "mentions": []} | ({"id": n} if n else {}) for n in names]
    path.write_text("\n".join(map(json.dumps, lines)))
    assert read_document_names(path) == expected
