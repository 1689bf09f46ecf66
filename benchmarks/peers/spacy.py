"""spaCy's entity linking on the same texts, names and entity vectors, as a peer."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import numpy as np

from kgraft.corpus import AnnotatedTexts
from kgraft.graph import Graph, Match, Mentions
from kgraft.link.knowledge import entity_text_vectors
from kgraft.link.score import compare, figures
from kgraft.text import Encoder
from kgraft.vectors import TextVectors

EPOCHS = 12
BATCH = 32
LABEL = "ENTITY"
SEED = 0


def spacy_links(
    graph: Graph, train: AnnotatedTexts, dev: AnnotatedTexts, test: AnnotatedTexts
) -> Mentions:
    """Train spaCy's recogniser and linker on `train`, keep the best on `dev`, link `test`."""
    import spacy
    from spacy.training import Example

    random.seed(SEED)
    nlp: Any = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("ner").add_label(LABEL)
    linker = nlp.add_pipe("entity_linker", config={"incl_context": True, "incl_prior": True})
    ids, vectors = graph.entities["id"].to_pylist(), entity_text_vectors(graph, Encoder.load())
    examples = [
        Example.from_dict(nlp.make_doc(text), _marks(train, number, ids))
        for number, text in enumerate(train.texts)
    ]
    examples = [e for e in examples if len(e.reference.ents)]
    nlp.get_pipe("ner").initialize(lambda: examples[:100], nlp=nlp)
    linker.initialize(
        lambda: examples[:100], nlp=nlp, kb_loader=lambda vocab: _base(vocab, graph, vectors)
    )
    optimiser = nlp.create_optimizer()
    best, kept = -1.0, None
    for _ in range(EPOCHS):
        random.shuffle(examples)
        for first in range(0, len(examples), BATCH):
            nlp.update(
                examples[first : first + BATCH], sgd=optimiser, annotates=["sentencizer", "ner"]
            )
        hits = _hits(_links(nlp, graph, dev), dev)
        if hits > best:
            best, kept = hits, nlp.to_bytes(exclude=["entity_linker"])
    if kept is not None:
        nlp.from_bytes(kept, exclude=["entity_linker"])
    return _links(nlp, graph, test)


def _marks(data: AnnotatedTexts, number: int, ids: list[str]) -> dict[str, object]:
    spans, links = [], {}
    mentions, gold = data.mentions, data.gold
    for row in np.flatnonzero(mentions.text == number).tolist():
        span = (int(mentions.start[row]), int(mentions.end[row]))
        if gold[row] >= 0 and 0 <= span[0] < span[1] <= len(data.texts[number]):
            spans.append((*span, LABEL))
            links[span] = {ids[gold[row]]: 1.0}
    return {"entities": spans, "links": links}


def _base(vocab: Any, graph: Graph, vectors: TextVectors) -> Any:  # noqa: ANN401
    """Return a knowledge base of all entities and their names."""
    from spacy.kb import InMemoryLookupKB

    base = InMemoryLookupKB(vocab, entity_vector_length=vectors.dimension)
    ids = graph.entities["id"].to_pylist()
    rows = [row for block in vectors.chunks() for row in block.tolist()]
    base.set_entities(ids, [1.0] * len(ids), rows)
    named: dict[str, dict[str, float]] = defaultdict(dict)
    aliases = graph.entities["aliases"].to_pylist()
    for number, label in enumerate(graph.entities["label"].to_pylist()):
        for name in {label.lower(), *(alias.lower() for alias in aliases[number])}:
            for candidate in graph.candidates(name)[:10]:
                named[name][candidate.entity.id] = candidate.prior
    for name, priors in named.items():
        total = max(sum(priors.values()), 1.0)
        base.add_alias(name, list(priors), [prior / total for prior in priors.values()])
    return base


def _links(nlp: Any, graph: Graph, data: AnnotatedTexts) -> Mentions:  # noqa: ANN401
    rows = []
    for number, doc in enumerate(nlp.pipe(data.texts)):
        rows += [(number, e.start_char, e.end_char, e.kb_id_) for e in doc.ents]
    text, start, end, ids = zip(*rows, strict=True) if rows else ((), (), (), ())
    entity = graph.indices_of([i if i != "NIL" else "" for i in ids])
    linked = np.flatnonzero(entity >= 0)
    texts, starts, ends = (np.array(c, np.int64)[linked] for c in (text, start, end))
    count = len(linked)
    ones, kinds = np.ones(count, np.float32), np.full(count, Match.NEIGHBOUR, np.uint8)
    no_forms = np.zeros(count, np.uint8)
    return Mentions.group(texts, starts, ends, entity[linked], ones, kinds, no_forms)


def _hits(links: Mentions, gold: AnnotatedTexts) -> float:
    return figures(compare(links, gold), np.ones(len(links), bool))["weak_f1"]
