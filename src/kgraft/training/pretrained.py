"""`Pretrained`: how everything that was trained is saved and loaded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar, cast

import pyarrow as pa
from safetensors import SafetensorError

from kgraft.errors import BadInput, NotFound
from kgraft.json_text import read_json_file, to_json
from kgraft.settings import Settings
from kgraft.storage import MODEL_MANIFEST, Kind, describe_file, new_file, sha256

MANIFEST = MODEL_MANIFEST
UNREADABLE = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError),
    *(SafetensorError, pa.ArrowException),
)
Config = TypeVar("Config", bound=Settings)


@dataclass(frozen=True)
class ModelManifest:
    """What a folder says of the model in it."""

    kind: str
    format: int
    config: dict[str, Any]
    facts: dict[str, Any] = field(default_factory=dict)  # how it was made: settings, data, figures
    files: dict[str, dict[str, Any]] = field(default_factory=dict)  # name → bytes, sha256


class Pretrained(ABC, Generic[Config]):
    """Base of everything that is saved: weights in safetensors, and a manifest written last.

    A subclass declares what it is called, the number of its format and the class of its `config`,
    and writes and reads its own files. The manifest holds a checksum of each of them.
    """

    kind: ClassVar[Kind]  # its marker is MANIFEST
    format: ClassVar[int] = 1
    made_by: ClassVar[str]  # the command that writes such a folder
    unversioned_file: ClassVar[str] = ""  # that folders of format 1 have, which had no manifest
    config_class: ClassVar[type[Settings]]
    check_content: ClassVar[bool] = True  # by checksum; else the sizes of files are compared
    config: Config

    def save_pretrained(
        self, folder: str | Path, *, facts: Mapping[str, Any] | None = None
    ) -> None:
        """Write the model to a folder; `facts` say how it was made."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        self._write_files(path)
        names = sorted(
            file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file()
        )
        files = {name: describe_file(path / name) for name in names if name != MANIFEST}
        manifest = ModelManifest(
            self.kind.name, self.format, self.config.to_dict(), dict(facts or {}), files
        )
        with new_file(path / MANIFEST) as partial:
            partial.write_text(to_json(asdict(manifest), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def from_pretrained(cls, folder: str | Path, **context: Any) -> Self:
        """Load a model from a folder; `context` is what it needs besides, such as its graph."""
        path = Path(folder)
        manifest = read_manifest(path, cls)
        verify_files(path, manifest, content=cls.check_content)
        try:
            config = cast(Config, cls.config_class.from_dict(manifest.config))
            return cls._read_files(path, config, manifest, **context)
        except UNREADABLE as error:
            if isinstance(error, BadInput | NotFound):
                raise
            raise cls.damaged(path, error) from error

    @classmethod
    def damaged(cls, folder: Path, reason: object) -> BadInput:
        """Return the error for a folder that cannot be read."""
        text = str(reason).strip().partition("\n")[0]
        return BadInput(
            f"cannot be read as a {cls.kind.name} ({text})",
            file=str(folder),
            remedy=f"write it again with '{cls.made_by}'",
        )

    @abstractmethod
    def _write_files(self, folder: Path) -> None:
        """Write the weights and what else the model is made of."""

    @classmethod
    @abstractmethod
    def _read_files(
        cls, folder: Path, config: Config, manifest: ModelManifest, **context: Any
    ) -> Self:
        """Read what `_write_files` wrote."""


def read_manifest(folder: Path, model: type[Pretrained[Any]]) -> ModelManifest:
    """Read what a folder says of the model in it; another kind or format is refused."""
    path = folder / MANIFEST
    if not path.is_file():
        if model.unversioned_file and (folder / model.unversioned_file).is_file():
            raise BadInput(
                f"is a {model.kind.name} of format 1, this kgraft reads {model.format}",
                file=str(folder),
                remedy=f"write it again with '{model.made_by}'",
            )
        raise NotFound(
            f"no {model.kind.name} at {folder}; give a folder that '{model.made_by}' wrote"
        )
    try:
        manifest = ModelManifest(**read_json_file(path))
    except (OSError, ValueError, TypeError) as error:
        raise model.damaged(folder, error) from error
    if manifest.kind != model.kind.name:
        raise BadInput(
            f"is a {manifest.kind}, not a {model.kind.name}",
            file=str(folder),
            remedy=f"give a folder that '{model.made_by}' wrote",
        )
    if manifest.format != model.format:
        remedy = f"write it again with '{model.made_by}'"
        newer = isinstance(manifest.format, int) and manifest.format > model.format
        raise BadInput(
            f"is a {manifest.kind} of format {manifest.format}, this kgraft reads {model.format}",
            file=str(folder),
            remedy="update kgraft" if newer else remedy,
        )
    return manifest


def verify_files(folder: Path, manifest: ModelManifest, *, content: bool = True) -> None:
    """Refuse a folder in which a file is missing or is not what the manifest says.

    Without `content` only sizes are compared.
    """
    for name, expected in manifest.files.items():
        path = folder / name
        if not path.is_file():
            raise BadInput(f"{name} is missing", file=str(folder), remedy="copy the whole folder")
        if path.stat().st_size != expected["bytes"]:
            reason = f"{name} has {path.stat().st_size} bytes instead of {expected['bytes']}"
            raise BadInput(reason, file=str(folder), remedy="copy the folder again")
        if content and sha256(path) != expected["sha256"]:
            reason = f"{name} is not the file that was written (its checksum differs)"
            raise BadInput(reason, file=str(folder), remedy="copy the folder again")
