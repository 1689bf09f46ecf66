"""Example data that comes with the package: graph sources with documents and questions."""

from __future__ import annotations

import shutil
from pathlib import Path

from kgraft.errors import NotFound
from kgraft.graph.folder import BUILT_IN
from kgraft.storage import Kind, new_folder

EXAMPLES = BUILT_IN / "examples"
EXAMPLE = Kind("example", "questions.jsonl")


def examples() -> dict[str, str]:
    """Return the name of each example and what it is, in one line.

    >>> examples()
    {'company': 'A small company: people, teams, products, projects, customers'}
    """
    folders = sorted(path for path in EXAMPLES.iterdir() if (path / EXAMPLE.marker).is_file())
    return {folder.name: _title(folder) for folder in folders}


def _title(folder: Path) -> str:
    first_line = (folder / "README.md").read_text(encoding="utf-8").partition("\n")[0]
    return first_line.removeprefix("# ")


def write_example(name: str, target: str | Path, *, overwrite: bool = False) -> list[Path]:
    """Write the files of an example into a new folder, and return them."""
    titles = examples()
    if name not in titles:
        raise NotFound(f"no example is named {name!r}; there is {', '.join(titles)}")
    target = Path(target)
    with new_folder(target, EXAMPLE, overwrite=overwrite) as folder:
        for file in sorted((EXAMPLES / name).iterdir()):
            shutil.copyfile(file, folder / file.name)
    return sorted(target.iterdir())
