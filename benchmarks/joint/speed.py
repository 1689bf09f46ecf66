"""What the graph costs a step of joint pre-training: python -m benchmarks.joint.speed."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.data.linked_wikipedia import read_articles
from benchmarks.harness import Benchmark, Goal, shared_data, turns
from benchmarks.joint.live_memory import set_up_with
from benchmarks.joint.wikipedia import fresh, hidden_types
from kgraft.corpus import AnnotatedTexts
from kgraft.graph import Graph
from kgraft.joint import JointTask, PretrainSettings, Weights, open_memory
from kgraft.storage import sha256

BENCHMARK = Benchmark(
    name="joint_speed",
    measures="a step of joint pre-training, against masked words alone",
    minutes=3,
    data=("corpus/vital_articles.jsonl.gz", "corpus/wikipedia_linked.jsonl.gz", "graphs/wikidata"),
)

REPEATS = 9
PROTOCOL = """
A step of joint pre-training with all four losses (batches of 2,048 tokens of linked Wikipedia, 64
walks, neighbourhoods of 8 then 4 edges) over the same step of LM1 and LM2 alone: masked words of
the same texts, no graph. Forward, backward and AdamW over all weights, the default encoder, two
threads. Paths take turns over nine batches; the figure is a ratio of medians. The memory of
graphs/wikidata is there already: joint_memory counts what refreshing it costs.
"""
GOALS: dict[str, Goal] = {"step_vs_language": {"at_most": 1.5}}


def main() -> None:
    """Measure and record."""
    data = shared_data()
    if data is None:
        return
    graph = hidden_types(data).graph
    texts = read_articles(data, graph).train
    with (
        TemporaryDirectory() as folder,
        BENCHMARK.run(
            protocol=PROTOCOL,
            data={
                "name": "wikipedia_linked",
                "sha256": sha256(data / "corpus" / "wikipedia_linked.jsonl.gz"),
            },
            goals=GOALS,
        ) as run,
    ):
        joint = _task(graph, texts, Path(folder), Weights(), use_knowledge=True)
        alone = Weights(mentions=0.0, categories=0.0, relations=0.0)
        language = _task(graph, texts, Path(folder), alone, use_knowledge=False)
        batches = joint.batches(0)
        rows = iter(np.repeat(np.arange(REPEATS + 1), 2).tolist())
        above, below = turns(
            *(lambda t=t: t.step(batches[next(rows)], 0) for t in (joint, language)),
            repeats=REPEATS,
        )
        run.ratio("step_vs_language", above, below)


def _task(
    graph: Graph, texts: AnnotatedTexts, folder: Path, weights: Weights, *, use_knowledge: bool
) -> JointTask:
    model = fresh(graph)
    settings = PretrainSettings(weights=weights)
    task = JointTask(model, graph, texts, None, settings, use_knowledge=use_knowledge)
    set_up_with(task, open_memory(model, graph, folder=folder))
    return task


if __name__ == "__main__":
    main()
