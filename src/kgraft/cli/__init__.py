"""The command line, one command per package; each loads what it needs when it is run."""

from __future__ import annotations

import logging
import sys
from typing import Annotated

import typer

from kgraft.cli.groups import Commands

app = typer.Typer(
    name="kgraft",
    cls=Commands,
    help="Graft a knowledge graph onto a language model.",
    epilog="Begin with:  kgraft link 'She flew from Paris to Georgia.'",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from kgraft import __version__

        print(f"kgraft {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the whole trace of an error.")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Graft a knowledge graph onto a language model."""


def main() -> None:
    """Run the command line; --debug may stand anywhere."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    options, dashes, words = _partition(sys.argv[1:], "--")
    _show_warnings(debug="--debug" in options)
    if "--debug" in options:
        options.remove("--debug")
        options.insert(0, "--debug")
    app([*options, *dashes, *words])


def _show_warnings(*, debug: bool) -> None:
    """Print the warnings of kgraft on stderr; with --debug all that it logs."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("kgraft: %(message)s"))
    logger = logging.getLogger("kgraft")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG if debug else logging.WARNING)


def _partition(items: list[str], mark: str) -> tuple[list[str], list[str], list[str]]:
    index = items.index(mark) if mark in items else len(items)
    return items[:index], items[index : index + 1], items[index + 1 :]
