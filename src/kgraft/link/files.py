"""Files of texts in, files of links out: one line per text, resumed where a run stopped."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TextIO

from kgraft.corpus import (
    AnnotatedTexts,
    Document,
    has_field,
    process_documents,
    read_annotated,
    read_links,
)
from kgraft.graph import Graph
from kgraft.link.linker import TEXTS_AT_ONCE, Linker
from kgraft.progress import Progress
from kgraft.storage import sha256


def link_file(
    linker: Linker,
    file: Path,
    out: Path | TextIO,
    *,
    threshold: float | None = None,
    progress: Progress | None = None,
) -> None:
    """Link a file of texts and write one line of JSON per text, to a file or a stream.

    Interrupted, the same call resumes; see `kgraft.corpus.process_documents`.
    """

    def link(documents: list[Document]) -> list[Document]:
        links = linker.link([document["text"] for document in documents], threshold=threshold)
        return [
            {**document, "links": [link.to_dict() for link in own]}
            for document, own in zip(documents, links, strict=True)
        ]

    process_documents(
        file,
        out,
        link,
        identity=lambda: run_identity(linker, threshold),
        title="linking",
        batch=TEXTS_AT_ONCE,
        progress=progress,
    )


def read_or_link(
    path: Path, graph: Graph, out: Path, *, progress: Progress | None = None
) -> AnnotatedTexts:
    """Read the texts of a file with their mentions; where none are marked, link the texts first.

    The links are kept beside `out`, so that they are made once.
    """
    if has_field(path, "mentions"):
        return read_annotated(path, graph)
    name = f"{out.name}.{graph.manifest.version}-{sha256(path)[:8]}.linked.jsonl"
    linked = out.with_name(name)
    if not linked.exists():
        link_file(Linker(graph), path, linked, progress=progress)
    return read_links(linked, graph)


def run_identity(linker: Linker, threshold: float | None) -> dict[str, str]:
    """Return what links a file; a resumed run must be linked by the same."""
    options = hashlib.sha256(repr(linker.options).encode()).hexdigest()[:16]
    least = linker.threshold if threshold is None else threshold
    return {
        "model": linker.model.digest(),
        "graph": linker.knowledge.version,
        "threshold": f"{least:.6f}",
        "options": options,
    }
