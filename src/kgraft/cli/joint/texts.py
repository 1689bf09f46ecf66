"""The texts of joint pre-training: marked ones as they are, others linked first."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgraft.json_text import parse_json
from kgraft.storage import sha256

if TYPE_CHECKING:
    from kgraft.corpus import AnnotatedTexts
    from kgraft.graph import Graph
    from kgraft.progress import Progress

LOOKED_AT = 20  # lines of a file that tell whether its mentions are marked


def read_texts(
    path: Path | None, graph: Graph, out: Path, seed: int, *, progress: Progress
) -> AnnotatedTexts:
    """Read the texts of a file with their mentions, or say what the graph knows.

    Links that are made are kept beside `out`, so that they are made once.
    """
    from kgraft.corpus import annotate, read_annotated, read_json_lines, verbalise_graph
    from kgraft.link import Linker, link_file

    if path is None:
        return verbalise_graph(graph, seed=seed)
    if any('"mentions"' in line for _, line in itertools.islice(read_json_lines(path), LOOKED_AT)):
        return read_annotated(path, graph)
    name = f"{out.name}.{graph.manifest.version}-{sha256(path)[:8]}.linked.jsonl"
    linked = out.with_name(name)
    if not linked.exists():
        link_file(Linker(graph), path, linked, progress=progress)
    return annotate(graph, _examples(linked))


def _examples(path: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    from kgraft.corpus import read_json_lines

    for _, line in read_json_lines(path):
        told = parse_json(line)
        yield (
            told["text"],
            [
                {"start": link["start"], "end": link["end"], "entity": link["id"]}
                for link in told["links"]
            ],
        )
