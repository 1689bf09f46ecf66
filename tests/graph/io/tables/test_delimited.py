"""Delimited files in blocks give the same cells and lines as cutting the whole file by hand."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.random_inputs import at_most

from kgraft.errors import BadInput
from kgraft.graph.batches import Refusals
from kgraft.graph.io.tables import delimited
from kgraft.graph.io.tables.delimited import DelimitedFile
from kgraft.progress import Silent


def opened(path, content, *, skip=False):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return DelimitedFile(path, Refusals(skip=skip), Silent())


def rows_of(file, *, header=False):
    """All rows with their lines: [(line, [cells])]."""
    rows = []
    for block in file.columns(header=header):
        cells = zip(*(column.to_pylist() for column in block.columns), strict=True)
        rows += [(line, list(row)) for line, row in zip(block.lines.tolist(), cells, strict=True)]
    return rows


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.txt"])
def test_rows_with_their_lines(tmp_path, name):
    mark = "," if name.endswith("csv") else "\t"
    file = opened(tmp_path / name, f"a{mark}b\n\nc{mark}\n{mark}\r\nd{mark}e")
    assert file.quoted == (mark == ",")
    assert file.first == ["a", "b"]
    assert rows_of(file) == [(1, ["a", "b"]), (3, ["c", ""]), (4, ["", ""]), (5, ["d", "e"])]


def test_the_header_is_left_out(tmp_path):
    assert rows_of(opened(tmp_path / "a.tsv", "id\nx\n"), header=True) == [(2, ["x"])]
    assert rows_of(opened(tmp_path / "a.tsv", "id\n"), header=True) == []


@pytest.mark.parametrize("name", ["a.tsv", "a.csv"])
@pytest.mark.parametrize("content", [b"", b"\n", b"\r\n\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_files_without_rows(tmp_path, name, content):
    file = opened(tmp_path / name, content)
    assert file.first is None
    assert rows_of(file) == rows_of(file, header=True) == []


@pytest.mark.parametrize("content", ["a", "a\n", "ab", "abc", "abcd", "\ufeffa"])
def test_very_short_files(tmp_path, content):
    expected = [(1, [content.strip("\ufeff\n")])]
    assert rows_of(opened(tmp_path / "a.tsv", content)) == expected


def test_rows_of_another_width_are_refused(tmp_path):
    content = "a\tb\nc\nd\te\nf\tg\th\n"
    with pytest.raises(BadInput, match=r"a\.tsv:2: wrong number of columns: 1 instead of 2"):
        rows_of(opened(tmp_path / "a.tsv", content))
    file = opened(tmp_path / "a.tsv", content, skip=True)
    assert rows_of(file) == [(1, ["a", "b"]), (3, ["d", "e"])]
    assert file.refusals.reasons == {"wrong number of columns": 2}


def test_a_row_as_text_for_a_report(tmp_path):
    (block,) = opened(tmp_path / "a.tsv", "a\tb\nc\t\n").columns(header=False)
    assert [block.text(row) for row in (0, 1)] == ["a\tb", "c\t"]


def test_quotes_of_csv(tmp_path):
    file = opened(tmp_path / "a.csv", 'a,"b, ""c""\nd"\n"",e\n')
    assert rows_of(file) == [(1, ["a", 'b, "c"\nd']), (3, ["", "e"])]


@pytest.mark.parametrize("content", ['a,"b', 'a,"b"c\n', "a\rb,c\n", 'a,"b\n' * 3])
def test_what_is_no_csv(tmp_path, content):
    with pytest.raises(BadInput, match=r"a\.csv:2: not CSV: .*; mend the line, or leave"):
        rows_of(opened(tmp_path / "a.csv", "x,y\n" + content))


def test_lines_of_csv_stay_right_after_refused_ones(tmp_path):
    content = b'a,b\n\xff,b\n"c\n\n",d\ne,"f"g\nh\n\ni,j\n'
    file = opened(tmp_path / "a.csv", content, skip=True)
    assert rows_of(file) == [(1, ["a", "b"]), (3, ["c\n\n", "d"]), (9, ["i", "j"])]
    expected = {"invalid UTF-8": 1, "not CSV": 1, "wrong number of columns": 1}
    assert file.refusals.reasons == expected


def test_long_cells(tmp_path):
    long = "x" * 300_000
    limit = csv.field_size_limit()
    assert rows_of(opened(tmp_path / "a.tsv", f"a\t{long}\n"))[0][1][1] == long
    assert rows_of(opened(tmp_path / "a.csv", f'a,"{long}"\n'))[0][1][1] == long
    assert csv.field_size_limit() == limit


def test_a_quote_that_is_never_closed_ends_at_the_longest_cell(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "LONGEST", 1000)
    limit = csv.field_size_limit()
    with pytest.raises(BadInput, match=r"a\.csv:2: not CSV: field larger than field limit"):
        rows_of(opened(tmp_path / "a.csv", f'a,b\nc,"never closed\n{"x" * 2000}\n'))
    assert csv.field_size_limit() == limit


def test_csv_is_refused_with_its_lines_as_they_stand(tmp_path):
    refused = []

    class Recorder(Refusals):
        def refuse(self, kind, *, line, text, **_):
            refused.append((kind, line, text))

    path = tmp_path / "a.csv"
    path.write_text('a,b\n"c\nd"e,f\ng,h\n', "utf-8")
    assert rows_of(DelimitedFile(path, Recorder(), Silent())) == [(1, ["a", "b"]), (4, ["g", "h"])]
    assert refused == [("not CSV", 2, '"c\nd"e,f')]


# A # may begin a comment.
CELL = st.text(st.characters(codec="utf-8", exclude_characters="\t\n\r#"), max_size=4)
LINES = st.lists(st.lists(CELL, min_size=2, max_size=2).map("\t".join) | st.just(""), max_size=8)


@settings(max_examples=at_most(60), deadline=None)
@given(
    lines=LINES,
    ending=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
    mark=st.booleans(),
    size=st.integers(1, 12),
)
def test_tsv_is_cut_as_by_hand(tmp_path_factory, lines, ending, last, mark, size):
    path = tmp_path_factory.mktemp("tsv") / "a.tsv"
    text = ending.join(lines) + (ending if last and lines else "")
    expected = [(n, line.split("\t")) for n, line in enumerate(lines, 1) if line]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "BLOCK", size)
        file = opened(path, ("\ufeff" if mark else "") + text)
        if expected and expected[0][1][0].startswith("\ufeff") and not mark:
            expected[0][1][0] = expected[0][1][0][1:]
        assert rows_of(file) == expected


@settings(max_examples=at_most(60), deadline=None)
@given(
    rows=st.lists(st.lists(CELL | st.just("\n") | st.just('"\n,'), min_size=2, max_size=2)),
    size=st.integers(1, 5),
)
def test_csv_comes_back_as_it_was_written(tmp_path_factory, rows, size):
    written = io.StringIO()
    csv.writer(written, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "ROWS", size)
        assert [row for _, row in rows_of(opened(path, written.getvalue()))] == rows
