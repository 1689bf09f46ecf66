"""Files and folders that appear complete or not at all: a partial one is flushed, then renamed."""

from __future__ import annotations

import errno
import glob
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgraft.errors import BadInput
from kgraft.json_text import read_json_file

MODEL_MANIFEST = "kgraft.json"  # in each folder of a model
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # what the system says of a full disk


@dataclass(frozen=True)
class Kind:
    """A kind of folder: what people call it, and the file that only such a folder has."""

    name: str
    marker: str

    def is_at(self, folder: Path) -> bool:
        """Tell whether a folder is of this kind; where its marker names a kind, that decides."""
        if not (folder / self.marker).is_file():
            return False
        if self.marker != MODEL_MANIFEST:
            return True
        try:
            return bool(read_json_file(folder / self.marker)["kind"] == self.name)
        except (OSError, ValueError, LookupError, TypeError):
            return True  # a damaged one may be replaced


def cache_folder() -> Path:
    """Return kgraft's cache folder: $KGRAFT_CACHE, or `kgraft` in the user's cache folder."""
    own = os.environ.get("KGRAFT_CACHE")
    shared = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "kgraft"
    return Path(own or shared).expanduser()


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def describe_file(path: Path) -> dict[str, Any]:
    """Return size and checksum of a file, as manifests keep them."""
    return {"bytes": path.stat().st_size, "sha256": sha256(path)}


def check_kinds(manifest: Any, pattern: Any) -> None:  # noqa: ANN401
    """Raise a TypeError where a field of a manifest is of another kind than the pattern's."""
    for name, value in vars(pattern).items():
        stored = getattr(manifest, name)
        if type(stored) is not type(value):
            raise TypeError(f"{name} is {stored!r}")
    for name, facts in manifest.files.items():
        if not isinstance(facts, dict) or not {"bytes", "sha256"} <= facts.keys():
            raise TypeError(f"no size and checksum of {name}")


def changed_file(folder: Path, files: dict[str, dict[str, Any]]) -> str | None:
    """Return which file of a manifest is missing or of another size, and how; None if none is."""
    for name, facts in files.items():
        path = folder / name
        size = path.stat().st_size if path.is_file() else None
        if size != facts["bytes"]:
            if size is None:
                return f"{path} is missing"
            return f"{path} has {size} bytes instead of {facts['bytes']}"
    return None


def check_name(target: Path) -> None:
    """Refuse to write under a name that is not UTF-8, which others could not read."""
    try:
        str(target).encode()
    except UnicodeEncodeError as error:
        shown = os.fsencode(target).decode(errors="backslashreplace")
        raise BadInput(f"the name {shown} is not UTF-8", remedy="write to another name") from error


def _make_parent(target: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        reason = "there is a file, not a folder"
        raise NotADirectoryError(errno.ENOTDIR, reason, str(target.parent)) from error


@contextmanager
def naming(target: Path, partial: Path) -> Iterator[None]:
    """Name the target in errors that name no file, or the partial one."""
    try:
        yield
    except OSError as error:
        named = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else ""
        if error.errno is not None and (
            error.errno in FULL or named.startswith(str(partial)) or str(partial) in str(error)
        ):
            raise OSError(error.errno, os.strerror(error.errno), str(target)) from error
        raise


def flush(path: Path) -> None:
    """Force a file or a folder to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """Yield a path to write to that becomes `target` when the block ends without an error.

    What was there before stays until then, and remains if the block fails.
    """
    check_name(Path(target.name))  # the folder may be the user's own cache, whatever its name
    _make_parent(target)
    partial = target.with_name(f"{target.name}.partial-{os.getpid()}")
    for path in _left_by_killed(target):
        if path != partial and path.is_file():
            path.unlink(missing_ok=True)
    try:
        with naming(target, partial):
            yield partial
            flush(partial)
            partial.replace(target)
    finally:
        with suppress(OSError):  # of a disk that cannot be written: there is nothing to remove
            partial.unlink(missing_ok=True)
    flush(target.parent)


@contextmanager
def new_folder(target: Path, kind: Kind, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a folder to write into that becomes `target` when the block ends without an error."""
    refuse_existing(target, kind, overwrite=overwrite)
    _make_parent(target)
    _sweep(target)
    partial = target.with_name(f"{target.name}.partial-{os.getpid()}")
    try:
        with naming(target, partial):
            partial.mkdir()
            yield partial
            refuse_existing(target, kind, overwrite=overwrite)
            _install(partial, target)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    flush(target.parent)


def refuse_existing(target: Path, kind: Kind, *, overwrite: bool = False) -> None:
    """Refuse a target that is there already, unless it is of the kind and may be overwritten."""
    check_name(target)
    if not target.exists():
        return
    if not overwrite:
        raise BadInput(f"{target} exists already; name another folder or pass --overwrite")
    if not kind.is_at(target):
        reason = f"{target} is not a {kind.name}, so it is not overwritten"
        raise BadInput(reason, remedy="name another folder")


def _install(partial: Path, target: Path) -> None:
    """Rename to the target; what was there steps aside first and is deleted last."""
    old = target.with_name(f"{partial.name}-old")
    try:
        if target.exists():
            target.rename(old)
        partial.rename(target)
    except OSError as error:
        if old.exists() and not target.exists():
            old.rename(target)
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
            reason = f"another process has written {target} meanwhile"
            raise BadInput(reason, remedy="look at it, or run the command again") from error
        raise
    shutil.rmtree(old, ignore_errors=True)


def _sweep(target: Path) -> None:
    """Remove what a killed writer of the same target left; put back what it set aside."""
    put_back(target)
    for path in _left_by_killed(target):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def put_back(target: Path) -> bool:
    """Put back what a writer that was killed while it replaced the target had set aside."""
    for path in _left_by_killed(target):
        if path.name.endswith("-old") and not target.exists():
            path.rename(target)
            return True
    return False


def _left_by_killed(target: Path) -> Iterator[Path]:
    """Yield what writers of a target that no longer run left next to it."""
    for path in list(target.parent.glob(f"{glob.escape(target.name)}.partial-*")):
        writer = path.name.removesuffix("-old").rpartition("-")[2]
        if writer.isdigit() and not _alive(int(writer)):
            yield path


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return process != os.getpid()
