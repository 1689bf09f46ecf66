"""What is given on the command line, looked at before anything slow is loaded."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgraft.errors import BadInput, NotFound
from kgraft.json_text import parse_json, read_json_file
from kgraft.storage import Kind, refuse_existing

if TYPE_CHECKING:
    from kgraft.graph import Graph

ANY = Kind("folder of ours", "")
FIRST_LINES = 20  # of a file of texts that are looked at


@dataclass(frozen=True)
class _Model:
    """A kind of model: its description with a field that only such have, and its weights."""

    name: str
    command: str  # that writes such a folder
    marker: str
    field: str
    weights: tuple[str, ...]


_JOINT = ("joint.safetensors", "encoder/model.safetensors")
LINK_MODEL = _Model(
    "link model", "kgraft link train", "config.json", "longest", ("model.safetensors",)
)
GRAFT = _Model("graft", "kgraft graft train", "config.json", "grafts", ("graft.safetensors",))
JOINT_MODEL = _Model("joint model", "kgraft joint pretrain", "joint.json", "attention", _JOINT)
VECTORS = _Model(
    "vectors folder", "kgraft embed train", "vectors.json", "dimension", ("entities.safetensors",)
)
ANSWERER = _Model(
    "answerer",
    "kgraft joint train",
    "questions.json",
    "hops",
    ("walker.safetensors", *_JOINT),
)

MODELS = ("transe", "rotate", "distmult", "complex")
PRESETS = (*MODELS, *(f"{model}-{graph}" for graph in ("fb15k237", "wn18rr") for model in MODELS))
SIMILARITIES = ("dot", "l2", "squared", "l1", "modulus")
LOSSES = ("softmax", "sampled-softmax", "self-adversarial", "margin")
CORRUPTIONS = ("both", "uniform", "bernoulli")
OPTIMISERS = ("adagrad", "adam")
REGULARISERS = ("n3", "l2", "dura")
VECTOR_FILES = {  # suffixes by format
    "tsv": (".tsv",),
    "word2vec": (".vec", ".txt"),
    "numpy": (".npy",),
    "safetensors": (".safetensors",),
}
PICTURES = (".png", ".svg", ".pdf")
GRAFTS = ("attention", "entity", "relation")
GRAFT_TASKS = ("wic", "semeval2010-8", "typing", "senses", "facts", "perplexity")
JOINT_TASKS = ("classes", "links", "relations", "questions")
PARTS = {  # files of the tasks that have some
    "wic": ("train.jsonl", "test.jsonl"),
    "semeval2010-8": ("train.jsonl", "test.jsonl"),
    "typing": ("train.jsonl", "test.jsonl"),
    "relations": ("train.jsonl", "test.jsonl"),
    "questions": ("train.jsonl", "dev.jsonl", "test.jsonl"),
}


def choose(what: str, name: str | None, among: Collection[str]) -> None:
    """Refuse a name that is none of those there are."""
    if name is not None and name not in among:
        raise BadInput(f"no {what} is named {name!r}; there are {', '.join(among)}")


def need_texts(path: Path | None) -> None:
    """Refuse what is no file of JSON Lines, by its first lines; one of the name with .gz does."""
    if path is None:
        return
    from itertools import islice

    from kgraft.graph.annotated import json_lines

    for number, line in islice(json_lines(path), FIRST_LINES):
        try:
            is_object = isinstance(parse_json(line), dict)
            reason = "" if is_object else "no object"
        except ValueError as error:
            reason = str(error)
        if reason:
            remedy = "give JSON Lines, an object with a text each"
            raise BadInput(f"no JSON Lines ({reason})", file=str(path), line=number, remedy=remedy)


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
    """Refuse the name of a file that tells no format where none is named."""
    if format is None and out.suffix.lower() not in suffixes:
        remedy = f"end it in one of {', '.join(suffixes)}"
        raise BadInput(f"the name {out.name} tells no format", remedy=remedy)


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
    if task in PARTS and path is None:
        raise BadInput(f"{task} needs data", remedy="give the folder with its files: --data")
    if task == "facts" and path is not None:
        from kgraft.graph import Graph

        Graph.open(path)
    elif task == "perplexity":
        need_texts(path)
    else:
        need_data(path, *PARTS.get(task, ()))


def need_encoder(name: str | Path | None) -> None:
    """Refuse an encoder that is neither a folder nor known by its name."""
    if name is not None:
        from kgraft.text import find_encoder

        find_encoder(name)


def need_link_model(folder: str | Path | None) -> None:
    """Refuse a link model that is not there, or whose encoder is not."""
    told = _need(folder, LINK_MODEL)
    need_encoder(told.get("encoder"))


def need_graft(folder: str | Path | None) -> None:
    """Refuse a graft that is not there, or whose host is not."""
    told = _need(folder, GRAFT)
    need_encoder(told.get("host"))


def need_joint_model(folder: str | Path | None) -> None:
    """Refuse a joint model that is not there."""
    _need(folder, JOINT_MODEL)


def need_answerer(folder: str | Path | None) -> None:
    """Refuse an answerer that is not there."""
    _need(folder, ANSWERER)


def need_vectors(folder: Path) -> None:
    """Refuse trained vectors that are not there."""
    if not folder.is_dir():
        command = f"kgraft embed train GRAPH --out {folder}"
        raise NotFound(f"no vectors at {folder}; train anew: {command}")
    if not (folder / "vectors.json").is_file():
        remedy = "name the folder that 'kgraft embed train' wrote"
        raise BadInput(f"{folder} is no vectors folder (it has no vectors.json)", remedy=remedy)
    _need(folder, VECTORS)


def need_room(out: Path, *, overwrite: bool = False) -> None:
    """Refuse a folder to write that is there already, or whose name cannot be written."""
    if not overwrite:
        refuse_existing(out, ANY)


def _need(folder: str | Path | None, model: _Model) -> dict[str, Any]:
    """Refuse a folder without a model of the kind, as far as its description and headers tell."""
    if folder is None:
        return {}
    marker = Path(folder) / model.marker
    if not marker.is_file():
        remedy = f"give the folder that '{model.command}' wrote"
        raise NotFound(f"no {model.name} at {folder}; {remedy}")
    try:
        told = read_json_file(marker)
    except ValueError as error:
        raise BadInput(f"is damaged ({error})", file=str(marker)) from error
    if not isinstance(told, dict) or model.field not in told:
        remedy = f"give the folder that '{model.command}' wrote"
        raise BadInput(f"is no {model.name}'s ({model.field} is missing)", file=str(marker),
                       remedy=remedy)  # fmt: skip
    for name in model.weights:
        _need_weights(Path(folder) / name)
    return told


def _need_weights(path: Path) -> None:
    """Refuse a file of weights that is absent, cut short, or another kind of file."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise NotFound(f"no file {path}; the folder is not whole: train or copy it again")
    try:
        with safe_open(path, framework="numpy"):
            pass
    except (OSError, SafetensorError) as error:
        reason = " ".join(str(error).split())
        remedy = "train or copy it again"
        raise BadInput(f"cannot be read ({reason})", file=str(path), remedy=remedy) from error
