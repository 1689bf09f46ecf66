"""Encoders by name: from the Hugging Face cache on disk, else from the hub."""

from __future__ import annotations

import re
from pathlib import Path

from kgraft.errors import NotFound

FILES = ["*.json", "*.txt", "*.model", "*.safetensors"]
SECONDS = 10.0  # how long the hub may take to answer at all

_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?", re.ASCII)


def hub_folder(name: str) -> Path:
    """Return the folder of a model of the hub, downloaded where the cache has none."""
    if not _NAME.fullmatch(name):
        raise NotFound(f"no encoder at {name}: no such folder, and no name of the hub")
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]

    cached = _cached(name)
    if cached is not None:
        return cached
    try:
        HfApi().model_info(name, timeout=SECONDS)  # a download by itself waits without end
        return Path(snapshot_download(name, allow_patterns=FILES))
    except (OSError, ValueError, HTTPError) as error:
        reason = str(error).partition("\n")[0]
        raise NotFound(
            f"no encoder {name}: no such folder, not in the Hugging Face cache, and the hub says: "
            f"{reason}; give a folder or a name of the hub, or leave it out for the default"
        ) from error


def _cached(name: str) -> Path | None:
    """Return the folder the cache holds, where it is whole."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(name, allow_patterns=FILES, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        return None
    whole = (folder / "config.json").is_file() and any(folder.glob("*.safetensors"))
    return folder if whole else None
