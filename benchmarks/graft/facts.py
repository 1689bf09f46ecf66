"""Facts recalled by cloze: python -m benchmarks.graft.facts (wiki27k)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.cached import graft_is_current
from benchmarks.graft.masked_start import masked_start
from benchmarks.graft.wikipedia import SEEDS, named_triples, wikipedia_knowledge
from benchmarks.harness import WORK, Benchmark, Goal, shared_data
from kgraft.corpus import hold_out
from kgraft.graft import (
    AttentionSettings,
    Clozes,
    GraftedEncoder,
    GraftSettings,
    GraphKnowledge,
    locate_clozes,
    make_clozes,
    train_graft,
)
from kgraft.graph import SPLITS, Graph, build_graph, open_source
from kgraft.measure import paired_difference, ratio
from kgraft.storage import sha256
from kgraft.tasks.graft.facts import reciprocal_ranks
from kgraft.text import Encoder, MaskedHead
from kgraft.vectors import entity_texts

BENCHMARK = Benchmark(
    name="graft_facts",
    measures="facts of wiki27k recalled by cloze, with a graft and without",
    minutes=112,
    data=(
        "corpus/vital_articles.jsonl.gz",
        "corpus/wikipedia_linked.jsonl.gz",
        "graphs/wiki27k",
        "graphs/wikidata",
    ),
    off="switched off",
)

IN_GRAPH = 4000  # facts of train that are asked for
LEARNT = 40_000  # other facts that the graft learns from
LAYER = 6  # the last: what is recalled goes straight to the head
ATTENTION = AttentionSettings(size=384, threshold=None, log_prior=True)
SETTINGS = GraftSettings(
    linker_epochs=0, epochs=4, masked_fraction=1.0, frozen_layers=6, graft_rate=1e-3,
    head_rate=1e-12,  # the least there is: the head stays as it is
)  # fmt: skip
PROTOCOL = """
MRR of the hidden object of facts of wiki27k, said by the template of their relation; the object is
one token, ranked among all 30,522, other right objects left out. The default encoder, taught to say
hidden words of Wikipedia (see masked_start), gets a graft after its last layer with graphs/wikidata
(vectors of text, of names, and of names around) that expects, where a word is hidden, what the
graph says of the names in the text, and of entities that are like those in what is around them and
in the words that describe them; which relation a text speaks of is told by the relations' names,
aliases and templates. The graft alone learns, from 40,000 other facts of that graph said in the
same way, 40 % of which are not used to expect anything; the encoder and its head stay as they are,
so that off, the same with its knowledge switched off, is what the encoder recalls by itself.
in_graph: 4,000 facts of train that the graph holds and that were not learnt from; held_out: all of
test, without a triple of the graph between the two entities; unsaid: those of held_out whose object
the graph's description of the subject does not name either. on_vs_off is a ratio of the two MRRs;
the difference has its interval over facts, seeds pooled.
"""
GOALS: dict[str, Goal] = {
    "in_graph_on_vs_off": {"at_least": 3.0},
    "held_out_on_vs_off": {"at_least": 3.0},
}


def main() -> None:
    """Train, ask and record."""
    data = shared_data()
    if data is None:
        return
    mask_token = str(Encoder.load().tokenizer.mask_token)
    knowledge = wikipedia_knowledge(data, mask_token=mask_token)
    graph = _wiki27k(data)
    asked = _asked(graph, knowledge.graph)
    learnt = _learnt(knowledge.graph, asked)
    with BENCHMARK.run(
        protocol=PROTOCOL,
        data={"name": "wiki27k", "sha256": sha256(data / "graphs" / "wiki27k" / "test.tsv")},
        seeds=SEEDS,
        goals=GOALS,
    ) as run:
        counts: dict[tuple[str, bool], list[np.ndarray]] = {}
        for seed in SEEDS:
            encoder, head = _trained(knowledge, learnt, data, seed)
            for name, facts in asked.items():
                for side in (True, False):
                    ranks = reciprocal_ranks(encoder, head, facts, use_knowledge=side)
                    counts.setdefault((name, side), []).append(ranks)
                    print(name, side, seed, float(ratio(ranks.sum(0))), flush=True)
        unsaid = _unsaid(graph, knowledge.graph, asked["held_out"])
        for side in (True, False):
            counts["unsaid", side] = [ranks[unsaid] for ranks in counts["held_out", side]]
        for name in (*asked, "unsaid"):
            on, off = counts[name, True], counts[name, False]
            run.figure(f"{name}_facts", len(on[0]))
            run.difference(name, paired_difference(np.sum(on, 0), np.sum(off, 0)))
            run.figure(
                f"{name}_on_vs_off",
                [float(ratio(a.sum(0)) / ratio(b.sum(0))) for a, b in zip(on, off, strict=True)],
            )


def _trained(
    knowledge: GraphKnowledge, learnt: Clozes, data: Path, seed: int
) -> tuple[GraftedEncoder, MaskedHead]:
    """Return an encoder that reads with knowledge and its head, trained if they are not there."""
    folder, start = WORK / f"grafted-facts.{seed}", masked_start(data)
    settings = SETTINGS.replace(seed=seed)
    identity = {"texts": learnt.digest(), "attention": ATTENTION.to_dict()}
    if not graft_is_current(folder, settings, identity):
        host = Encoder.load(start, max_length=64)
        encoder = GraftedEncoder(host, {LAYER: knowledge}, settings={LAYER: ATTENTION}, seed=seed)
        texts, valid = (
            locate_clozes(encoder, LAYER, learnt.select(rows), seed=seed)
            for rows in hold_out(len(learnt), seed=seed)
        )
        for epoch in train_graft(
            encoder,
            texts,
            folder,
            valid=valid,
            head=MaskedHead.load(start, encoder).train(),
            settings=settings,
            identity=identity,
            overwrite=True,
        ):
            print(folder.name, epoch.number, epoch.losses, epoch.figures, flush=True)
    encoder = GraftedEncoder.from_pretrained(folder, {LAYER: knowledge})
    encoder.max_length = 64
    return encoder, MaskedHead.load(folder, encoder)


def _wiki27k(data: Path) -> Graph:
    """Open the graph whose facts are asked for, with all splits."""
    folder = WORK / "wiki27k"
    if not folder.exists():
        build_graph(open_source(data / "graphs" / "wiki27k"), folder, name="wiki27k")
    return Graph.open(folder).whole()


def _asked(graph: Graph, source: Graph) -> dict[str, Clozes]:
    """Return facts of a graph in words: those that the source holds, and test facts."""
    encoder, split = Encoder.load(), graph.triples.split
    train, test = (np.flatnonzero(split == SPLITS.index(name)) for name in ("train", "test"))
    facts = set(named_triples(source))
    train = train[[triple in facts for triple in named_triples(graph, train)]]
    in_graph = make_clozes(encoder, graph, graph.triples.take(train), graph.triples)
    rows = np.random.default_rng(0).permutation(len(in_graph))[:IN_GRAPH]
    held_out = make_clozes(encoder, graph, graph.triples.take(test), graph.triples)
    return {"in_graph": in_graph.select(np.sort(rows)), "held_out": held_out}


def _learnt(source: Graph, asked: dict[str, Clozes]) -> Clozes:
    """Return other facts of the source in words: none with a text that is asked for."""
    rows = np.random.default_rng(1).permutation(len(source.triples))
    triples = source.triples.take(rows)
    clozes = make_clozes(Encoder.load(), source, triples, source.triples)
    taken = {text for facts in asked.values() for text in facts.texts}
    free = [row for row, text in enumerate(clozes.texts) if text not in taken]
    return clozes.select(np.array(free[:LEARNT]))


def _unsaid(graph: Graph, source: Graph, facts: Clozes) -> np.ndarray:
    """Return the facts whose object is not named in what the source says of the subject."""
    ids, labels = graph.entities["id"].to_pylist(), graph.entities["label"].to_pylist()
    texts = entity_texts(source, source.indices_of([ids[n] for n in facts.subject.tolist()]))
    pairs = zip(facts.entity.tolist(), texts.to_pylist(), strict=True)
    is_named = [labels[entity].lower() in text.lower() for entity, text in pairs]
    return np.flatnonzero(~np.array(is_named, bool))


if __name__ == "__main__":
    main()
