"""What knowledge adds: differences are read from figures and shown in tables and pictures."""

import pytest
from benchmarks.differences import task_differences
from benchmarks.harness import DIFFERENCE, Run
from benchmarks.report import main, table

from kgraft.measure import Difference


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "benchmarks" / "results"
    with Run("graft_sums", protocol="", data={}, folder=folder) as run:
        run.difference("good", Difference(0.5, 0.25, 0.125, 0.375))
        run.figure("other_difference", 3)
        run.difference("hidden", Difference(8.0, 9.0, -1.5, 0.5))
    return folder


def test_table(results):
    assert (
        table("graft_sums", results)
        == """\
| task | on | off | on minus off | 95 % interval |
| --- | --- | --- | --- | --- |
| good | 0.5 | 0.25 | +0.25 | +0.125 to +0.375 |
| hidden | 8 | 9 | -1 | -1.5 to +0.5 |

| figure | measured | goal | met |
| --- | --- | --- | --- |
| `other_difference` | 3 |  |  |
"""
    )


def test_what_is_significant():
    rows = {"a": (2.0, 1.0, 1.0, 0.5, 1.5), "hidden": (1.0, 2.0, -1.0, -1.5, -0.5)}
    figures = {
        f"{task}_{part}": value
        for task, row in rows.items()
        for part, value in zip(DIFFERENCE, row, strict=True)
    }
    assert [task.is_significant for task in task_differences(figures)] == [True, True]
    figures["a_low"], figures["hidden_high"] = -0.1, 0.1
    assert [task.is_significant for task in task_differences(figures)] == [False, False]


def test_the_picture_is_made_with_the_report(results, tmp_path):
    (tmp_path / "docs").mkdir()
    picture = tmp_path / "docs" / "graft-knowledge.svg"
    assert main(["--check"], root=tmp_path) == 1
    assert main([], root=tmp_path) == 0
    assert main(["--check"], root=tmp_path) == 0
    assert "graft sums" in picture.read_text()
    with Run("graft_sums", protocol="", data={}, folder=results) as run:
        run.difference("good", Difference(0.5, 0.125, 0.25, 0.5))
    assert main(["--check"], root=tmp_path) == 1
    main([], root=tmp_path)
    assert "+0.375 (+0.25 to +0.5)" in picture.read_text()
