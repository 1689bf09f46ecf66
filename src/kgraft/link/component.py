"""The spaCy component `kgraft_linker`: entities of a graph as `doc.ents`, ids in `ent.kb_id_`.

nlp = spacy.blank("en")
nlp.add_pipe("kgraft_linker", config={"graph": "world"})
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import islice
from typing import Any

from kgraft.errors import import_optional
from kgraft.graph import Graph
from kgraft.link.linker import TEXTS_AT_ONCE, Link, Linker

NAME = "kgraft_linker"
LABEL = "KGRAFT"  # of an entity without a type


class LinkerComponent:
    """Sets `doc.ents` to the links of a text; scores are in `doc._.kgraft_links`."""

    def __init__(self, linker: Linker, threshold: float | None) -> None:
        self.linker, self.threshold = linker, threshold

    def __call__(self, doc: Any) -> Any:  # noqa: ANN401
        """Link one document."""
        return self._set(doc, self.linker(doc.text, threshold=self.threshold))

    def pipe(self, stream: Iterable[Any], batch_size: int = TEXTS_AT_ONCE) -> Iterator[Any]:
        """Link documents, many at a time."""
        remaining = iter(stream)
        while docs := list(islice(remaining, batch_size)):
            links = self.linker.link([doc.text for doc in docs], threshold=self.threshold)
            yield from map(self._set, docs, links)

    def _set(self, doc: Any, links: list[Link]) -> Any:  # noqa: ANN401
        spans: list[Any] = []
        for link in links:
            label = link.entity.types[0] if link.entity.types else LABEL
            span = doc.char_span(
                link.start, link.end, label=label, kb_id=link.entity.id, alignment_mode="expand"
            )
            if span is not None and (not spans or span.start >= spans[-1].end):
                spans.append(span)
        doc.ents = spans
        doc._.kgraft_links = links
        return doc


def register() -> None:
    """Make the component known to spaCy; this module does so when it is imported."""
    language = import_optional("spacy.language", "spacy").Language
    tokens = import_optional("spacy.tokens", "spacy")
    if not tokens.Doc.has_extension("kgraft_links"):
        tokens.Doc.set_extension("kgraft_links", default=[])
    settings = {"graph": "world", "model": None, "threshold": None}
    language.factory(NAME, default_config=settings)(create)


def create(
    nlp: Any,  # noqa: ANN401, ARG001
    name: str,  # noqa: ARG001
    graph: str,
    model: str | None,
    threshold: float | None,
) -> LinkerComponent:
    """Make the component of a pipeline."""
    return LinkerComponent(Linker(Graph.open(graph), model), threshold)


if find_spec("spacy"):  # spaCy's entry points bring the function; its settings come from here
    register()
