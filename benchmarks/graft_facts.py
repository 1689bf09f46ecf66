"""Facts recalled by cloze: python -m benchmarks.graft_facts (wiki27k)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.grafted_wikipedia import (
    SEEDS,
    WORK,
    named_triples,
    trained,
    wikipedia_knowledge,
)
from benchmarks.harness import Benchmark, Goal, shared_data
from kgraft.graph import SPLITS, Graph, TripleArrays, build_graph, open_source
from kgraft.measure import paired_difference, share
from kgraft.storage import sha256
from kgraft.tasks import clozes, reciprocal_ranks
from kgraft.tasks.facts import Clozes
from kgraft.text import Encoder
from kgraft.vectors.entity_text import entity_texts

IN_GRAPH = 4000  # facts of train that are asked for
PROTOCOL = """
MRR of the hidden object of facts of wiki27k, said by the template of their relation; the object is
one token, ranked among all 30,522, other right objects left out. The encoders are those of
graft_lm, trained to read Wikipedia with knowledge (on) and without (off); no fact was said to them.
in_graph: 4,000 facts of train, which the graph holds; held_out: all of test, without a triple of
the graph between the two entities; unsaid: those of held_out whose object the graph's description
of the subject does not name either. on_vs_off is a ratio of the two MRRs; the difference has its
interval over facts, seeds pooled.
"""
GOALS: dict[str, Goal] = {
    "in_graph_on_vs_off": {"at_least": 3.0},
    "held_out_on_vs_off": {"at_least": 3.0},
}


def main() -> None:
    """Ask and record."""
    data = shared_data()
    if data is None:
        return
    knowledge = wikipedia_knowledge(data)
    asked = _asked(data, knowledge.graph)
    with Benchmark(
        "graft_facts",
        protocol=PROTOCOL,
        data={"name": "wiki27k", "sha256": sha256(data / "graphs" / "wiki27k" / "test.tsv")},
        seeds=SEEDS,
        goals=GOALS,
    ) as run:
        counts: dict[tuple[str, bool], list[np.ndarray]] = {}
        for seed in SEEDS:
            for knowing in (True, False):
                encoder, head = trained(knowledge, data, seed, knowing=knowing)
                for name, facts in asked.items():
                    found = reciprocal_ranks(encoder, head, facts, knowing=knowing)
                    counts.setdefault((name, knowing), []).append(found)
        for name, facts in asked.items():
            on, off = counts[name, True], counts[name, False]
            run.figure(f"{name}_facts", len(facts))
            run.difference(name, paired_difference(np.sum(on, 0), np.sum(off, 0)))
            run.figure(
                f"{name}_on_vs_off",
                [float(share(a.sum(0)) / share(b.sum(0))) for a, b in zip(on, off, strict=True)],
            )


def _asked(data: Path, held: Graph) -> dict[str, Clozes]:
    """Return facts in words that a graph holds, and that it does not."""
    folder = WORK / "wiki27k"
    if not folder.exists():
        build_graph(open_source(data / "graphs" / "wiki27k"), folder, name="wiki27k")
    graph, encoder = Graph.open(folder).whole(), Encoder.load()
    split = graph.triples.split
    known, test = (np.flatnonzero(split == SPLITS.index(name)) for name in ("train", "test"))
    facts = set(named_triples(held))
    known = known[[fact in facts for fact in named_triples(graph, known)]]
    inside = clozes(encoder, graph, graph.triples.take(known), graph.triples)
    some = np.random.default_rng(0).permutation(len(inside))[:IN_GRAPH]
    held_out = clozes(encoder, graph, graph.triples.take(test), graph.triples)
    asked = {"in_graph": inside.part(np.sort(some)), "held_out": held_out}
    asked["unsaid"] = held_out.part(_unsaid(graph, held, graph.triples.take(test), held_out))
    return asked


def _unsaid(graph: Graph, held: Graph, triples: TripleArrays, facts: Clozes) -> np.ndarray:
    """Return the facts whose object is not named in what the graph says of the subject."""
    ids, labels = graph.entities["id"].to_pylist(), graph.entities["label"].to_pylist()
    head, tail = triples.head[facts.triple].tolist(), triples.tail[facts.triple].tolist()
    texts = entity_texts(held, held.numbers_of([ids[number] for number in head])).to_pylist()
    pairs = zip(tail, texts, strict=True)
    told = [labels[number].lower() in text.lower() for number, text in pairs]
    return np.flatnonzero(~np.array(told, bool))


if __name__ == "__main__":
    main()
