"""Every benchmark declares what it measures, can be imported and run, and is listed."""

import json
import subprocess
import sys
from importlib import import_module

import pytest
from benchmarks.__main__ import main
from benchmarks.catalogue import catalogue, declaration, goals_met, last_result, listing, module_of
from benchmarks.harness import RESULTS, ROOT, Benchmark

FOLDER = ROOT / "benchmarks"
MODULES = sorted(
    f"{path.parent.name}.{path.stem}" for path in FOLDER.glob("*/*.py") if path.stem != "__init__"
)
ADDING = Benchmark(name="sums", measures="adding", minutes=None, data=("numbers", "build/more"))


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_every_module_can_be_imported_and_benchmarks_have_a_main(name):
    module = import_module(f"benchmarks.{name}")
    assert module.__doc__
    declared = catalogue().get(name)
    assert getattr(module, "BENCHMARK", None) == declared
    assert declared is None or callable(module.main)


def test_every_result_belongs_to_one_benchmark():
    names = [benchmark.name for benchmark in catalogue().values()]
    assert len(set(names)) == len(names)
    assert {path.stem for path in RESULTS.glob("*.json")} <= set(names)


@pytest.mark.slow
def test_the_list_names_every_benchmark_and_imports_none():
    code = "import sys; from benchmarks.__main__ import main; main([]); print(*sys.modules)"
    output = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    *lines, modules = output.splitlines()
    assert set(catalogue()) <= {line.split()[0] for line in lines if line}
    assert not {"torch", "numpy", "kgraft"} & set(modules.split())


def test_data_and_last_result_are_listed(tmp_path):
    lines = list(listing({"tasks.sums": ADDING}, tmp_path, tmp_path))
    assert lines[0].split() == ["tasks.sums", "adding"]
    assert lines[1].strip() == "? min · not measured yet · data missing: numbers, build/more"
    (tmp_path / "numbers").touch()
    assert "data missing: build/more" in list(listing({"a.b": ADDING}, tmp_path, tmp_path))[1]


def test_the_last_result_tells_day_commit_and_goals(tmp_path):
    goals = {"seconds": {"at_most": 2}, "count": {"at_least": 5}}
    result = {"figures": {"seconds": 1.5, "count": 4}, "goals": goals}
    assert goals_met(result) == (1, 2)
    result |= {"date": "2026-11-19", "commit": "e7ee0c50843f"}
    (tmp_path / "sums.json").write_text(json.dumps(result))
    assert last_result(ADDING, tmp_path) == "2026-11-19 e7ee0c50 1 of 2 goals met"


def test_a_declaration_is_read_without_running_the_file(tmp_path):
    path = tmp_path / "sums.py"
    path.write_text("import nothing\nBENCHMARK = Benchmark(name='a', measures='b', minutes=3)\n")
    assert declaration(path) == Benchmark(name="a", measures="b", minutes=3)
    path.write_text("BENCHMARKS = []\n")
    assert declaration(path) is None


def test_both_names_of_a_benchmark_are_understood(capsys):
    assert module_of("graph.scale", catalogue()) == module_of("graph_scale", catalogue())
    assert main(["sorcery"]) == 2
    assert "sorcery" in capsys.readouterr().err


def test_an_unknown_off_side_is_refused():
    with pytest.raises(ValueError, match="elsewhere"):
        Benchmark(name="sums", measures="adding", minutes=1, off="elsewhere")
