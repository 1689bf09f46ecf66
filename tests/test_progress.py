"""Progress: a bar a stage where stderr is a terminal, silence elsewhere."""

import io
import threading
import time

import pytest
from rich.console import Console

from kgraft.progress import Lines, Silent, progress_bar


@pytest.fixture
def terminal(monkeypatch):
    """A terminal in the place of stderr; returns what was written to it."""
    written = io.StringIO()

    def console(stderr):
        assert stderr
        return Console(file=written, force_terminal=True, width=100, color_system=None)

    monkeypatch.setattr("rich.console.Console", console)
    return written


def last_frame(written):
    """The lines that stand on the terminal at the end."""
    return written.getvalue().rpartition("\x1b[2K")[2]


def test_silence_takes_any_report(capfd):
    silent = Silent()
    silent.start("reading", 10)
    silent.start("reading")
    silent.advance()
    silent.advance(5)
    assert capfd.readouterr() == ("", "")


def test_quick_work_says_nothing_where_stderr_is_no_terminal(capsys):
    with progress_bar() as progress:
        assert isinstance(progress, Lines)
        progress.start("reading", 10)
        progress.advance(10)
    assert capsys.readouterr() == ("", "")


def test_long_work_is_told_in_lines(capsys):
    lines = Lines(every=0.02)
    lines.start("reading [/]", 4)
    lines.advance(3)
    time.sleep(0.1)
    lines.start("sorting \udcff")
    time.sleep(0.1)
    lines.stop()
    told = capsys.readouterr().err
    assert "kgraft: reading [/]: 75%, 0 s\n" in told
    assert "kgraft: sorting ?: 0 s\n" in told
    time.sleep(0.05)
    assert capsys.readouterr().err == ""


def test_nothing_is_told_after_an_error():
    before = threading.active_count()

    def fail():
        with progress_bar() as progress:
            progress.start("reading")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert threading.active_count() == before


def test_what_looks_like_markup_is_a_stage(terminal):
    with progress_bar() as progress:
        progress.start("reading [/] [bold]x")
    assert "reading [/] [bold]x" in terminal.getvalue()


def test_no_bar_where_it_is_to_be_quiet(terminal):
    with progress_bar(quiet=True) as progress:
        assert isinstance(progress, Silent)
    assert terminal.getvalue() == ""


def test_a_bar_a_stage(terminal, capsys):
    with progress_bar() as progress:
        progress.start("reading letters", 4)
        progress.advance()
        progress.advance(3)
        progress.start("sorting")
    shown = terminal.getvalue()
    assert "reading letters" in shown
    assert "sorting" in shown
    assert capsys.readouterr().out == ""


def test_every_stage_ends_full(terminal):
    with progress_bar() as progress:
        progress.start("short of its total", 100)
        progress.advance(7)
        progress.start("of no known size")
        progress.advance(3)
        progress.start("of nothing", 0)
        progress.start("never advanced")
    assert last_frame(terminal).count("100%") == 4


def test_reports_before_the_first_stage_are_no_error(terminal):
    with progress_bar() as progress:
        progress.advance(3)
    assert "%" not in last_frame(terminal)


def test_an_error_passes_through(terminal):
    def fail():
        with progress_bar() as progress:
            progress.start("reading", 10)
            raise ValueError("in the middle")

    with pytest.raises(ValueError, match="in the middle"):
        fail()
