"""Graph embeddings on FB15k-237 against PyKEEN and a bare matrix product: make bench-embed.speed.

    python -m benchmarks.embed.speed --triples 2048 --ranked 32 --turns 1 --out FOLDER

is a trial of a minute or two.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path

import numpy as np
import torch

from benchmarks.embed.ours import (
    CHUNK,
    LEARNT,
    MEMORY,
    RANKED,
    SHARED,
    VALID,
    epoch_seconds,
    learnt_data,
    queries_of,
    rank_all,
    rows_of,
    sample_rows,
    settings_of,
)
from benchmarks.harness import RESULTS, ROOT, Benchmark, Goal, Run, seconds, shared_data
from benchmarks.peers.pykeen import RANK_BATCHES, Peer, filter_triples, pykeen
from kgraft.embed import EmbeddingTables, EmbedSettings, rank_queries
from kgraft.embed.data import TrainingData
from kgraft.embed.task import EmbedTask
from kgraft.errors import KgraftError
from kgraft.graph import Graph, build_graph, open_source
from kgraft.measure import Queries
from kgraft.measure.ranking import SCORES, query_chunks, rank_figures
from kgraft.storage import sha256

BENCHMARK = Benchmark(
    name="embed_speed",
    measures="training, ranking and memory of graph embeddings, against PyKEEN",
    minutes=19,
    data=("graphs/fb15k237",),
)

OUR_NEGATIVES = SHARED.batch // CHUNK * SHARED.negatives  # drawn per batch
THEIR_NEGATIVES = SHARED.batch * SHARED.negatives
FILES = ("train.tsv", "valid.tsv", "test.tsv")

PROTOCOL = f"""
PyKEEN 1.11 and kgraft in one run on the same cores. Training: TransE and RotatE with the L2 norm,
{SHARED.dimension} real numbers per entity ({SHARED.dimension // 2} complex ones in RotatE), batches
of {SHARED.batch}, each triple scored against {SHARED.negatives} negatives that replace one end,
either end equally often, self-adversarial loss (margin {SHARED.margin:g}, temperature
{SHARED.temperature:g}), Adam with learning rate {SHARED.rate:g}, no reciprocal relations, no
constraint on the length of entities, the same first vectors. PyKEEN: SLCWATrainingLoop with its
basic sampler. They take turns; a turn is one epoch, validation and checkpoints not counted. The
negatives are not the same: kgraft draws {SHARED.negatives} for each chunk of {CHUNK} triples, which
share them, {OUR_NEGATIVES:,} per batch; PyKEEN draws {SHARED.negatives} for each triple,
{THEIR_NEGATIVES:,} per batch. An epoch of kgraft thus costs less, and teaches less:
mrr_after_epochs is the filtered MRR of both after the same number of epochs, on {VALID:,}
validation triples, by kgraft's ranking. train_vs_pykeen compares triples per second, not the time
to a quality. Also different: kgraft's Adam is lazy (rows that a batch does not touch wait),
PyKEEN's moves every row; kgraft keeps the relations of RotatE as angles, PyKEEN as complex numbers
put back to modulus 1. Ranking: filtered, heads and tails, both with kgraft's vectors; kgraft all
test triples, PyKEEN's RankBasedEvaluator a sample of them, with the batch out of {RANK_BATCHES}
that is fastest for it and no metric but MRR; building the filter is not counted for either. The
ranks of the sample are checked to agree. rank_vs_pykeen is the smaller of TransE's and RotatE's.
Memory: the peak of resident memory of a fresh process that reads the triples, trains TransE on
{MEMORY} batches and ranks (PyKEEN in batches of {RANK_BATCHES[0]}), less that of a process that
imports torch and NumPy and nothing else. score_vs_matmul: kgraft's filtered ranking of all test
triples over torch.mm of two queries a triple with all entities, in chunks as large as kgraft's,
each result over the last; the worse of ComplEx and TransE. kgraft asks equal queries once, and that
counts for it. Ratios are those of medians, their spread is over single turns.
"""

GOALS: dict[str, Goal] = {
    "transe_train_vs_pykeen": {"at_least": 20},
    "rotate_train_vs_pykeen": {"at_least": 20},
    "rank_vs_pykeen": {"at_least": 40},
    "peak_memory_vs_pykeen": {"at_most": 0.5},
    "score_vs_matmul": {"at_most": 1.5},
}


@dataclass(frozen=True)
class Sizes:
    """How much is done; less of it for a trial."""

    triples: int  # learnt in an epoch
    epochs: int
    ranked: int  # test triples that PyKEEN ranks in a turn
    turns: int  # of ranking; the matrix product has two more
    threads: int


# Turns and their ratios


def versus(ours: Sequence[float], theirs: Sequence[float]) -> tuple[list[float], float]:
    """Return the ratio of each turn, and the ratio of the medians.

    >>> versus([2.0, 4.0, 9.0], [1.0, 2.0, 3.0])
    ([2.0, 2.0, 3.0], 2.0)
    """
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    return ratios, statistics.median(ours) / statistics.median(theirs)


def compare(run: Run, name: str, ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Record the ratio of two measures that took turns, and return it."""
    ratios, ratio = versus(ours, theirs)
    run.figure(name, ratios, value=ratio)
    return ratio


# Training


def measure_training(
    run: Run, model: str, graph: Graph, data: TrainingData, epochs: int
) -> EmbeddingTables:
    """Let both train epoch by epoch in turns; return kgraft's vectors."""
    task = EmbedTask(graph, data, settings_of(model, epochs))
    peer = peer_of(task.tables)
    turns = zip(epoch_seconds(task), peer.epochs(data.triples, epochs), strict=True)
    rates = [[len(data.triples) / taken for taken in turn] for turn in turns]
    ours, theirs = (list(side) for side in zip(*rates, strict=True))
    compare(run, f"{model}_train_vs_pykeen", ours, theirs)
    run.figure(f"{model}_triples_per_second", ours)
    run.figure(f"pykeen_{model}_triples_per_second", theirs)
    run.figure(f"{model}_mrr_after_epochs", mrr(task.tables, data))
    their_tables = EmbeddingTables(task.settings, *peer.vectors())
    run.figure(f"pykeen_{model}_mrr_after_epochs", mrr(their_tables, data))
    return task.tables


def peer_of(tables: EmbeddingTables) -> Peer:
    """Return PyKEEN's model with the same first vectors."""
    entities, relations = tables.entities, tables.relations
    model = tables.settings.model
    return Peer(model, len(entities), len(relations), vectors=(entities, relations))


def mrr(tables: EmbeddingTables, data: TrainingData) -> float:
    """Return the filtered MRR on the validation sample."""
    return rank_queries(tables, data.valid, data.known).figures()["mrr"]


# Ranking


def measure_ranking(
    run: Run, tables: EmbeddingTables, graph: Graph, known: Queries, sizes: Sizes
) -> float:
    """Let both rank test triples in turns; return how many times faster kgraft is."""
    test, model = graph.split("test").triples, tables.settings.model
    sample = sample_rows(rows_of(test), sizes.ranked, RANKED)
    peer, everything = peer_of(tables), filter_triples(rows_of(graph.whole().triples))
    taken = {b: peer.rank(sample[:64], everything, batch=b)[0] for b in RANK_BATCHES}
    batch = min(taken, key=taken.__getitem__)
    ours, theirs = [], []
    for turn in range(sizes.turns):
        ours.append(len(test) / seconds(partial(rank_all, tables, test, known)))
        spent, ranks = peer.rank(sample, everything, batch=batch)
        theirs.append(len(sample) / spent)
        if turn == 0:
            our_ranks = rank_queries(tables, queries_of(sample, known.relations), known).rank
            refuse_other_ranks(our_ranks, query_order(sample, ranks, known.relations))
    run.figure(f"rank_{model}_triples_per_second", ours)
    run.figure(f"pykeen_rank_{model}_triples_per_second", theirs)
    return compare(run, f"rank_{model}_vs_pykeen", ours, theirs)


def query_order(rows: np.ndarray, ranks: np.ndarray, relations: int) -> np.ndarray:
    """Bring ranks of tails, then heads, of triples (T, 3) into the order of kgraft's queries."""
    head, relation, tail = rows.T
    entity, answer = np.concatenate([head, tail]), np.concatenate([tail, head])
    inverse = np.concatenate([relation, relation + relations])
    return ranks[np.lexsort((answer, inverse, entity))]


def refuse_other_ranks(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Refuse ranks that differ by more than the rounding of nearly equal scores can explain."""
    apart = np.abs(ours - theirs)
    by_mrr = abs(rank_figures(ours)["mrr"] - rank_figures(theirs)["mrr"])
    if (apart > 2 + theirs / 50).any() or by_mrr > 1e-3:
        raise ValueError(f"the ranks differ by up to {apart.max():g}, their MRR by {by_mrr:.2g}")


def measure_products(run: Run, graph: Graph, known: Queries, turns: int) -> None:
    """Let ranking and the bare matrix product take turns."""
    test, worst = graph.split("test").triples, 0.0
    for model, similarity in (("complex", "dot"), ("transe", "l2")):
        settings = EmbedSettings(
            model=model, similarity=similarity, dimension=SHARED.dimension, scale=1
        )
        tables = EmbeddingTables.draw(settings, graph.manifest.entities, graph.manifest.relations)
        work = (
            partial(rank_all, tables, test, known),
            partial(multiply_all, tables, 2 * len(test)),
        )
        taken = [[seconds(path) for path in work] for _ in range(turns + 1)][1:]
        ours, bare = zip(*taken, strict=True)
        worst = max(worst, compare(run, f"score_{model}_vs_matmul", ours, bare))
    run.figure("score_vs_matmul", worst)


def multiply_all(tables: EmbeddingTables, queries: int) -> None:
    """Multiply so many random queries with all entities, in chunks as ranking does."""
    count, dimension = tables.entities.shape
    noise = torch.Generator().manual_seed(SHARED.seed)
    drawn = torch.randn(SCORES // count, dimension, generator=noise)
    room = torch.empty(len(drawn), count)
    for indices in query_chunks(queries, count, SCORES):
        part = slice(len(indices))
        torch.mm(drawn[part], tables.entities.T, out=room[part])


# Memory


def measure_memory(run: Run, graph: Graph, work: Path, sizes: Sizes) -> None:
    """Compare the peaks of fresh processes that train and rank."""
    folder = work / "memory"
    folder.mkdir()
    parts = {
        "train": sample_rows(rows_of(graph.split("train").triples), MEMORY * SHARED.batch, LEARNT),
        "test": sample_rows(rows_of(graph.split("test").triples), 64, RANKED),
        "known": rows_of(graph.whole().triples),
    }
    for name, rows in parts.items():
        np.save(folder / f"{name}.npy", rows)
    bare = peak_of("peers.pykeen", threads=sizes.threads)
    ours = peak_of("embed.ours", str(graph.folder), threads=sizes.threads)
    theirs = peak_of("peers.pykeen", str(folder), threads=sizes.threads)
    run.figure("peak_memory_vs_pykeen", (ours - bare) / (theirs - bare))
    run.figure("peak_memory_mb", ours)
    run.figure("pykeen_peak_memory_mb", theirs)
    run.figure("torch_memory_mb", bare)


def peak_of(module: str, *arguments: str, threads: int) -> float:
    """Run a module in a fresh process and return the peak it prints, in MB."""
    output = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{module}", *arguments],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": str(threads)},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    return float(json.loads(output))


# The run


def measure(run: Run, source: Path, work: Path, sizes: Sizes) -> None:
    """Import the graph and record all figures."""
    build_graph(open_source(source), work / "graph")
    graph = Graph.open(work / "graph")
    data = learnt_data(graph, sizes.triples)
    faster = []
    for model in ("transe", "rotate"):
        tables = measure_training(run, model, graph, data, sizes.epochs)
        say(f"{model}: trained")
        faster.append(measure_ranking(run, tables, graph, data.known, sizes))
        say(f"{model}: ranked")
    run.figure("rank_vs_pykeen", min(faster))
    measure_products(run, graph, data.known, sizes.turns + 2)
    measure_memory(run, graph, work, sizes)


def say(line: str) -> None:
    """Tell how far the run is."""
    print(line, file=sys.stderr)


def described(source: Path) -> dict[str, str]:
    """Name the data, with one checksum over its splits, and the peer."""
    sums = "".join(sha256(source / name) for name in FILES)
    return {
        "name": "FB15k-237",
        "sha256": hashlib.sha256(sums.encode()).hexdigest(),
        "sha256_of": f"the SHA-256 of {', '.join(FILES)}, one after another",
        "peer": f"PyKEEN {metadata.version('pykeen')}",
    }


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triples", type=int, default=10**9, help="learnt in an epoch at most")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--ranked", type=int, default=500, help="test triples PyKEEN ranks a turn")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS)
    return parser.parse_args()


def main() -> None:
    """Run the benchmark; with other options than the default, write elsewhere."""
    given = options()
    shared = shared_data()
    source = shared and shared / "graphs" / "fb15k237"
    if source is None or not source.is_dir():
        say("skipped: FB15k-237 is not among the data (graphs/fb15k237)")
        return
    try:
        pykeen("models")
    except KgraftError as error:
        sys.exit(str(error))
    torch.set_num_threads(given.threads)
    sizes = Sizes(given.triples, given.epochs, given.ranked, given.turns, given.threads)
    data = described(source) | {"threads": str(given.threads)}
    with (
        tempfile.TemporaryDirectory() as work,
        BENCHMARK.run(PROTOCOL, data, [SHARED.seed], GOALS, given.out) as run,
    ):
        measure(run, source, Path(work), sizes)


if __name__ == "__main__":
    main()
