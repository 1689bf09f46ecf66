"""Streams of documents: a line for each, resumed where a run stopped, never with another run's."""

import io
import json

import pytest

from kgraft.corpus import process_documents, read_documents
from kgraft.errors import BadInput, NotFound
from kgraft.storage import sha256

TEXTS = ["Paris", "", "東京", "a\u2028b", "euro", "New York", "end"]


@pytest.fixture
def source(tmp_path):
    """A file of texts with numbers."""
    rows = [json.dumps({"text": text, "number": n}) for n, text in enumerate(TEXTS)]
    (tmp_path / "texts.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path / "texts.jsonl"


@pytest.fixture
def out(tmp_path):
    return tmp_path / "made.jsonl"


class Upper:
    """Writes texts in capitals, and stops after some batches."""

    def __init__(self, batches=100):
        self.batches, self.texts = batches, []

    def __call__(self, documents):
        if not self.batches:
            raise KeyboardInterrupt
        self.batches -= 1
        self.texts += [document["text"] for document in documents]
        return [{**document, "text": document["text"].upper()} for document in documents]


def run(source, out, process=None, **identity):
    process = process or Upper()
    own = {"model": "m", "threshold": "0.5"} | identity
    process_documents(source, out, process, identity=lambda: own, title="writing", batch=2)
    return process.texts


def rows_of(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n")[:-1]]


def partials(tmp_path):
    return sorted(path.name for path in tmp_path.iterdir() if ".partial" in path.name)


@pytest.fixture
def begun(source, out):
    """A run that was interrupted after four texts."""
    with pytest.raises(KeyboardInterrupt):
        run(source, out, Upper(batches=2))
    return out.with_name("made.jsonl.partial")


def test_each_document_is_a_line_with_its_fields(source, out, tmp_path):
    assert run(source, out) == TEXTS
    assert rows_of(out) == [{"text": t.upper(), "number": n} for n, t in enumerate(TEXTS)]
    assert partials(tmp_path) == []


def test_lines_go_to_a_stream(source, out):
    run(source, out)
    stream = io.StringIO()
    run(source, stream)
    assert stream.getvalue() == out.read_text(encoding="utf-8")


def test_plain_lines_are_texts(tmp_path):
    (tmp_path / "texts.txt").write_text("Texas\n\neuro", encoding="utf-8")
    assert [d["text"] for d in read_documents(tmp_path / "texts.txt")] == ["Texas", "", "euro"]


def test_an_empty_file_gives_an_empty_file(tmp_path, out):
    (tmp_path / "texts.txt").write_text("")
    run(tmp_path / "texts.txt", out)
    assert out.read_text() == ""
    assert partials(tmp_path) == []


def test_an_interruption_leaves_what_is_finished_and_a_note(begun, source, out, tmp_path):
    assert partials(tmp_path) == ["made.jsonl.partial", "made.jsonl.partial.json"]
    assert len(rows_of(begun)) == 4
    note = json.loads((tmp_path / "made.jsonl.partial.json").read_text())
    assert note == {"input": sha256(source), "model": "m", "threshold": "0.5"}
    assert not out.exists()


@pytest.mark.parametrize("half", ["", '{"text": "Pa'])
def test_a_killed_run_resumes_after_what_is_finished(begun, source, out, tmp_path, half):
    with begun.open("a", encoding="utf-8") as file:
        file.write(half)
    assert run(source, out) == TEXTS[4:]
    resumed = out.read_bytes()
    out.unlink()
    run(source, out)
    assert out.read_bytes() == resumed
    assert partials(tmp_path) == []


def refused(changed, source, out, **identity):
    partial = out.with_name("made.jsonl.partial")
    before = partial.read_bytes()
    with pytest.raises(BadInput) as error:
        run(source, out, **identity)
    assert f"another {changed}" in error.value.reason
    assert str(partial) in error.value.reason
    assert partial.read_bytes() == before
    assert not out.exists()


def test_another_run_is_not_resumed(begun, source, out):
    refused("model", source, out, model="n")
    refused("model and threshold", source, out, model="n", threshold="0.6")
    source.write_text(source.read_text(encoding="utf-8") + '{"text": "more"}\n', encoding="utf-8")
    refused("input", source, out)


@pytest.mark.parametrize("note", [None, "", "{", "[]"])
def test_a_run_without_a_readable_note_is_not_resumed(begun, source, out, tmp_path, note):
    file = tmp_path / "made.jsonl.partial.json"
    file.unlink()
    if note is not None:
        file.write_text(note)
    refused("input and model and threshold", source, out)


def test_two_runs_do_not_write_one_file(source, out, tmp_path):
    fcntl = pytest.importorskip("fcntl")
    with (tmp_path / "made.jsonl.partial").open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(BadInput, match=r"made\.jsonl\.partial"):
            run(source, out)
    run(source, out)
    assert len(rows_of(out)) == len(TEXTS)
    assert partials(tmp_path) == []


def test_a_file_that_exists_is_kept(source, out):
    out.write_text("mine")
    with pytest.raises(BadInput, match=r"made\.jsonl"):
        run(source, out)
    assert out.read_text() == "mine"


def test_an_input_that_does_not_exist_is_named(tmp_path, out):
    for call in (lambda f: run(f, out), lambda f: list(read_documents(f))):
        with pytest.raises(NotFound, match=r"gone\.txt"):
            call(tmp_path / "gone.txt")
    assert partials(tmp_path) == []


@pytest.mark.parametrize("packed", [b'{"text": "Texas"}\n', b"Texas\n"])
def test_a_byte_order_mark_is_no_part_of_a_text(tmp_path, packed):
    file = tmp_path / ("texts.jsonl" if packed[:1] == b"{" else "texts.txt")
    file.write_bytes(b"\xef\xbb\xbf" + packed)
    assert list(read_documents(file)) == [{"text": "Texas"}]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"text": "a", "more": ' + "[" * 200 + "]" * 200 + "}", "nested too deeply"),
        ('{"text": "a", "score": NaN}', "NaN is not JSON"),
        ('{"text": "a", "score": -Infinity}', "-Infinity is not JSON"),
        ('{"text": 7}', "no text"),
        ("{", "bad JSON"),
    ],
)
def test_a_line_that_cannot_be_written_again_is_refused(tmp_path, line, reason):
    file = tmp_path / "texts.jsonl"
    file.write_text('{"text": "' + "[" * 500 + '"}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(BadInput) as error:
        list(read_documents(file))
    assert (error.value.file, error.value.line) == (str(file), 2)
    assert reason in error.value.reason


@pytest.mark.parametrize("line", ["{", "[]", '{"text": 7}', '"text"', "{}", "", "[" * 100_000])
def test_a_bad_line_is_refused_with_its_number(tmp_path, line):
    file = tmp_path / "texts.jsonl"
    file.write_text(f'{{"text": "Paris"}}\n{line}\n')
    with pytest.raises(BadInput) as error:
        list(read_documents(file))
    assert (error.value.file, error.value.line) == (str(file), 2)
    assert str(error.value).endswith('; write {"text": "…"}')


def test_a_file_must_be_utf8(tmp_path):
    (tmp_path / "texts.txt").write_bytes(b"Paris \xff")
    with pytest.raises(BadInput, match=r"texts\.txt: .*UTF-8"):
        list(read_documents(tmp_path / "texts.txt"))
