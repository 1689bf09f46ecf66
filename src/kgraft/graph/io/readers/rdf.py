"""Several RDF files as one source: a folder of them, or what is in a .zip archive."""

from __future__ import annotations

import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from kgraft.errors import BadInput
from kgraft.graph.batches import Batch, Refusals
from kgraft.graph.io.formats import Format, Sign
from kgraft.graph.io.options import SourceOptions
from kgraft.graph.io.rdf.source import BEGINNING, SYNTAXES, RdfSource
from kgraft.graph.io.readers import FORMATS
from kgraft.graph.structure import BlankNodes
from kgraft.progress import Progress, Silent
from kgraft.streams import open_bytes, plain_suffix

_SUFFIXES = (*sorted(SYNTAXES.keys() - {".json"}), ".zip")  # of files and archives
_IN_FOLDERS = SYNTAXES.keys() - {".json", ".xml"}  # whose names tell that they are RDF
MOST_BYTES = 1 << 36  # that the files of an archive may have when unpacked


def open_rdf(path: Path, options: SourceOptions) -> RdfSource | RdfFiles:
    """Open a file, a folder or an archive of RDF."""
    if path.is_dir() or path.suffix.lower() == ".zip":
        return RdfFiles(path, lang=options.lang, blank_nodes=options.blank_nodes)
    return RdfSource(path, lang=options.lang, blank_nodes=options.blank_nodes)


class RdfFiles:
    """The RDF files of a folder or a .zip archive, imported together.

    A blank node belongs to its file: those of different files are different, whatever their names.
    """

    format = "rdf"
    unknown: Literal["refuse", "add", "drop"] = "add"
    types_are_ids = True

    def __init__(
        self, path: str | Path, *, lang: str = "en", blank_nodes: BlankNodes = "fold"
    ) -> None:
        self.path, self.lang = Path(path), lang
        self.blank_nodes: BlankNodes | None = blank_nodes

    def describe(self) -> str:
        """Return the name of the folder or archive."""
        return self.path.name

    def batches(self, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        """Yield the content of one file after the other."""
        if self.path.is_dir():
            yield from self._of_files(_rdf_files(self.path), refusals, progress)
            return
        with tempfile.TemporaryDirectory(prefix="kgraft-zip-") as folder:
            yield from self._of_files(_unpacked(self.path, Path(folder)), refusals, progress)

    def _of_files(
        self, files: list[Path], refusals: Refusals, progress: Progress
    ) -> Iterator[Batch]:
        if not files:
            remedy = f"RDF files end in {' '.join(sorted(_IN_FOLDERS))}"
            raise BadInput("no RDF file is in it", file=str(self.path), remedy=remedy)
        for number, file in enumerate(files):
            source = RdfSource(file, lang=self.lang)
            source.blank_mark = f"f{number}" if len(files) > 1 else ""
            yield from source.batches(refusals, progress)
            if source.blank_nodes is None and len(files) > 1:
                remedy = "import it alone, and add the others to that graph"
                raise BadInput("this file was exported by kgraft", file=str(file), remedy=remedy)
            if len(files) == 1:
                self.types_are_ids = source.types_are_ids
                self.blank_nodes = self.blank_nodes if source.blank_nodes else None


def _rdf_files(folder: Path) -> list[Path]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return sorted(file for file in files if plain_suffix(file) in _IN_FOLDERS)


def _is_rdf(name: str) -> bool:
    return plain_suffix(Path(name)) in _IN_FOLDERS


def _unpacked(archive: Path, folder: Path) -> list[Path]:
    """Unpack the RDF files of an archive; their names are their numbers, so none leaves."""
    files = []
    try:
        with zipfile.ZipFile(archive) as packed:
            members = [
                m for m in packed.infolist() if plain_suffix(Path(m.filename)) in _IN_FOLDERS
            ]
            if sum(member.file_size for member in members) > MOST_BYTES:
                reason = f"it unpacks to more than {MOST_BYTES >> 30} GiB"
                raise BadInput(reason, file=str(archive), remedy="unpack it, and import the files")
            for number, member in enumerate(members):
                name = Path(member.filename).name
                (folder / str(number)).mkdir()
                target = folder / str(number) / name
                with packed.open(member) as source, target.open("wb") as out:
                    shutil.copyfileobj(source, out)
                files.append(target)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError, EOFError) as error:
        reason = f"the archive cannot be unpacked ({error})"
        raise BadInput(reason, file=str(archive), remedy="check it with `unzip -t`") from error
    return files


def _is_json_ld(path: Path) -> bool:
    """Whether one of JSON-LD's keywords is near the beginning of a .json file."""
    if path.is_dir() or plain_suffix(path) != ".json":
        return False
    with open_bytes(path, Silent()) as stream:
        return re.search(rb'"@(?:context|graph|id)"\s*:', stream.peek(BEGINNING)) is not None


def _has_rdf(path: Path) -> bool:
    return path.is_dir() and any(
        plain_suffix(file) in _SUFFIXES for file in path.iterdir() if file.is_file()
    )


FORMATS.register("rdf")(
    Format(
        open=open_rdf,
        suffixes=_SUFFIXES,
        signs={Sign.MARK: _is_json_ld, Sign.SUFFIX: _has_rdf},
    )
)
