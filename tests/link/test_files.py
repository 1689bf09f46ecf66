"""Files of links: one line per text, resumed where a run stopped, and never with another one's."""

import io
import json

import pytest
from tests.graph.tiny import build
from tests.link.tiny import link_model

from kgraft.errors import BadInput, NotFound
from kgraft.link import files
from kgraft.link.files import link_file, read_or_link, run_identity
from kgraft.link.linker import Linker
from kgraft.link.linking import LinkOptions
from kgraft.storage import sha256

TEXTS = ["Paris is old.", "", "who rules New York City?", "東京 \ud83d", "the euro"] * 2
WRITTEN = [text.replace("\ud83d", "\ufffd") for text in TEXTS]


@pytest.fixture(scope="module")
def own(graph, encoder_folder):
    """A linker for which names decide, not to be changed."""
    return Linker(graph, link_model(encoder_folder, names_decide=True))


@pytest.fixture
def source(tmp_path):
    """A file of texts with numbers."""
    rows = [json.dumps({"text": text, "number": n}) for n, text in enumerate(TEXTS)]
    (tmp_path / "texts.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path / "texts.jsonl"


@pytest.fixture
def out(tmp_path):
    return tmp_path / "links.jsonl"


@pytest.fixture
def linked(monkeypatch):
    """The texts that are linked from now on, in batches of three."""
    texts, link = [], Linker.link

    def noted(self, batch, **options):
        texts.extend(batch)
        return link(self, batch, **options)

    monkeypatch.setattr(files, "TEXTS_AT_ONCE", 3)
    monkeypatch.setattr(Linker, "link", noted)
    return texts


def rows_of(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def partials(tmp_path):
    return sorted(path.name for path in tmp_path.iterdir() if ".partial" in path.name)


def interrupt(monkeypatch, *, after):
    """Kill the linker in the batch after some batches."""
    link, batches = Linker.link, []

    def killed(self, batch, **options):
        batches.append(batch)
        if len(batches) > after:
            raise KeyboardInterrupt
        return link(self, batch, **options)

    monkeypatch.setattr(Linker, "link", killed)


@pytest.fixture
def begun(own, source, out, monkeypatch):
    """A run that was interrupted after six texts."""
    with monkeypatch.context() as patch:
        patch.setattr(files, "TEXTS_AT_ONCE", 3)
        interrupt(patch, after=2)
        with pytest.raises(KeyboardInterrupt):
            link_file(own, source, out, threshold=0.25)
    return out.with_name("links.jsonl.partial")


def test_each_text_is_a_line_with_its_links(own, source, out, tmp_path):
    link_file(own, source, out)
    rows = rows_of(out)
    assert [(row["text"], row["number"]) for row in rows] == [
        (text, number) for number, text in enumerate(WRITTEN)
    ]
    expected = [[link.to_dict() for link in links] for links in own.link(TEXTS)]
    plain = json.loads(json.dumps(expected))
    assert [row["links"] for row in rows] == plain
    assert partials(tmp_path) == []


def test_lines_go_to_a_stream(own, source, out):
    link_file(own, source, out)
    stream = io.StringIO()
    link_file(own, source, stream)
    assert [json.loads(line) for line in stream.getvalue().splitlines()] == rows_of(out)


def test_half_a_surrogate_pair_is_written_as_a_character(own, source):
    """Strict readers of JSON refuse its escape, and offsets stay as they are."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    link_file(own, source, stream)
    stream.flush()
    rows = [json.loads(line) for line in stream.buffer.getvalue().decode().splitlines()]
    assert [row["text"] for row in rows] == WRITTEN


def test_what_is_written_is_strict_json(own, tmp_path):
    """A number too large for a float is read as infinite."""
    (tmp_path / "texts.jsonl").write_text('{"text": "Texas", "score": 1e999}\n')
    stream = io.StringIO()
    link_file(own, tmp_path / "texts.jsonl", stream)
    assert json.loads(stream.getvalue(), parse_constant=pytest.fail)["score"] is None


def test_two_runs_do_not_write_one_file(own, source, out, tmp_path):
    fcntl = pytest.importorskip("fcntl")
    with (tmp_path / "links.jsonl.partial").open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(BadInput, match="another process is writing"):
            link_file(own, source, out)
    link_file(own, source, out)
    assert len(rows_of(out)) == len(TEXTS)
    assert partials(tmp_path) == []


def test_plain_lines_are_texts(own, tmp_path, out):
    (tmp_path / "texts.txt").write_text("Texas\n\neuro", encoding="utf-8")
    link_file(own, tmp_path / "texts.txt", out)
    rows = rows_of(out)
    assert [row["text"] for row in rows] == ["Texas", "", "euro"]
    assert [[link["id"] for link in row["links"]] for row in rows] == [["texas"], [], ["euro"]]


def test_an_empty_file_gives_an_empty_file(own, tmp_path, out):
    (tmp_path / "texts.txt").write_text("")
    link_file(own, tmp_path / "texts.txt", out)
    assert out.read_text() == ""
    assert partials(tmp_path) == []


def test_an_interruption_leaves_what_is_done_and_a_note(begun, own, source, out, tmp_path):
    assert partials(tmp_path) == ["links.jsonl.partial", "links.jsonl.partial.json"]
    assert len(rows_of(begun)) == 6
    note = json.loads((tmp_path / "links.jsonl.partial.json").read_text())
    assert note == {"input": sha256(source), **run_identity(own, 0.25)}
    assert note["threshold"] == "0.250000"
    assert not out.exists()


@pytest.mark.parametrize("half", ["", '{"text": "Pa'])
def test_a_killed_run_resumes_behind_what_is_done(begun, own, source, out, tmp_path, linked, half):
    with begun.open("a", encoding="utf-8") as file:
        file.write(half)
    link_file(own, source, out, threshold=0.25)
    assert linked == TEXTS[6:]
    resumed = out.read_bytes()
    out.unlink()
    link_file(own, source, out, threshold=0.25)
    assert out.read_bytes() == resumed
    assert partials(tmp_path) == []


def refused(what, own, source, out, **options):
    partial = out.with_name("links.jsonl.partial")
    before = partial.read_bytes()
    with pytest.raises(BadInput) as error:
        link_file(own, source, out, **options)
    assert str(error.value) == (
        f"{partial} was begun with another {what}; remove it, or run the command that began it "
        "(links.jsonl.partial.json describes it)"
    )
    assert partial.read_bytes() == before
    assert not out.exists()


def test_another_input_is_refused(begun, own, source, out):
    source.write_text(source.read_text(encoding="utf-8") + '{"text": "more"}\n', encoding="utf-8")
    refused("input", own, source, out, threshold=0.25)


def test_another_model_is_refused(begun, graph, encoder_folder, source, out):
    refused("model", Linker(graph, link_model(encoder_folder)), source, out, threshold=0.25)


def test_another_graph_is_refused(begun, own, source, out, tmp_path):
    other = build(tmp_path / "other", [], [{"id": "a", "label": "Alone"}], None)
    refused("graph", Linker(other, own.model), source, out, threshold=0.25)


def test_another_threshold_is_refused(begun, own, source, out):
    refused("threshold", own, source, out, threshold=0.3)
    refused("threshold", own, source, out)


def test_other_options_are_refused(begun, own, graph, source, out):
    other = Linker(graph, own.model, options=LinkOptions(exact=True))
    refused("options", other, source, out, threshold=0.25)


def test_other_pins_and_entities_are_refused(begun, own, graph, source, out):
    for change in ("pin", "add", "remove"):
        pins = {"Paris": "myth"} if change == "pin" else None
        other = Linker(graph, own.model, pin=pins)
        if change == "add":
            other.add([{"id": "x", "label": "Zorblax"}])
        if change == "remove":
            other.remove(["texas"])
        refused("graph", other, source, out, threshold=0.25)


def test_all_that_changed_is_named(begun, own, graph, encoder_folder, source, out):
    refused("model and threshold", Linker(graph, link_model(encoder_folder)), source, out)


@pytest.mark.parametrize("note", [None, "", "{", "[]"])
def test_a_run_without_a_readable_note_is_refused(begun, own, source, out, tmp_path, note):
    file = tmp_path / "links.jsonl.partial.json"
    file.unlink()
    if note is not None:
        file.write_text(note)
    with pytest.raises(BadInput, match="input and model and graph"):
        link_file(own, source, out, threshold=0.25)


def test_a_file_that_is_there_is_kept(own, source, out):
    out.write_text("mine")
    with pytest.raises(BadInput, match=r"links\.jsonl exists"):
        link_file(own, source, out)
    assert out.read_text() == "mine"


def test_an_input_that_is_not_there_is_named(own, tmp_path, out):
    with pytest.raises(NotFound, match=r"gone\.txt"):
        link_file(own, tmp_path / "gone.txt", out)
    assert partials(tmp_path) == []


def test_marked_texts_are_read_as_they_are(graph, source, out):
    line = {"text": "Paris", "mentions": [{"start": 0, "end": 5, "entity": "myth"}]}
    source.write_text(json.dumps(line))
    data = read_or_link(source, graph, out)
    assert data.gold.tolist() == graph.indices_of(["myth"]).tolist()


def test_other_texts_are_linked_once(own, graph, source, out, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "Linker", lambda graph: own)
    data = read_or_link(source, graph, out)
    links = own.link(TEXTS)
    assert data.texts == WRITTEN
    starts = [link.start for own_links in links for link in own_links]
    assert data.mentions.start.tolist() == starts
    assert starts
    monkeypatch.setattr(files, "Linker", pytest.fail)
    assert read_or_link(source, graph, out).digest() == data.digest()
    assert len(list(tmp_path.glob("*.linked.jsonl"))) == 1
