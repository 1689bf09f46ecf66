"""What the command line says when something is wrong: every line of messages.txt, word for word.

Other tests look at the kind of an error and at the value that it names, so that wording changes
here alone. After a change of wording, write the file again and read the difference:

    python tests/test_messages.py && git diff tests/messages.txt
"""

import contextlib
import json
import os
import shlex
import sys
import tempfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kgraft.cli import app
from kgraft.graph import Graph, TablesSource, build_graph

MESSAGES = Path(__file__).with_name("messages.txt")
COMMANDS = """
graph info nowhere
graph import nowhere --out new
graph import short.tsv --out new
graph import latin1.tsv --out new
graph import damaged.jsonl --out new
graph import towns.json --out new
graph import packed.tsv.gz --out new
graph import picture.png --out new
graph import towns.tsv --out there
graph show Atlantis --graph tiny
graph show Rome --to Atlantis --graph tiny
graph query "?x swims ?y" tiny
graph query "?x" tiny
graph query "SELECT nothing" tiny
graph add tiny Rome swims Italy --out there
graph remove tiny --entity Atlantis --out new
graph merge tiny nowhere --out new
graph diff tiny nowhere
graph split tiny --out new --valid 2
graph export tiny --out there.txt --format csv
graph check nowhere
graph migrate nowhere --out new
graph example nothing
link "  "
link x --graph nowhere
link x --model nowhere
link x --model there
link x --pin Rome --graph tiny
link x --pin Rome=nobody --graph tiny
link x --out links.jsonl
link --file nowhere.txt
link --file texts.jsonl --out texts.jsonl
link train tiny --texts nowhere.jsonl
link train tiny --texts damaged.jsonl
link train tiny --texts spans.jsonl
link train tiny --encoder ./nowhere
link train tiny --init-from there --from-scratch
link train tiny --out there
link eval nowhere.jsonl
link index nowhere
link calibrate damaged.jsonl
embed train nowhere
embed train tiny --model nothing
embed train tiny --out there
embed similar tiny nowhere Rome
embed similar tiny there Rome
embed similar tiny damaged Rome
embed similar tiny of_another_kind Rome
embed predict tiny nowhere --head Rome -r in
embed plot tiny nowhere --out map.jpeg
embed export tiny nowhere --out map.xyz
embed export tiny nowhere --out there.txt
graft train tiny --kind nothing
graft train tiny --texts damaged.jsonl
graft train tiny --out there
graft train tiny --knowledge rules
graft train tiny --knowledge rules --facts facts.jsonl
graft train tiny --knowledge rules --facts unlikely.jsonl
graft train tiny --knowledge rules --facts towns.tsv
graft explain nowhere text
graft explain of_another_kind text
graft eval nothing --data there --encoder default
joint pretrain tiny --texts nowhere.jsonl
joint pretrain tiny --out there
joint eval links --model nowhere
joint eval nothing --model nowhere
reason recall tiny "  "
reason recall nowhere Rome
reason recall tiny Rome --about Atlantis
reason predict tiny --head Rome
reason predict tiny -r in
reason predict tiny --head Rome --tail Italy -r in
reason predict tiny --head Atlantis -r in
reason predict tiny --head Rome -r swims
reason predict tiny --head Rome -r in --reasoner there
reason predict tiny --head Rome -r in --reasoner of_another_kind
reason predict tiny --head Rome -r in --completer damaged
reason explain tiny Rome in Atlantis
reason eval tiny --split nothing
reason eval tiny --text nowhere
reason eval tiny --completer completer --vectors vectors
reason combine tiny --out there
reason combine tiny --out new --vectors nowhere
reason eval tiny --reasoner reasoner
reason combine tiny --out new --reasoner reasoner
reason predict other --head Rome -r in --completer completer
reason train tiny --out there
reason train tiny --out new --reasoner reasoner
reason mine nowhere --out new
reason mine tiny --out there
reason rules nowhere
reason rules rules.txt
reason rules rules.txt --graph tiny
reason apply tiny nowhere --out new.tsv
reason apply tiny nowhere --out new.csv
ask "Where is Rome?" --model nowhere
ask "Where is Rome?" --about Atlantis --graph tiny --model nowhere
"""


def write_completers(folder):
    """Write an untrained reasoner, weights of sources that name it, and vectors that are empty."""
    from kgraft.reason import CompleterConfig, Reasoner, ReasonerConfig, open_completer

    Reasoner(ReasonerConfig(4, 1, 1)).save_pretrained(folder / "reasoner")
    config = CompleterConfig(reasoner="reasoner")
    open_completer(Graph.open(folder / "tiny"), config).write(folder / "completer")
    (folder / "vectors").mkdir()
    manifest = {"kind": "vectors folder", "format": 1, "config": {}}
    (folder / "vectors" / "kgraft.json").write_text(json.dumps(manifest))


def write_files(folder):
    """Write what the commands find in their folder."""
    entities = [{"id": name.lower(), "label": name} for name in ("Rome", "Italy", "Paris")]
    triples = [("rome", "in", "italy"), ("paris", "near", "rome")]
    for name in ("tiny", "other"):
        build_graph(TablesSource(triples=triples, entities=entities), folder / name)
    write_completers(folder)
    for name in ("there", "damaged", "of_another_kind"):
        (folder / name).mkdir()
    (folder / "damaged" / "kgraft.json").write_text("{")
    manifest = {"kind": "link model", "format": 3, "config": {}}
    (folder / "of_another_kind" / "kgraft.json").write_text(json.dumps(manifest))
    span = {"start": 0, "end": "4", "entity": "rome"}
    files = {
        "short.tsv": b"a\tin\tb\nc\tin\n",
        "latin1.tsv": b"M\xfcnchen\tin\tBayern\n",
        "damaged.jsonl": b'{"text": \n',
        "texts.jsonl": b'{"text": "Rome"}\n',
        "facts.jsonl": b'{"head": "rome", "relation": "on", "tail": "italy", "confidence": 1}\n',
        "unlikely.jsonl": b'{"head": "rome", "relation": "in", "tail": "paris", "confidence": 0}\n',
        "spans.jsonl": json.dumps({"text": "Rome", "mentions": [span]}).encode() + b"\n",
        "towns.json": b'{"towns": 3}',
        "packed.tsv.gz": b"not packed",
        "picture.png": b"\x89PNG",
        "towns.tsv": b"rome\tin\titaly\n",
        "there.txt": b"",
        "rules.txt": b"2\t1\t0.5\tswims(X,Y) <= in(Y,X)\n",
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)


def transcript():
    """Return each command with its exit code and what it says, run in the working folder."""
    write_files(Path.cwd())
    parts = []
    for command in COMMANDS.strip().splitlines():
        done = CliRunner().invoke(app, shlex.split(command))
        said = done.stderr.replace(str(Path.cwd()), "FOLDER")
        parts.append(f"kgraft {command}\n  {done.exit_code}  {said}")
    return "\n".join(parts)


@pytest.mark.slow
def test_messages_read_as_written_down(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    assert transcript() == MESSAGES.read_text(encoding="utf-8")


def test_each_message_is_one_line():
    for part in MESSAGES.read_text(encoding="utf-8").split("\n\n"):
        assert len(part.strip().splitlines()) == 2, part


if __name__ == "__main__":
    os.environ["COLUMNS"] = "100"
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        text = transcript()
    MESSAGES.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
