"""Where encoders are found: a folder, the Hugging Face cache, else the hub. Needs no torch."""

from __future__ import annotations

import re
from pathlib import Path

from kgraft.errors import NotFound
from kgraft.text import default

FILES = ["*.json", "*.txt", "*.model", "*.safetensors"]
SECONDS = 10.0  # how long the hub may take to answer at all

_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?", re.ASCII)


def find_encoder(name_or_folder: str | Path | None) -> tuple[str, Path]:
    """Return an encoder's name and the folder of its files; None is the default encoder."""
    if name_or_folder in (None, default.HUB_NAME):
        folder = default.packaged_folder() or hub_folder(default.HUB_NAME)
        default.verify(folder)
        return default.HUB_NAME, folder
    path = Path(str(name_or_folder)).expanduser()
    if (path / "config.json").is_file():
        return str(name_or_folder), path
    is_path = isinstance(name_or_folder, Path) or str(name_or_folder).startswith((".", "~"))
    if is_path or path.is_absolute() or path.exists():
        raise NotFound(f"no encoder at {path}; give the folder that holds its config.json")
    return str(name_or_folder), hub_folder(str(name_or_folder))


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
