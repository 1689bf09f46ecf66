"""What is given on the command line, looked at before anything slow is loaded."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from kgraft.errors import BadInput, NotFound
from kgraft.storage import MODEL_MANIFEST, Kind, refuse_existing

if TYPE_CHECKING:
    from kgraft.graph import Graph

ANY = Kind("folder of ours", "")

MODELS = ("transe", "rotate", "distmult", "complex")
PRESETS = (*MODELS, *(f"{model}-{graph}" for graph in ("fb15k237", "wn18rr") for model in MODELS))


def choose(what: str, name: str | None, among: Collection[str]) -> None:
    """Refuse a name that is none of those there are."""
    if name is not None and name not in among:
        raise BadInput(f"no {what} is named {name!r}; there are {', '.join(among)}")


def need_texts(path: Path | None) -> None:
    """Refuse a file of JSON Lines that is not there; one of the same name with .gz does."""
    if path is not None and not (path.is_file() or path.with_name(f"{path.name}.gz").is_file()):
        raise NotFound(f"no file {path}; give JSON Lines")


def need_lines(path: Path | None) -> None:
    """Refuse a file of texts to link that is not there."""
    if path is not None and not path.is_file():
        raise NotFound(f"no file {path}; give JSON Lines with a text, or plain lines")


def need_new_file(path: Path | None) -> None:
    """Refuse a file to write that is there already."""
    if path is not None and path.exists():
        raise BadInput(f"{path} exists already", remedy="name another file")


def need_entities(graph: Graph, ids: Iterable[str]) -> None:
    """Refuse what is neither the id nor the label of an entity of a graph."""
    for name in ids:
        graph.index(name)


def need_data(path: Path | None, *names: str) -> None:
    """Refuse a folder of a task's files that is not there, or lacks one of them."""
    if path is None:
        return
    if not path.is_dir():
        raise NotFound(f"no folder {path}; give the one with the task's files")
    for name in names:
        need_texts(path / name)


def need_link_model(folder: str | Path | None) -> None:
    """Refuse a link model that is not there."""
    _need_model(folder, "link model", "kgraft link train")


def need_graft(folder: str | Path | None) -> None:
    """Refuse a graft that is not there."""
    _need_model(folder, "graft", "kgraft graft train")


def need_joint_model(folder: str | Path | None) -> None:
    """Refuse a joint model that is not there."""
    _need_model(folder, "joint model", "kgraft joint pretrain")


def need_answerer(folder: str | Path | None) -> None:
    """Refuse an answerer that is not there."""
    _need_model(folder, "question answerer", "kgraft ask train")


def need_vectors(folder: Path) -> None:
    """Refuse trained vectors that are not there."""
    if not folder.is_dir():
        command = f"kgraft embed train GRAPH --out {folder}"
        raise NotFound(f"no vectors at {folder}; train again: {command}")
    if not (folder / "vectors.json").is_file():
        remedy = "name the folder that 'kgraft embed train' wrote"
        raise BadInput(f"{folder} is not a vectors folder (it has no vectors.json)", remedy=remedy)


def need_room(out: Path, *, overwrite: bool = False) -> None:
    """Refuse a folder to write that is there already, or whose name cannot be written."""
    if not overwrite:
        refuse_existing(out, ANY)


def _need_model(folder: str | Path | None, kind: str, command: str) -> None:
    """Refuse a folder that is not of a kind of model, by its manifest."""
    if folder is None:
        return
    if not (Path(folder) / MODEL_MANIFEST).is_file():
        raise NotFound(f"no {kind} at {folder}; give a folder that '{command}' wrote")
    if not Kind(kind, MODEL_MANIFEST).is_at(Path(folder)):
        remedy = f"give a folder that '{command}' wrote"
        raise BadInput(f"is not a {kind}", file=str(folder), remedy=remedy)
