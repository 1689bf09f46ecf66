"""Files that are made to fill the memory are refused; a limit that is raised lets them through."""

import bz2
import gzip

import pytest

from kgraft import streams as stream
from kgraft.errors import BadInput
from kgraft.graph import open_source
from kgraft.graph.io.lines import numbered_lines
from kgraft.streams import unpack_ratio

LINE = b"<http://e.org/a> <http://e.org/r> <http://e.org/b> .\n"


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Limits that small files reach."""
    monkeypatch.setattr(stream, "FREE", 1 << 16)
    monkeypatch.setattr(stream, "LONGEST", 1 << 16)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("g.nt.gz", gzip.compress(LINE * 20_000)),
        ("g.nt.bz2", bz2.compress(LINE * 20_000)),
        ("g.jsonl.gz", gzip.compress(b" " * 1_000_000)),
        ("g.rdf.gz", gzip.compress(b"<a " + b" " * 1_000_000)),
        ("g.tsv.gz", gzip.compress(b"a\tr\tb\n" * 200_000)),
        ("g.csv.gz", gzip.compress(b"a,r,b\n" * 200_000)),
    ],
)
def test_what_unpacks_to_far_too_much_is_refused(tmp_path, collect, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match="unpacks to more than") as error:
        collect(open_source(tmp_path / name))
    assert error.value.file == str(tmp_path / name)


def test_the_ratio_may_be_raised(tmp_path, collect):
    (tmp_path / "g.nt.gz").write_bytes(gzip.compress(LINE * 20_000))
    with unpack_ratio(2000):
        assert len(collect(open_source(tmp_path / "g.nt.gz")).triples) == 20_000
    with pytest.raises(BadInput, match="more than 200 times"):
        collect(open_source(tmp_path / "g.nt.gz"))


@pytest.mark.parametrize("name", ["g.nt", "g.jsonl", "g.tsv", "g.csv", "dump.json", "g.nt.gz"])
def test_a_line_without_an_end_is_refused(tmp_path, collect, name):
    content = b" " * 3_000_000
    (tmp_path / name).write_bytes(gzip.compress(content) if name[-1] == "z" else content)
    with unpack_ratio(10_000), pytest.raises(BadInput, match="a line is longer than"):
        collect(open_source(tmp_path / name))


def test_long_lines_below_the_limit_are_read(tmp_path, collect):
    from kgraft.graph import Refusals
    from kgraft.progress import Silent

    lines = ["a" * 60_000] * 50
    (tmp_path / "t.txt").write_text("\n".join(lines))
    read = numbered_lines(tmp_path / "t.txt", Refusals(), Silent())
    assert [text for _, text in read] == lines
