"""What is given on the command line, looked at before anything slow is loaded."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgraft.errors import BadInput, NotFound
from kgraft.json_text import parse_json, read_json_file
from kgraft.storage import MODEL_MANIFEST, Kind, refuse_existing

if TYPE_CHECKING:
    from kgraft.graph import Graph

ANY = Kind("folder of ours", "")
FIRST_LINES = 20  # of a file of texts that are looked at

VECTOR_FILES = {  # suffixes by format
    "tsv": (".tsv",),
    "word2vec": (".vec", ".txt"),
    "numpy": (".npy",),
    "safetensors": (".safetensors",),
}
PICTURES = (".png", ".svg", ".pdf")
TASK_FILES = {  # files of the tasks that have some
    "wic": ("train.jsonl", "test.jsonl"),
    "semeval2010-8": ("train.jsonl", "test.jsonl"),
    "typing": ("train.jsonl", "test.jsonl"),
    "relations": ("train.jsonl", "test.jsonl"),
}


def choose(what: str, name: str | None, among: Collection[str]) -> None:
    """Refuse a name that is not among those there are."""
    if name is not None and name not in among:
        raise BadInput(f"no {what} is named {name!r}; there are {', '.join(among)}")


def need_texts(path: Path | None) -> None:
    """Refuse what is not a file of JSON Lines, by its first lines; one packed as .gz will do."""
    if path is None:
        return
    from kgraft.corpus import read_json_lines

    for number, line in islice(read_json_lines(path), FIRST_LINES):
        try:
            reason = "" if isinstance(parse_json(line), dict) else "not an object"
        except ValueError as error:
            reason = str(error)
        if reason:
            remedy = "give JSON Lines, one object with a text per line"
            reason = f"not JSON Lines ({reason})"
            raise BadInput(reason, file=str(path), line=number, remedy=remedy)


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


def need_suffix(out: Path, format: str | None, suffixes: Collection[str]) -> None:
    """Refuse the name of a file that implies no format where none is given."""
    if format is None and out.suffix.lower() not in suffixes:
        remedy = f"end it in one of {', '.join(suffixes)}"
        raise BadInput(f"the name {out.name} implies no format", remedy=remedy)


def need_data(path: Path | None, *names: str) -> None:
    """Refuse a folder of a task's files that is not there, or lacks one of them."""
    if path is None:
        return
    if not path.is_dir():
        raise NotFound(f"no folder {path}; give the one with the task's files")
    for name in names:
        need_texts(path / name)


def need_task_data(task: str, path: Path | None) -> None:
    """Refuse data that a task cannot be measured on."""
    if task in TASK_FILES and path is None:
        raise BadInput(f"{task} needs data", remedy="give the folder with its files: --data")
    if task == "facts" and path is not None:
        from kgraft.graph import Graph

        Graph.open(path)
    elif task == "perplexity":
        need_texts(path)
    else:
        need_data(path, *TASK_FILES.get(task, ()))


def need_encoder(name: str | Path | None) -> None:
    """Refuse an encoder that is neither a folder nor known by its name."""
    if name is not None:
        from kgraft.text import find_encoder

        find_encoder(name)


def need_link_model(folder: str | Path | None) -> None:
    """Refuse a link model that is not there, or whose encoder is not."""
    config = _need_model(folder, "link model", "kgraft link train")
    need_encoder(config.get("encoder"))


def need_graft(folder: str | Path | None) -> None:
    """Refuse a graft that is not there, or whose host is not."""
    config = _need_model(folder, "graft", "kgraft graft train", "graft.safetensors")
    need_encoder(config.get("host"))


def need_joint_model(folder: str | Path | None) -> None:
    """Refuse a joint model that is not there."""
    _need_model(folder, "joint model", "kgraft joint pretrain", "joint.json")


def need_answerer(folder: str | Path | None) -> None:
    """Refuse an answerer that is not there."""
    _need_model(folder, "question answerer", "kgraft ask train", "questions.json")


def need_vectors(folder: Path) -> None:
    """Refuse trained vectors that are not there, or cut short."""
    _need_model(folder, "vectors folder", "kgraft embed train")


def need_reasoner(folder: Path | None) -> None:
    """Refuse a reasoner that is not there, or cut short."""
    _need_model(folder, "reasoner", "kgraft reason train")


def need_text_model(folder: Path | None) -> None:
    """Refuse a model of texts that is not there, or cut short."""
    _need_model(folder, "text completer", "kgraft reason train --text")


def need_completer(folder: Path) -> dict[str, Any]:
    """Return the config of a completer; refuse one that is not there, or cut short."""
    return _need_model(folder, "completer", "kgraft reason combine")


def need_rules(path: Path | None) -> dict[str, Any]:
    """Refuse rules that are not there, and return the config of a folder of them."""
    if path is not None and path.is_file():
        return {}
    return _need_model(path, "rules folder", "kgraft reason mine")


def need_room(out: Path, *, overwrite: bool = False) -> None:
    """Refuse a folder to write that is there already, or whose name cannot be written."""
    if not overwrite:
        refuse_existing(out, ANY)


def _need_model(
    folder: str | Path | None, kind: str, command: str, unversioned: str = ""
) -> dict[str, Any]:
    """Return the config of a model; refuse a folder of another kind, or with a file cut short.

    Folders of format 1 had no manifest, but may have an `unversioned` file.
    """
    if folder is None:
        return {}
    manifest, remedy = Path(folder) / MODEL_MANIFEST, f"give a folder that '{command}' wrote"
    if not manifest.is_file():
        if unversioned and (Path(folder) / unversioned).is_file():
            remedy = f"write it again with '{command}'"
            raise BadInput(f"is a {kind} of format 1", file=str(folder), remedy=remedy)
        raise NotFound(f"no {kind} at {folder}; {remedy}")
    stored = _read_manifest(manifest, kind, remedy)
    if stored.get("kind") != kind:
        reason = f"is a {stored.get('kind')}, not a {kind}"
        raise BadInput(reason, file=str(folder), remedy=remedy)
    _need_files(Path(folder), stored.get("files"))
    config = stored.get("config")
    return config if isinstance(config, dict) else {}


def _read_manifest(path: Path, kind: str, remedy: str) -> dict[str, Any]:
    try:
        stored = read_json_file(path)
    except ValueError as error:
        raise BadInput(f"is damaged ({error})", file=str(path), remedy=remedy) from error
    if not isinstance(stored, dict):
        raise BadInput(f"is not the manifest of a {kind}", file=str(path), remedy=remedy)
    return stored


def _need_files(folder: Path, files: object) -> None:
    """Refuse a folder in which a file that its manifest names is missing or of another size."""
    for name, facts in files.items() if isinstance(files, dict) else ():
        path = folder / name
        if not path.is_file() or path.stat().st_size != facts.get("bytes"):
            seen = "is cut short" if path.is_file() else "is missing"
            raise BadInput(f"{name} {seen}", file=str(folder), remedy="train or copy it again")
