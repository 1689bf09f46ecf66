"""What linking costs over the bare encoder: python -m benchmarks.link_speed."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import torch
from tools.train_linker import wikidata

from benchmarks.harness import Benchmark, Goal, seconds, shared_data, turns
from kgraft.graph import Graph
from kgraft.link import Linker, read_annotated
from kgraft.link.knowledge import Knowledge
from kgraft.link.onnx import FILE, OnnxReader, export_model
from kgraft.link.reading import BUDGET
from kgraft.storage import sha256
from kgraft.text import Encoder, length_batches
from kgraft.vectors.index import EntityIndex

BATCH = 64  # questions linked together
WORDS = (100, 1_000, 10_000)
MILLION = 1_000_000
ADDED = 1_000
PROTOCOL = """
All in one run on two threads, paths taking turns; a figure is a ratio of medians. Test questions of
WebQSP, graphs/wikidata (110,992 entities). batch_vs_encoder: Linker.link on batches of 64, from
text to links, over the bare Hugging Face encoder on the same questions, tokenised and padded
beforehand in the same batches. single_vs_encoder: the same for one question at a time, medians over
200 questions. onnx_int8_speedup: the same link calls with the fp32 model over those with its int8
export. length_scaling: a document of 10,000 words over ten times one of 1,000 (words of linked
sentences, joined). million_entities: batch_vs_encoder with 1 M entities in the index, the rest
synthetic (mixtures of true vectors with noise). add_1000_seconds_vs_encoding: Linker.add of 1,000
entities over Encoder.encode of their texts.
"""
GOALS: dict[str, Goal] = {
    "batch_vs_encoder": {"at_most": 1.25},
    "single_vs_encoder": {"at_most": 1.3},
    "onnx_int8_speedup": {"at_least": 2.0},
    "length_scaling": {"at_most": 1.15},
    "million_entities": {"at_most": 1.4},
    "million_bytes_per_entity": {"at_most": 450},
    "add_1000_seconds_vs_encoding": {"at_most": 1.2},
}


def main() -> None:
    """Measure and record."""
    data = shared_data()
    if data is None:
        return
    graph, path = wikidata(data), data / "linking" / "webqsp" / "test.jsonl"
    questions = read_annotated(path, graph).texts
    linker, encoder = Linker(graph), Encoder.load()
    linker.reader = linker.model  # the fp32 path
    with Benchmark(
        "link_speed",
        protocol=PROTOCOL,
        data={"name": "webqsp test questions", "sha256": sha256(path)},
        goals=GOALS,
    ) as run:
        _batches(run, "batch_vs_encoder", linker, encoder, questions)
        _singles(run, linker, encoder, questions[:200])
        _onnx(run, linker, questions)
        _documents(run, linker, data, graph)
        _added(run, linker, encoder)
        _million(run, linker, encoder, questions)


def _ready(encoder: Encoder, texts: Sequence[str]) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Return the inputs of the encoder for texts, in the batches that the linker reads."""
    windows = encoder.windows(texts)
    ready = []
    for numbers in length_batches(windows.lengths, BUDGET):
        ids, mask = windows.padded(numbers)
        ready.append((torch.from_numpy(ids), torch.from_numpy(mask).long()))
    return ready


def _bare(encoder: Encoder, ready: list[tuple[torch.Tensor, torch.Tensor]]) -> list[object]:
    with torch.inference_mode():
        return [encoder.model(input_ids=ids, attention_mask=mask) for ids, mask in ready]


def _batches(
    run: Benchmark, name: str, linker: Linker, encoder: Encoder, questions: list[str]
) -> None:
    parts = [questions[first : first + BATCH] for first in range(0, len(questions), BATCH)]
    ready = [_ready(encoder, part) for part in parts]
    linked, bare = turns(
        lambda: [linker.link(part) for part in parts],
        lambda: [_bare(encoder, part) for part in ready],
    )
    run.ratio(name, linked, bare)
    run.figure(f"{name}_questions_per_second", round(len(questions) / statistics.median(linked), 1))


def _singles(run: Benchmark, linker: Linker, encoder: Encoder, questions: list[str]) -> None:
    ready = [_ready(encoder, [question]) for question in questions]
    for question in questions[:20]:
        linker(question)
    above, below = [], []
    for question, inputs in zip(questions, ready, strict=True):
        above.append(min(seconds(lambda: linker(question)) for _ in range(3)))  # noqa: B023
        below.append(min(seconds(lambda: _bare(encoder, inputs)) for _ in range(3)))  # noqa: B023
    run.ratio("single_vs_encoder", above, below)
    run.figure("single_milliseconds", round(statistics.median(above) * 1e3, 2))


def _onnx(run: Benchmark, linker: Linker, questions: list[str]) -> None:
    parts = [questions[first : first + BATCH] for first in range(0, len(questions), BATCH)]
    plain = linker.reader
    with TemporaryDirectory() as folder:
        export_model(linker.model, Path(folder))
        fast = OnnxReader(Path(folder) / FILE, linker.model.longest)

        def work(reader: object) -> None:
            linker.reader = reader  # type: ignore[assignment]
            for part in parts:
                linker.link(part)

        slow_seconds, fast_seconds = turns(lambda: work(plain), lambda: work(fast))
        linker.reader = plain
    run.ratio("onnx_int8_speedup", slow_seconds, fast_seconds)


def _documents(run: Benchmark, linker: Linker, data: Path, graph: Graph) -> None:
    texts = read_annotated(data / "corpus" / "wikipedia_linked.jsonl.gz", graph).texts
    words = " ".join(texts[:2000]).split()
    documents = [" ".join(words[:count]) for count in WORDS]
    times = turns(*[lambda d=document: linker(d) for document in documents])
    for count, each in zip(WORDS, times, strict=True):
        run.figure(f"seconds_{count}_words", round(statistics.median(each), 3))
    run.ratio("length_scaling", times[2], [10 * t for t in times[1]])


def _added(run: Benchmark, linker: Linker, encoder: Encoder) -> None:
    """Add entities whose texts no cache knows."""
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
        texts = [f"{row['label']}: {row['description']}" for row in rows]
        encoding = seconds(lambda: encoder.encode(texts))  # noqa: B023
        ratios.append(seconds(lambda: linker.add(rows)) / encoding)  # noqa: B023
    run.figure("add_1000_seconds_vs_encoding", ratios)


def _million(run: Benchmark, linker: Linker, encoder: Encoder, questions: list[str]) -> None:
    """Fill the index up to a million with mixtures of its vectors."""
    stored, count = linker.knowledge.index, len(linker.graph.entities)
    block = 1 << 14

    def blocks():  # type: ignore[no-untyped-def]  # noqa: ANN202
        draw = np.random.default_rng(0)
        for first in range(0, count, block):
            yield stored.take(np.arange(first, min(first + block, count)))
        for first in range(count, MILLION, block):
            size = min(block, MILLION - first)
            mixed = stored.take(draw.integers(count, size=size))
            mixed += stored.take(draw.integers(count, size=size))
            yield mixed + torch.from_numpy(draw.normal(size=mixed.shape, scale=0.02)).float()

    with TemporaryDirectory() as folder:
        file = Path(folder) / "million.safetensors"
        EntityIndex.build(blocks, MILLION, stored.dimension).save(file)
        run.figure("million_bytes_per_entity", round(file.stat().st_size / MILLION, 1))
        fill = pa.table(
            {
                "id": [f"fill-{number}" for number in range(MILLION - count)],
                "label": [f"Filled {number:x} up" for number in range(MILLION - count)],
            }
        )
        grown = linker.graph.extend(Path(folder) / "graph", entities=fill)
        linker.knowledge = Knowledge(grown, linker.model.config.encoder, EntityIndex.open(file))
        _batches(run, "million_entities", linker, encoder, questions)


if __name__ == "__main__":
    main()
