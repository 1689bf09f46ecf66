"""Which sense a word has: python -m benchmarks.graft.wsd (the five all-words sets)."""

from __future__ import annotations

import numpy as np

from benchmarks.graft.senses import LAYER, SEEDS, trained_folder, wordnet
from benchmarks.harness import Benchmark, Goal, shared_data
from kgraft.graft import GraftedEncoder, look_up_senses, sense_sentences
from kgraft.measure import paired_difference, ratio
from kgraft.storage import sha256
from kgraft.tasks.graft.senses import choose_senses, first_senses, sense_counts

BENCHMARK = Benchmark(
    name="graft_wsd",
    measures="word senses by grafted WordNet: F1 on the five all-words sets",
    minutes=None,
    data=("wic", "wordnet-3.0", "wsd"),
    off="no model",
)

SETS = ("semeval2007", "senseval2", "senseval3", "semeval2013", "semeval2015")
PROTOCOL = """
F1 of the synsets of all marked words, all of which get an answer; lemma and part of speech are
given (Raganato et al. 2017). A knowledge attention with WordNet 3.0 stands after the last layer of
the default encoder; the synset that it scores highest is the answer. Vectors of synsets are those
of their words and definition (without examples), the mean of their neighbours' (both frozen), the
part of speech, and 64 numbers learnt for each; the prior is WordNet's count of senses, of which
that of a document of SemCor is taken off while its own words are learnt from. Trained in two epochs
on SemCor and on the examples in WordNet's glosses (without those in the dev and test sets of WiC);
the epoch is chosen on semeval2007, which is one of the five sets: all_but_dev_f1 is without it.
Sentences of a document are read together. Without knowledge there are no synsets to choose from:
senses_off is the first sense, which needs no training. all_f1 is the median of the seeds; the
interval is over words, seeds pooled.
"""
GOALS: dict[str, Goal] = {"all_f1": {"at_least": 0.755}}


def main() -> None:
    """Train, measure and record."""
    data = shared_data()
    if data is None:
        return
    knowledge = wordnet(data)
    sets = {
        name: look_up_senses(knowledge, sense_sentences(data / "wsd" / f"{name}.jsonl"))
        for name in SETS
    }
    with BENCHMARK.run(
        protocol=PROTOCOL,
        data={"name": "senseval", "sha256": sha256(data / "wsd" / "senseval2.jsonl")},
        seeds=SEEDS,
        goals=GOALS,
    ) as run:
        off = np.concatenate([sense_counts(part, first_senses(part)) for part in sets.values()])
        on: list[dict[str, np.ndarray]] = []
        for seed in SEEDS:
            folder = trained_folder(knowledge, data, seed)
            encoder = GraftedEncoder.from_pretrained(folder, {LAYER: knowledge})
            encoder.max_length = 128
            on.append(
                {n: sense_counts(p, choose_senses(encoder, LAYER, p)) for n, p in sets.items()}
            )
        all_sets = [np.concatenate(list(counts.values())) for counts in on]
        run.figure("all_f1", [float(ratio(counts.sum(0))) for counts in all_sets])
        tests = [np.concatenate([counts[name] for name in SETS[1:]]) for counts in on]
        run.figure("all_but_dev_f1", [float(ratio(counts.sum(0))) for counts in tests])
        for name in sets:
            run.figure(f"{name}_f1", [float(ratio(counts[name].sum(0))) for counts in on])
        run.difference("senses", paired_difference(np.sum(all_sets, 0), off * len(SEEDS)))


if __name__ == "__main__":
    main()
