"""What linking costs over the bare encoder, and how long the first link takes.

make bench-link.speed
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import torch

from benchmarks.data import texts
from benchmarks.harness import Benchmark, Goal, Run, seconds, shared_data, turns
from kgraft.graph import Graph
from kgraft.link import Linker
from kgraft.link.knowledge import Knowledge
from kgraft.link.neighbours import NeighbourIndex
from kgraft.link.reading import BUDGET
from kgraft.storage import sha256
from kgraft.text import Encoder, length_batches
from kgraft.vectors import EntityIndex

BENCHMARK = Benchmark(
    name="link_speed",
    measures="linking against the bare encoder, and the time to the first link",
    minutes=3,
    data=("corpus/wikipedia_linked.jsonl.gz", "graphs/wikidata", "linking/webqsp"),
)

BATCH = 64  # questions linked together
WORDS = (100, 1_000, 10_000)
MILLION = 1_000_000
ADDED = 1_000
REPEATS = 5
SENTENCE = "She flew from Paris to Georgia."
PROTOCOL = """
All in one run on two threads, paths taking turns; a figure is a ratio of medians. Test questions of
WebQSP, graphs/wikidata (110,992 entities) with its index; vectors of candidates are in the cache
after the first round, which is not counted. batch_vs_encoder: Linker.link on batches of 64, from
text to links, over the bare encoder on the same questions, tokenised and padded beforehand in the
same batches. single_vs_encoder: the same for one question at a time, medians over 200 questions.
length_scaling: a document of 10,000 words over ten times one of 1,000 (words of linked sentences,
joined). million_entities: batch_vs_encoder with 1 M entities in graph and index, the rest synthetic
(mixtures of true vectors with noise). add_1000_seconds_vs_encoding: Linker.add of 1,000 entities
over Encoder.encode of their texts. first_link_seconds_vs_encoder: Graph.open, Linker and the first
link of "She flew from Paris to Georgia." on graphs/wikidata, libraries imported, cache empty, over
one forward pass of that text. cli_seconds_to_first_link: CPU seconds (user and system) of `kgraft
link` with that text, warm cache, over those of `python -c "import torch"`, medians of 5.
"""
GOALS: dict[str, Goal] = {
    "batch_vs_encoder": {"at_most": 1.25},
    "single_vs_encoder": {"at_most": 1.3},
    "length_scaling": {"at_most": 1.15},
    "million_entities": {"at_most": 1.4},
    "million_bytes_per_entity": {"at_most": 450},
    "add_1000_seconds_vs_encoding": {"at_most": 1.2},
    "first_link_seconds_vs_encoder": {"at_most": 40},
    "cli_seconds_to_first_link": {"at_most": 2.5},
}
Inputs = list[tuple[torch.Tensor, torch.Tensor]]


def main() -> None:
    """Measure and record."""
    data = shared_data()
    if data is None:
        return
    graph = texts.open_graph("wikidata", data)
    questions = texts.webqsp(data, "test").texts
    path = data / "linking" / "webqsp" / "test.jsonl"
    with BENCHMARK.run(
        protocol=PROTOCOL,
        data={"name": "webqsp test questions", "sha256": sha256(path)},
        goals=GOALS,
    ) as run:
        _first_link(run, graph.folder)
        _command_line(run)
        linker, encoder = Linker(graph), Encoder.load()
        if linker.knowledge.index is None:
            linker.build_index()
        _batches(run, "batch_vs_encoder", linker, encoder, questions)
        _singles(run, linker, encoder, questions[:200])
        _documents(run, linker, data)
        _added(run, Linker(graph), encoder)
        _million(run, linker, encoder, questions)


def _first_link(run: Run, folder: Path) -> None:
    """Time the first link with an empty cache against one forward pass."""
    encoder = Encoder.load()
    inputs = _ready(encoder, [SENTENCE])
    forward = statistics.median(seconds(lambda: _bare(encoder, inputs)) for _ in range(20))
    before = os.environ.get("KGRAFT_CACHE")
    times = []
    for _ in range(REPEATS):
        with TemporaryDirectory() as cache:
            os.environ["KGRAFT_CACHE"] = cache
            times.append(seconds(lambda: Linker(Graph.open(folder))(SENTENCE)))
    if before is None:
        del os.environ["KGRAFT_CACHE"]
    else:
        os.environ["KGRAFT_CACHE"] = before
    run.figure("first_link_seconds_vs_encoder", [round(t / forward, 2) for t in times])
    run.figure("first_link_seconds", [round(t, 3) for t in times])


def _command_line(run: Run) -> None:
    link = [sys.executable, "-m", "kgraft", "link", SENTENCE]
    torch_alone = [sys.executable, "-c", "import torch"]
    _cpu_seconds(link)  # warms the cache
    pairs = [(_cpu_seconds(link), _cpu_seconds(torch_alone)) for _ in range(REPEATS)]
    run.ratio("cli_seconds_to_first_link", *zip(*pairs, strict=True))


def _cpu_seconds(command: list[str]) -> float:
    """Return the CPU seconds of a command, its children included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _ready(encoder: Encoder, batch: Sequence[str]) -> Inputs:
    """Return the inputs of the encoder for texts, in the batches that the linker reads."""
    windows = encoder.windows(batch)
    ready = []
    for rows in length_batches(windows.lengths, BUDGET):
        ids, mask = windows.padded(rows)
        ready.append((torch.from_numpy(ids), torch.from_numpy(mask)))
    return ready


def _bare(encoder: Encoder, ready: Inputs) -> list[torch.Tensor]:
    with torch.no_grad():
        return [encoder.read(ids, mask) for ids, mask in ready]


def _batches(run: Run, name: str, linker: Linker, encoder: Encoder, questions: list[str]) -> None:
    parts = [questions[first : first + BATCH] for first in range(0, len(questions), BATCH)]
    ready = [_ready(encoder, part) for part in parts]
    linked, bare = turns(
        lambda: [linker.link(part) for part in parts],
        lambda: [_bare(encoder, part) for part in ready],
    )
    run.ratio(name, linked, bare)
    run.figure(f"{name}_questions_per_second", round(len(questions) / statistics.median(linked), 1))


def _singles(run: Run, linker: Linker, encoder: Encoder, questions: list[str]) -> None:
    ready = [_ready(encoder, [question]) for question in questions]
    for question in questions[:20]:
        linker(question)
    above, below = [], []
    for question, inputs in zip(questions, ready, strict=True):
        above.append(min(seconds(lambda: linker(question)) for _ in range(3)))  # noqa: B023
        below.append(min(seconds(lambda: _bare(encoder, inputs)) for _ in range(3)))  # noqa: B023
    run.ratio("single_vs_encoder", above, below)
    run.figure("single_milliseconds", round(statistics.median(above) * 1e3, 2))


def _documents(run: Run, linker: Linker, data: Path) -> None:
    words = " ".join(texts.wikipedia(data, train=False).texts[:2000]).split()
    documents = [" ".join(words[:count]) for count in WORDS]
    times = turns(*[lambda d=document: linker(d) for document in documents])
    for count, each in zip(WORDS, times, strict=True):
        run.figure(f"seconds_{count}_words", round(statistics.median(each), 3))
    run.ratio("length_scaling", times[2], [10 * t for t in times[1]])


def _added(run: Run, linker: Linker, encoder: Encoder) -> None:
    """Add entities whose texts are in no cache."""
    draw, ratios = np.random.default_rng(), []  # other ones in every run: none is in the cache
    for turn in range(3):
        rows = [
            {
                "id": f"new{turn}-{number}",
                "label": f"Invented {turn} {draw.integers(1 << 40):x}",
                "description": f"an invented place number {draw.integers(1 << 30)} near the sea",
            }
            for number in range(ADDED)
        ]
        batch = [f"{row['label']}: {row['description']}" for row in rows]
        encoding = seconds(lambda: encoder.encode(batch))  # noqa: B023
        ratios.append(seconds(lambda: linker.add(rows)) / encoding)  # noqa: B023
    run.figure("add_1000_seconds_vs_encoding", ratios)


def _million(run: Run, linker: Linker, encoder: Encoder, questions: list[str]) -> None:
    """Fill graph and index up to a million entities with mixtures of the vectors."""
    vectors, count = linker.knowledge.text_vectors, len(linker.graph.entities)

    def blocks() -> Iterator[torch.Tensor]:
        draw, size = np.random.default_rng(0), 1 << 14
        yield from vectors.chunks(size)
        for first in range(count, MILLION, size):
            rows = draw.integers(count, size=(2, min(size, MILLION - first)))
            mixed = vectors.take(rows[0]) + vectors.take(rows[1])
            yield mixed + torch.from_numpy(draw.normal(size=mixed.shape, scale=0.02)).float()

    with TemporaryDirectory() as folder:
        file = Path(folder) / "million.safetensors"
        EntityIndex.build(blocks, MILLION, vectors.dimension).save(file)
        run.figure("million_bytes_per_entity", round(file.stat().st_size / MILLION, 1))
        fill = pa.table(
            {
                "id": [f"fill-{number}" for number in range(MILLION - count)],
                "label": [f"Filled {number:x} up" for number in range(MILLION - count)],
            }
        )
        grown = linker.graph.extend(Path(folder) / "graph", entities=fill)
        linker.knowledge = Knowledge.of(grown, linker.model)
        linker.knowledge.index = NeighbourIndex(EntityIndex.open(file), static=False)
        _batches(run, "million_entities", linker, encoder, questions)


if __name__ == "__main__":
    main()
