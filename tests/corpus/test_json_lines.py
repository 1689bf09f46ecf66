"""JSON Lines: lines with their numbers, plain or packed."""

import gzip

import pytest

from kgraft.corpus import has_field, read_json_lines
from kgraft.errors import NotFound


def test_lines_keep_their_numbers_when_empty_ones_are_left_out(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b"\xef\xbb\xbf[1]\n\n  \n[2]")
    assert [(number, line.strip()) for number, line in read_json_lines(file)] == [
        (1, "[1]"),
        (4, "[2]"),
    ]


def test_a_packed_file_is_read_in_place_of_one_that_does_not_exist(tmp_path):
    (tmp_path / "rows.jsonl.gz").write_bytes(gzip.compress(b"[1]\n"))
    assert [line.strip() for _, line in read_json_lines(tmp_path / "rows.jsonl")] == ["[1]"]
    (tmp_path / "rows.jsonl").write_text("[2]\n")
    assert [line.strip() for _, line in read_json_lines(tmp_path / "rows.jsonl")] == ["[2]"]


def test_a_file_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(NotFound, match=r"gone\.jsonl"):
        list(read_json_lines(tmp_path / "gone.jsonl"))


@pytest.mark.parametrize(
    ("line", "row", "expected"),
    [
        ('{"text": "a", "mentions": []}', 3, True),
        ('{"text": "a", "more": [{"mentions" : 1}]}', 3, True),
        ('{"text": "mentions"}', 3, False),
        ('{"text": "a", "mentions": []}', 30, False),
        ("mentions", 3, False),
    ],
)
def test_the_first_lines_show_the_fields(tmp_path, line, row, expected):
    lines = ['{"text": "a"}'] * 40
    lines[row] = line
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    assert has_field(tmp_path / "rows.jsonl", "mentions") is expected
