"""What is wrong on the command line is said before torch is loaded."""

import json
import re
import subprocess
import sys
import typing

import pytest
import typer

from kgraft.cli import app, given
from kgraft.graph import TablesSource, build_graph

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
    "link train world --valid nowhere": "no file nowhere",
    "link train world --from-scratch --encoder ./nowhere": "no encoder at",
    "link train world --init-from cut/link": "model.safetensors is cut short",
    "link x --model kinds/graft": "is a graft, not a link model",
    "link x --model lost/link": "no encoder at",
    "link x --model empty/link": "model.safetensors is missing",
    "link index world --model nowhere": "no link model at nowhere",
    "link calibrate there.txt --model nowhere": "no link model at nowhere",
    "link calibrate there.txt --graph nowhere": "no graph at nowhere",
    "link eval bad.jsonl --graph nowhere": "no graph at nowhere",
    "link export --out out --texts bad.jsonl --graph nowhere": "no graph at nowhere",
    "link export --out out --texts bad.jsonl --model nowhere": "no link model at nowhere",
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
    "embed train company": "company.complex exists already",
    "embed train world --similarity nothing": "'nothing' is not one of",
    "embed train world --loss nothing": "'nothing' is not one of",
    "embed train world --corruption nothing": "'nothing' is not one of",
    "embed train world --optimiser nothing": "'nothing' is not one of",
    "embed train world --regulariser nothing": "'nothing' is not one of",
    "embed similar nowhere vectors Peru": "no graph at nowhere",
    "embed similar world vectors Peru": "is not the manifest of a vectors folder",
    "embed similar world cut/vectors Peru": "entities.safetensors is cut short",
    "embed predict world vectors --tail xyzxyz -r borders": "nothing in the graph is named",
    "embed predict nowhere vectors --head Peru -r xyz": "no graph at nowhere",
    "embed predict world nowhere --head Peru -r borders": "no vectors folder at nowhere",
    "embed eval nowhere vectors": "no graph at nowhere",
    "embed eval world nowhere": "no vectors folder at nowhere",
    "embed plot nowhere vectors --out map.png": "no graph at nowhere",
    "embed plot world vectors --out map.jpeg": "the name map.jpeg implies no format",
    "embed export nowhere vectors --out map.tsv": "no graph at nowhere",
    "embed export world vectors --out map.xyz": "the name map.xyz implies no format",
    "embed export world vectors --out there.txt": "there.txt exists already",
    "embed export world vectors --out a --format nothing": "no format is named 'nothing'",
    "embed similar world nowhere Peru": "no vectors folder at nowhere",
    "embed similar world there Peru": "no vectors folder at there",
    "embed similar world vectors xyzxyz": "nothing in the graph is named 'xyzxyz'",
    "embed predict world vectors --head Peru -r xyz": "xyz",
    "embed eval world vectors --split nothing": "no split is named 'nothing'",
    "embed plot world nowhere --out map.png": "no vectors folder at nowhere",
    "embed export world nowhere --out map.tsv": "no vectors folder at nowhere",
    "graft train nowhere": "no graph at nowhere",
    "graft train world --kind nothing": "no kind of graft is named 'nothing'",
    "graft train world --knowledge nothing": "no kind of knowledge is named 'nothing'",
    "graft train world --vectors nowhere": "no vectors folder at nowhere",
    "graft train world --texts nowhere": "no file nowhere",
    "graft train world --texts there.txt": "there.txt:1: not JSON Lines",
    "graft train world --out there": "there exists already",
    "graft train world --init-from nowhere": "no graft at nowhere",
    "graft train world --init-from kinds/link": "is a link model, not a graft",
    "graft train world --hypernym-relation xyz": "xyz",
    "graft train world --encoder ./nowhere": "no encoder at",
    "graft explain cut/graft text": "graft.safetensors is cut short",
    "graft explain lost/graft text": "no encoder at",
    "graft eval facts --data there --encoder default": "facts needs a graft",
    "graft eval wic --data nowhere --encoder default": "no folder nowhere",
    "graft eval wic --data there --encoder default": "no file there/train.jsonl",
    "graft eval wic --data there --encoder ./nowhere": "no encoder at",
    "graft explain nowhere text": "no graft at nowhere",
    "graft eval wic --data there --model nowhere": "no graft at nowhere",
    "graft eval nothing --data there --encoder default": "no task is named 'nothing'",
    "joint pretrain nowhere": "no graph at nowhere",
    "joint pretrain world --texts nowhere": "no file nowhere",
    "joint pretrain world --texts there.txt": "there.txt:1: not JSON Lines",
    "joint pretrain world --out there": "there exists already",
    "joint pretrain world --encoder ./nowhere": "no encoder at",
    "joint eval classes --model nowhere --graph nowhere": "no graph at nowhere",
    "joint eval relations --model kinds/joint": "relations needs data",
    "joint eval relations --model kinds/joint --data nowhere": "no folder nowhere",
    "joint eval relations --model kinds/joint --data there": "no file there/train.jsonl",
    "joint eval classes --model nowhere": "no joint model at nowhere",
    "joint eval nothing --model nowhere": "no task is named 'nothing'",
    "reason recall nowhere x": "no graph at nowhere",
    "reason recall world x --about xyzxyz": "nothing in the graph is named 'xyzxyz'",
    "reason predict nowhere --head Peru -r borders": "no graph at nowhere",
    "reason predict world --head Peru": "no relation is given",
    "reason predict world -r borders": "either --head or --tail",
    "reason predict world --head Peru --tail Chile -r borders": "either --head or --tail",
    "reason predict world --head xyzxyz -r borders": "nothing in the graph is named 'xyzxyz'",
    "reason predict world --tail xyzxyz -r borders": "nothing in the graph is named 'xyzxyz'",
    "reason predict world --head Peru --relation xyz": "xyz",
    "reason predict world --head Peru -r borders --rules nowhere": "give a folder that 'kgraft reason mine' wrote",
    "reason predict world --head Peru -r borders --vectors nowhere": "no vectors folder at nowhere",
    "reason predict world --head Peru -r borders --text nowhere": "no text completer at nowhere",
    "reason predict world --head Peru -r borders --reasoner nowhere": "no reasoner at nowhere",
    "reason predict world --head Peru -r borders --reasoner cut/reasoner": "is cut short",
    "reason predict world --head Peru -r borders --reasoner kinds/link": "is a link model, not a",
    "reason predict world --head Peru -r borders --completer nowhere": "no completer at nowhere",
    "reason predict world --head Peru -r borders -c there --vectors kinds/vectors": "its own",
    "reason explain nowhere Peru borders Chile": "no graph at nowhere",
    "reason explain world xyzxyz borders Chile": "nothing in the graph is named 'xyzxyz'",
    "reason explain world Peru borders xyzxyz": "nothing in the graph is named 'xyzxyz'",
    "reason explain world Peru xyzxyz Chile": "xyzxyz",
    "reason explain world Peru borders Chile --rules nowhere": "give a folder that 'kgraft reason mine' wrote",
    "reason explain world Peru borders Chile --vectors nowhere": "no vectors folder at nowhere",
    "reason explain world Peru borders Chile --text nowhere": "no text completer at nowhere",
    "reason explain world Peru borders Chile --reasoner nowhere": "no reasoner at nowhere",
    "reason explain world Peru borders Chile --completer nowhere": "no completer at nowhere",
    "reason eval nowhere": "no graph at nowhere",
    "reason eval world --split nothing": "no split is named 'nothing'",
    "reason eval world --rules nowhere": "give a folder that 'kgraft reason mine' wrote",
    "reason eval world --vectors nowhere": "no vectors folder at nowhere",
    "reason eval world --text nowhere": "no text completer at nowhere",
    "reason eval world --reasoner nowhere": "no reasoner at nowhere",
    "reason eval world --completer nowhere": "no completer at nowhere",
    "reason eval world --completer cut/completer": "weights.json is cut short",
    "reason combine nowhere --out out": "no graph at nowhere",
    "reason combine world --out there": "there exists already",
    "reason combine world --out out --rules nowhere": "give a folder that 'kgraft reason mine' wrote",
    "reason combine world --out out --vectors nowhere": "no vectors folder at nowhere",
    "reason combine world --out out --text nowhere": "no text completer at nowhere",
    "reason combine world --out out --reasoner nowhere": "no reasoner at nowhere",
    "reason train nowhere --out out": "no graph at nowhere",
    "reason train world --out there": "there exists already",
    "reason train world --out out --reasoner nowhere": "no reasoner at nowhere",
    "ask train --model nowhere --data there": "no joint model at nowhere",
    "ask train --model cut/joint --data there": "joint.safetensors is cut short",
    "ask train --model kinds/joint --data nowhere": "no folder nowhere",
    "ask train --model kinds/joint --data there": "no file there/train.jsonl",
    "ask train --model kinds/joint --data there --graph nowhere": "no graph at nowhere",
    "ask train --model kinds/joint --data data --out there": "there exists already",
    "ask eval --model nowhere --data there": "no joint model at nowhere",
    "ask eval --model kinds/joint --data nowhere": "no folder nowhere",
    "ask eval --model kinds/joint --data there": "no file there/train.jsonl",
    "ask eval --model kinds/joint --data there --graph nowhere": "no graph at nowhere",
    "ask question x --graph nowhere --model nowhere": "no graph at nowhere",
    "ask question x --model nowhere": "no question answerer at nowhere",
    "ask question x --about xyzxyz --model nowhere": "nothing in the graph is named 'xyzxyz'",
    "ask x --model kinds/joint": "is a joint model, not a question answerer",
    "ask ' ' --model nowhere": "a question is empty",
}
RUN = """
import json, shlex, sys
from typer.testing import CliRunner
from kgraft.cli import app

for command in json.load(sys.stdin):
    done = CliRunner().invoke(app, shlex.split(command))
    print(json.dumps([done.exit_code, done.stderr, "torch" in sys.modules]))
"""


MODELS = {  # the kind of each model, and its weights
    "link": ("link model", ["model.safetensors"]),
    "graft": ("graft", ["graft.safetensors"]),
    "joint": ("joint model", ["joint.safetensors"]),
    "vectors": ("vectors folder", ["entities.safetensors"]),
    "reasoner": ("reasoner", ["reasoner.safetensors"]),
    "completer": ("completer", ["weights.json"]),
}
ENCODERS = {"link": "encoder", "graft": "host"}  # the setting that names it


def write_models(folder):
    """Write models: complete ones, with weights cut short or without, and without an encoder."""
    for name, (kind, weights) in MODELS.items():
        for state in ("kinds", "cut", "empty", "lost"):
            model = folder / state / name
            model.mkdir(parents=True)
            config = {ENCODERS[name]: "./nowhere"} if state == "lost" and name in ENCODERS else {}
            manifest = {"kind": kind, "format": 1, "config": config}
            files = {weight: {"bytes": 4, "sha256": ""} for weight in weights}
            (model / "kgraft.json").write_text(json.dumps(manifest | {"files": files}))
            for weight in weights if state != "empty" else ():
                (model / weight).write_bytes(b"abc" if state == "cut" else b"abcd")
    (folder / "data").mkdir()
    for name in ("train", "dev"):
        (folder / "data" / f"{name}.jsonl").write_text("{}\n")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What each wrong command came to: exit code, words, and whether torch was loaded."""
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "there").mkdir()
    (folder / "there.txt").write_text("a\n")
    (folder / "bad.jsonl").write_text("{}\n")
    (folder / "vectors").mkdir()
    (folder / "vectors" / "kgraft.json").write_text("[]")
    (folder / "company.complex").mkdir()
    example = [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}]
    build_graph(TablesSource([("a", "r", "b")], example), folder / "company")
    write_models(folder)
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        input=json.dumps(list(WRONG)),
        capture_output=True,
        text=True,
        cwd=folder,
        check=True,
    )
    return dict(zip(WRONG, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("command", WRONG)
def test_a_mistake_is_told_before_torch_is_loaded(outcomes, command):
    code, said, torch = outcomes[command]
    is_one_line = said.count("\n") == 1 or said.startswith("Usage: ")
    assert (code, is_one_line, torch) == (2, True, False), said
    assert WRONG[command] in said


NEVER_WRONG = {"format", "text", "html", "questions"}  # any text, or a file that is replaced


def names_given():
    """Yield each command that needs torch with an option or argument that names something."""
    for group in ("link", "embed", "graft", "joint", "reason", "ask"):
        for name, command in typer.main.get_command(app).commands[group].commands.items():
            kinds = typing.get_type_hints(command.callback)
            for parameter in command.params:
                names_something = re.search(r"\bstr\b|\bPath\b", str(kinds[parameter.name]))
                if names_something and parameter.name not in NEVER_WRONG:
                    yield f"{group} {name}", parameter


def test_every_name_of_every_command_is_wrong_once():
    """A new option that names a file, folder or choice gets a line in WRONG."""
    without, count = [], 0
    for command, parameter in names_given():
        short = command.removesuffix(" text")
        mine = [line for line in WRONG if line.startswith(f"{short} ")]
        if parameter.param_type_name == "argument":
            is_wrong = any("nowhere" in line or "xyzxyz" in line for line in mine)
        else:
            is_wrong = any(option in line.split() for line in mine for option in parameter.opts)
        count += 1
        without += [] if is_wrong else [f"{command} {parameter.opts}"]
    assert without == []
    assert count > 40


def test_the_names_are_those_there_are():
    from kgraft.embed import export, plot
    from kgraft.tasks import GRAFT_TASKS, JOINT_TASKS

    assert {name: f.suffixes for name, f in export.FORMATS.items()} == given.VECTOR_FILES
    assert given.PICTURES == plot.SUFFIXES
    assert set(given.TASK_FILES) <= {*GRAFT_TASKS, *JOINT_TASKS}
