import bz2
import gzip

import pytest

from kgraft.errors import BadInput
from kgraft.graph import Refusals
from kgraft.graph.io.lines import numbered_lines
from kgraft.progress import Silent
from kgraft.streams import open_bytes

TEXT = "first\nsecond \u2028 still second\r\n\nlast".encode()


class Recorder:
    def __init__(self):
        self.total, self.done = None, 0

    def start(self, what, total=None):
        self.total = total

    def advance(self, amount=1):
        self.done += amount


def lines_of(path, refusals=None):
    return list(numbered_lines(path, refusals or Refusals(), Silent()))


@pytest.mark.parametrize(
    ("suffix", "pack"), [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress)]
)
def test_lines_are_numbered_and_end_at_line_feeds_only(tmp_path, suffix, pack):
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(pack(TEXT))
    expected = [(1, "first"), (2, "second \u2028 still second"), (3, ""), (4, "last")]
    assert lines_of(path) == expected


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_progress_counts_the_bytes_on_disk(tmp_path, suffix):
    path = tmp_path / f"a.txt{suffix}"
    data = TEXT * 10_000
    path.write_bytes(gzip.compress(data) if suffix else data)
    progress = Recorder()
    with open_bytes(path, progress) as stream:
        assert stream.read() == data
    assert progress.total == progress.done == path.stat().st_size


def test_several_gzip_members_are_one_stream(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"a\n") + gzip.compress(b"b\n"))
    assert lines_of(path) == [(1, "a"), (2, "b")]


def test_byte_order_mark_is_dropped_once(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffone\n\ufefftwo\n".encode())
    assert lines_of(path) == [(1, "one"), (2, "\ufefftwo")]


def test_only_one_carriage_return_is_dropped(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"a\r\r\nb\rc\n")
    assert lines_of(path) == [(1, "a\r"), (2, "b\rc")]


def test_invalid_utf8_is_refused_with_its_line(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"good\nb\xffd\ngood\n")
    with pytest.raises(BadInput, match=r"a\.txt:2: .*0xff"):
        lines_of(path)
    refused = tmp_path / "refused.txt"
    refusals = Refusals(skip=True, path=refused)
    with refusals:
        assert [number for number, _ in lines_of(path, refusals)] == [1, 3]
    assert refusals.reasons == {"invalid UTF-8": 1}
    assert refused.read_text().endswith("b\\xffd\n")


@pytest.mark.parametrize(
    ("suffix", "pack", "command"),
    [(".gz", gzip.compress, "gzip -t"), (".bz2", bz2.compress, "bzip2 -t")],
)
@pytest.mark.parametrize("keep", [0, 5, -4])
def test_truncated_files_are_refused(tmp_path, suffix, pack, command, keep):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(pack(TEXT * 100)[:keep])
    with pytest.raises(BadInput, match=f"truncated.*{command}"):
        lines_of(path)


@pytest.mark.parametrize("suffix", [".gz", ".bz2"])
def test_damaged_files_are_refused(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"this is no packed file at all")
    with pytest.raises(BadInput, match="is damaged"):
        lines_of(path)


def test_a_flipped_byte_in_gzip_is_noticed(tmp_path):
    path = tmp_path / "a.gz"
    data = bytearray(gzip.compress(TEXT * 100))
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(BadInput, match=r"damaged|truncated"):
        lines_of(path)


def test_missing_files_and_folders_are_refused(tmp_path):
    with pytest.raises(BadInput, match="no such file; check the path"):
        lines_of(tmp_path / "none")
    with pytest.raises(BadInput, match="cannot be read"):
        lines_of(tmp_path)
