import json
import socket

import pytest
from benchmarks.harness import Run, goal_text, met, shared_data

from benchmarks import harness


def benchmark(folder, **options):
    given = {"protocol": "add\n  up", "data": {"name": "numbers"}, "seeds": [3]} | options
    return Run("sums", folder=folder, **given)


def written(folder):
    return json.loads((folder / "sums.json").read_text())


def test_a_run_writes_all_that_is_needed_to_judge_it(tmp_path, capsys):
    with benchmark(tmp_path, goals={"seconds": {"at_most": 2}}) as run:
        run.figure("seconds", [1.0, 3.0, 1.5])
        run.figure("count", 7)
        run.figure("ratio", [0.5, 0.7], value=0.61)
    result = written(tmp_path)
    assert result["figures"] == {"seconds": 1.5, "count": 7, "ratio": 0.61}
    assert result["goals"] == {"seconds": {"at_most": 2}}
    assert result["spread"] == {
        "seconds": {"min": 1.0, "max": 3.0, "repeats": 3},
        "ratio": {"min": 0.5, "max": 0.7, "repeats": 2},
    }
    assert (result["protocol"], result["data"], result["seeds"]) == (
        "add up",
        {"name": "numbers"},
        [3],
    )
    assert result["duration_seconds"] >= 0
    assert result["machine"].keys() == {"cpu", "cores", "memory_gb", "system"}
    assert result["versions"].keys() == {
        "kgraft",
        "python",
        "torch",
        "transformers",
        "numpy",
        "pyarrow",
    }
    assert "seconds: 1.5 (goal ≤ 2, met: yes)\ncount: 7\n" in capsys.readouterr().out


def test_a_result_names_neither_the_machine_nor_its_paths(tmp_path):
    with benchmark(tmp_path) as run:
        run.figure("count", 1)
    text = (tmp_path / "sums.json").read_text()
    assert socket.gethostname() not in text
    assert str(harness.ROOT) not in text


def test_an_absolute_path_is_refused_and_leaves_nothing(tmp_path):
    with (
        pytest.raises(ValueError, match="absolute path"),
        benchmark(tmp_path, data={"name": str(tmp_path)}) as run,
    ):
        run.figure("count", 1)
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_fails_keeps_the_last_result(tmp_path):
    with benchmark(tmp_path) as run:
        run.figure("count", 1)
    with pytest.raises(ZeroDivisionError), benchmark(tmp_path) as run:
        run.figure("count", 1 / 0)
    assert written(tmp_path)["figures"] == {"count": 1}
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_is_refused(tmp_path, value):
    with pytest.raises(ValueError, match="JSON"), benchmark(tmp_path) as run:
        run.figure("count", value)
    assert list(tmp_path.iterdir()) == []


def test_a_goal_without_its_figure_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"did not measure: \{'seconds'\}"):  # noqa: SIM117
        with benchmark(tmp_path, goals={"seconds": {"at_most": 2}}):
            pass


@pytest.mark.parametrize(
    ("value", "goal", "verdict", "text"),
    [
        (1.1, {"at_most": 1.1}, "yes", "≤ 1.1"),
        (1.2, {"at_most": 1.1}, "no", "≤ 1.1"),
        (4, {"at_least": 4}, "yes", "≥ 4"),
        (3.9, {"at_least": 4}, "no", "≥ 4"),
    ],
)
def test_goals(value, goal, verdict, text):
    assert (met(value, goal), goal_text(goal)) == (verdict, text)


def test_the_data_folder_is_named_by_the_environment(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("KGRAFT_DATA", str(tmp_path))
    assert shared_data() == tmp_path
    monkeypatch.setenv("KGRAFT_DATA", str(tmp_path / "absent"))
    assert shared_data() is None
    assert "set KGRAFT_DATA" in capsys.readouterr().err


def test_else_it_lies_beside_the_project(tmp_path, monkeypatch):
    monkeypatch.delenv("KGRAFT_DATA", raising=False)
    monkeypatch.setattr(harness, "ROOT", tmp_path / "project")
    (tmp_path / "shared" / "data").mkdir(parents=True)
    assert shared_data() == tmp_path / "shared" / "data"
