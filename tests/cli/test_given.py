"""What is wrong on the command line is said before torch is loaded."""

import json
import subprocess
import sys

import pytest

from kgraft.cli import given

WRONG = {
    "graph info nowhere": "no graph at nowhere",
    "graph search x -g nowhere": "no graph at nowhere",
    "link x --graph nowhere": "no graph at nowhere",
    "link x --model nowhere": "no link model at nowhere",
    "link x --pin Paris=nothing": "no entity has the id or label 'nothing'",
    "link --file nowhere.txt": "no file nowhere.txt",
    "link --file there.txt --out there.txt": "there.txt exists already",
    "link train nowhere": "no graph at nowhere",
    "link train world --texts nowhere": "no file nowhere",
    "link train world --texts bad.jsonl": "bad.jsonl:1: ",
    "link train world --init-from nowhere": "no link model at nowhere",
    "link train world --out there": "there exists already",
    "link eval nowhere": "no file nowhere",
    "link eval bad.jsonl": "bad.jsonl:1: ",
    "link eval bad.jsonl --model nowhere": "no link model at nowhere",
    "link calibrate nowhere": "no file nowhere",
    "link index nowhere": "no graph at nowhere",
    "link export --out out --texts nowhere": "no file nowhere",
    "link export --out there --texts bad.jsonl": "there exists already",
    "embed train nowhere": "no graph at nowhere",
    "embed train world --model nothing": "no model or preset is named 'nothing'",
    "embed train world --preset nothing": "no model or preset is named 'nothing'",
    "embed train world --out there": "there exists already",
    "embed similar world nowhere Peru": "no vectors at nowhere",
    "embed similar world there Peru": "there is not a vectors folder",
    "embed similar world vectors xyzxyz": "nothing in the graph is named 'xyzxyz'",
    "embed predict world vectors --head Peru -r xyz": "xyz",
    "embed eval world vectors --split nothing": "no split is named 'nothing'",
    "embed plot world nowhere --out map.png": "no vectors at nowhere",
    "embed export world nowhere --out map.tsv": "no vectors at nowhere",
    "graft train nowhere": "no graph at nowhere",
    "graft train world --kind nothing": "no kind of graft is named 'nothing'",
    "graft train world --knowledge nothing": "no kind of knowledge is named 'nothing'",
    "graft train world --vectors nowhere": "no vectors at nowhere",
    "graft train world --texts nowhere": "no file nowhere",
    "graft train world --out there": "there exists already",
    "graft explain nowhere text": "no graft at nowhere",
    "graft eval wic --data there --model nowhere": "no graft at nowhere",
    "graft eval nothing --data there --encoder default": "no task is named 'nothing'",
    "joint pretrain nowhere": "no graph at nowhere",
    "joint pretrain world --texts nowhere": "no file nowhere",
    "ask x --model nowhere": "no question answerer at nowhere",
    "ask x --about xyzxyz --model nowhere": "nothing in the graph is named 'xyzxyz'",
    "ask ' ' --model nowhere": "a question is empty",
    "ask train --model nowhere --data there": "no joint model at nowhere",
    "ask eval --model nowhere --data there": "no joint model at nowhere",
    "joint eval classes --model nowhere": "no joint model at nowhere",
    "joint eval nothing --model nowhere": "no task is named 'nothing'",
}
RUN = """
import json, shlex, sys
from typer.testing import CliRunner
from kgraft.cli import app

for command in json.load(sys.stdin):
    done = CliRunner().invoke(app, shlex.split(command))
    print(json.dumps([done.exit_code, done.stderr, "torch" in sys.modules]))
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What each wrong command came to: exit code, words, and whether torch was loaded."""
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "there").mkdir()
    (folder / "there.txt").write_text("a\n")
    (folder / "bad.jsonl").write_text("{}\n")
    (folder / "vectors").mkdir()
    (folder / "vectors" / "vectors.json").write_text("{}")
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        input=json.dumps(list(WRONG)),
        capture_output=True,
        text=True,
        cwd=folder,
        check=True,
    )
    return dict(zip(WRONG, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("command", WRONG)
def test_a_mistake_is_told_before_torch_is_loaded(outcomes, command):
    code, said, torch = outcomes[command]
    assert (code, said.count("\n"), torch) == (2, 1, False), said
    assert WRONG[command] in said


def test_the_names_are_those_there_are():
    from kgraft.embed import MODELS, PRESETS

    assert set(given.MODELS) == set(MODELS)
    assert set(given.PRESETS) == set(PRESETS)
