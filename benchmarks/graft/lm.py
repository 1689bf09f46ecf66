"""What knowledge tells of hidden words: python -m benchmarks.graft.lm (linked Wikipedia)."""

from __future__ import annotations

import numpy as np

from benchmarks.data.linked_wikipedia import read_articles
from benchmarks.graft.wikipedia import LAYER, SEEDS, trained, wikipedia_knowledge
from benchmarks.harness import Benchmark, Goal, shared_data
from kgraft.graft import locate_mentions
from kgraft.measure import paired_difference, perplexity
from kgraft.storage import sha256
from kgraft.tasks.graft.perplexity import perplexity_counts

BENCHMARK = Benchmark(
    name="graft_lm",
    measures="perplexity of hidden words of linked Wikipedia, with a graft and without",
    minutes=92,
    data=("corpus/vital_articles.jsonl.gz", "corpus/wikipedia_linked.jsonl.gz", "graphs/wikidata"),
    off="trained alike",
)

PROTOCOL = """
Perplexity of 15 % hidden tokens in the last 10 of 100 Wikipedia articles, read in passages, without
those that share eight words in a row with a text that was trained on. Both sides start from the
default encoder with a head, trained once on hidden words of other texts (see masked_start), and
make the same number of steps on the first 85 articles, the upper three layers learning; the 5
between choose the epoch. on: a graft after layer 5 with graphs/wikidata (vectors of text, of names,
and of names around), a tenth of its steps spent on linking, and most others with words of links
hidden often; off: no graft, all steps on hidden words as they are measured. linked: the text is
read with its links, as Wikipedia has them: where a link leads is known also when its words are
hidden. hidden: no link is known; the names in the text are looked up, but where a word is hidden so
are the candidates of its mention. on_vs_off is a ratio of perplexities; differences are on minus
off, with the interval over passages, seeds pooled.
"""
GOALS: dict[str, Goal] = {"linked_on_vs_off": {"at_most": 0.8}}


def main() -> None:
    """Train, measure and record."""
    data = shared_data()
    if data is None:
        return
    knowledge = wikipedia_knowledge(data)
    test = read_articles(data, knowledge.graph).test
    file = data / "corpus" / "wikipedia_linked.jsonl.gz"
    with BENCHMARK.run(
        protocol=PROTOCOL,
        data={"name": "wikipedia_linked", "sha256": sha256(file)},
        seeds=SEEDS,
        goals=GOALS,
    ) as run:
        counts: dict[str, list[np.ndarray]] = {"linked": [], "hidden": [], "off": []}
        for seed in SEEDS:
            encoder, head = trained(knowledge, data, seed, use_knowledge=True)
            linked = locate_mentions(encoder, test, LAYER, add_annotated=True)
            plain = locate_mentions(encoder, test.texts, LAYER)
            counts["linked"].append(
                perplexity_counts(encoder, head, linked, gold_only=True, seed=seed)
            )
            counts["hidden"].append(perplexity_counts(encoder, head, plain, seed=seed))
            encoder, head = trained(knowledge, data, seed, use_knowledge=False)
            counts["off"].append(
                perplexity_counts(encoder, head, plain, use_knowledge=False, seed=seed)
            )
        off = np.sum(counts["off"], 0)
        for name in ("linked", "hidden"):
            difference = paired_difference(np.sum(counts[name], 0), off, figure=perplexity)
            run.difference(name, difference)
            run.figure(f"{name}_on_vs_off", _ratios(counts[name], counts["off"]))


def _ratios(on: list[np.ndarray], off: list[np.ndarray]) -> list[float]:
    """Return the ratio of perplexities of each seed."""
    pairs = zip(on, off, strict=True)
    return [round(float(perplexity(a.sum(0)) / perplexity(b.sum(0))), 4) for a, b in pairs]


if __name__ == "__main__":
    main()
