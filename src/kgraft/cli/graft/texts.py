"""The texts that a graft is trained on: a file's or the graph's own, made ready for the encoder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgraft.corpus import AnnotatedTexts
    from kgraft.graft import GraftedEncoder, GraphKnowledge, NoticedWindows, WordNetKnowledge
    from kgraft.graft.next_sentence import Pairs
    from kgraft.graph import Graph

FACTS = 16_000  # with a hidden word, made from the graph where no texts are given


@dataclass(frozen=True)
class Prepared:
    """Windows to learn from and to choose by, what they are made of, and how to say that."""

    learnt: NoticedWindows
    chosen_by: NoticedWindows
    digest: str
    said: str


def prepare(
    grafted: GraftedEncoder,
    layer: int,
    knowledge: GraphKnowledge,
    path: Path | None,
    seed: int,
    *,
    counted: bool = False,
    found: bool = False,
) -> Prepared:
    """Read the texts of a file, or make some from the graph; a tenth is to choose by.

    With `counted`, the graph's counts of senses are of these texts. With `found`, the words whose
    senses are marked are looked up as in any text, not by their marked lemma and part of speech.
    """
    from kgraft.corpus import has_field
    from kgraft.graft import ExpectingKnowledge, WordNetKnowledge

    if isinstance(knowledge, ExpectingKnowledge) and path is None:
        return _clozes(grafted, layer, knowledge.graph, seed)
    if isinstance(knowledge, WordNetKnowledge) and (path is None or has_field(path, "lemma")):
        return _senses(grafted, layer, knowledge, path, seed, counted=counted, found=found)
    return _annotated(grafted, layer, knowledge, path, seed)


def _senses(
    grafted: GraftedEncoder,
    layer: int,
    knowledge: WordNetKnowledge,
    path: Path | None,
    seed: int,
    *,
    counted: bool,
    found: bool,
) -> Prepared:
    from kgraft.corpus import hold_out
    from kgraft.tasks.senses import (
        collect,
        example_sentences,
        found_senses,
        noticed_senses,
        sense_sentences,
        sentences_digest,
    )

    sentences = list(sense_sentences(path) if path else example_sentences(knowledge))
    rows = hold_out(len(sentences), seed=seed)
    whole = sentences if counted else ()
    parts = [collect(knowledge, (sentences[n] for n in held), counted=whole) for held in rows]
    marks = (".counted" if counted else "") + (".found" if found else "")
    digest = sentences_digest(sentences) + marks
    said = f"{len(rows[0]):,} texts with {len(parts[0]):,} marked words"
    notice = found_senses if found else noticed_senses
    learnt, chosen_by = (notice(grafted, layer, part) for part in parts)
    return Prepared(learnt, chosen_by, digest, f"{said}, {len(rows[1]):,} texts to choose by")


def _clozes(grafted: GraftedEncoder, layer: int, graph: Graph, seed: int) -> Prepared:
    import numpy as np

    from kgraft.corpus import hold_out
    from kgraft.errors import BadInput
    from kgraft.tasks import clozes, noticed_clozes

    order = np.random.default_rng(seed).permutation(len(graph.triples))
    whole = clozes(grafted, graph, graph.triples.take(order), graph.triples)
    if not len(whole):
        raise BadInput(
            "no fact of this graph has an object of one word to recall",
            remedy="leave --expect out, or give a graph with labels that the encoder knows",
        )
    whole = whole.part(np.arange(min(len(whole), FACTS)))
    rows = hold_out(len(whole), seed=seed)
    learnt, chosen_by = (
        noticed_clozes(grafted, layer, whole.part(held), seed=seed) for held in rows
    )
    said = f"{len(rows[0]):,} facts with a hidden word, {len(rows[1]):,} to choose by"
    return Prepared(learnt, chosen_by, whole.digest(), said)


def _annotated(
    grafted: GraftedEncoder, layer: int, knowledge: GraphKnowledge, path: Path | None, seed: int
) -> Prepared:
    from kgraft.corpus import read_annotated, read_document_names, verbalise_graph
    from kgraft.graft import notice
    from kgraft.graft.next_sentence import split_pairs

    graph = knowledge.graph
    whole = read_annotated(path, graph) if path else verbalise_graph(graph, seed=seed)
    documents = read_document_names(path) if path else None
    parts: tuple[AnnotatedTexts, AnnotatedTexts] | tuple[Pairs, Pairs] = (
        split_pairs(whole, documents, seed=seed) if documents else whole.hold_out(seed=seed)
    )
    counts = [f"{len(part):,}" for part in parts]
    said = f"{counts[0]} {'pairs of texts' if documents else 'texts'}, {counts[1]} to choose by"
    learnt, chosen_by = (notice(grafted, part, layer) for part in parts)
    return Prepared(learnt, chosen_by, whole.digest(), said)
