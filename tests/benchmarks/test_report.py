import re

import pytest
from benchmarks.harness import ROOT, Run
from benchmarks.report import fill, main, number, table

from kgraft.measure import Difference

TABLE = """\
| figure | measured | goal | met |
| --- | --- | --- | --- |
| `seconds` | 1.5 (1 to 3) | ≤ 2 | yes |
| `count` | 20,600,000 |  |  |
"""


@pytest.fixture
def project(tmp_path):
    goals = {"seconds": {"at_most": 2}}
    folder = tmp_path / "benchmarks" / "results"
    with Run("sums", protocol="", data={}, goals=goals, folder=folder) as run:
        run.figure("seconds", [1.0, 3.0, 1.5])
        run.figure("count", 20_600_000)
    (tmp_path / "docs").mkdir()
    for page in ("README.md", "docs/speed.md"):
        (tmp_path / page).write_text("# Hé\n<!-- figures:sums -->\nold\n<!-- /figures -->\nend\n")
    (tmp_path / "docs" / "other.md").write_text("no figures\n")
    return tmp_path


def test_tables_are_made_from_the_results(project, capsys):
    assert main([], root=project) == 0
    for page in ("README.md", "docs/speed.md"):
        expected = f"# Hé\n<!-- figures:sums -->\n{TABLE}<!-- /figures -->\nend\n"
        assert (project / page).read_text() == expected
    assert "README.md: updated\ndocs/speed.md: updated\n" in capsys.readouterr().out


def test_check_changes_nothing_and_says_what_is_out_of_date(project, capsys):
    before = (project / "README.md").read_text()
    assert main(["--check"], root=project) == 1
    assert "README.md: out of date, run make report" in capsys.readouterr().out
    assert (project / "README.md").read_text() == before
    main([], root=project)
    assert main(["--check"], root=project) == 0


def test_several_blocks_and_what_was_not_measured(project):
    text = "<!-- figures:sums -->\n<!-- /figures -->\n\n<!-- figures:none -->\n<!-- /figures -->\n"
    filled = fill(text, project / "benchmarks" / "results")
    assert TABLE in filled
    assert "<!-- figures:none -->\nNot measured: run `make bench-none`.\n<!-- /figures" in filled


def test_a_block_may_name_the_figures_it_shows(project):
    text = "<!-- figures:sums count -->\n<!-- /figures -->\n"
    filled = fill(text, project / "benchmarks" / "results")
    assert "`count`" in filled
    assert "`seconds`" not in filled


def test_the_page_of_results_has_every_figure_and_its_protocol(project):
    main([], root=project)
    page = (project / "benchmarks" / "RESULTS.md").read_text()
    assert "## sums" in page
    assert TABLE in page


def test_a_benchmark_of_differences_alone(tmp_path):
    with Run("worth", protocol="", data={}, folder=tmp_path) as run:
        run.difference("reading", Difference(0.9, 0.8, 0.05, 0.15))
    expected = """\
| task | on | off | on minus off | 95 % interval |
| --- | --- | --- | --- | --- |
| reading | 0.9 | 0.8 | +0.1 | +0.05 to +0.15 |
"""
    assert table("worth", tmp_path) == expected


@pytest.mark.parametrize("rest", ["", "<!-- figures:sums -->\n<!-- /figures -->\n"])
def test_a_block_left_open_is_refused(project, capsys, rest):
    (project / "README.md").write_text("<!-- figures:sums -->\nno end\n" + rest)
    assert main([], root=project) == 1
    assert "README.md: a figures block is not closed" in capsys.readouterr().err
    assert "no end" in (project / "README.md").read_text()


def test_the_committed_pages_are_up_to_date():
    assert main(["--check"]) == 0


def heading_anchors(page):
    """Return the anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w-]+", "-", heading.lower()) for heading in headings}


PAGES = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/**/*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page):
    links = re.findall(r"\]\((?!https?:)([^)#\s]+)#?([^)\s]*)\)", page.read_text("utf-8"))
    for target, heading in links:
        file = page.parent / target
        assert file.exists(), target
        assert not heading or heading in heading_anchors(file), heading


@pytest.mark.parametrize(
    ("value", "text"), [(0.98765, "0.988"), (7, "7"), (1234.6, "1,235"), (1.0, "1"), (0, "0")]
)
def test_numbers(value, text):
    assert number(value) == text
