"""What a graft costs over its host: python -m benchmarks.graft.speed."""

from __future__ import annotations

import numpy as np
import torch

from benchmarks.harness import Benchmark, Goal, Run, turns
from kgraft.graft import GraftedEncoder, GraftSettings, GraphKnowledge, MentionWindows, attach
from kgraft.graft.task import Batch, GraftTask
from kgraft.graft.windows import LocatedMentions
from kgraft.graph import Graph, Match, Mentions
from kgraft.text import Encoder, MaskedHead, MentionBatch, TokenSpans
from kgraft.vectors import TextVectors

BENCHMARK = Benchmark(
    name="graft_speed",
    measures="forward pass and training step of a grafted encoder, against its host",
    minutes=2,
)

TEXTS, TOKENS = 32, 128
MENTIONS, CANDIDATES = 30, 30
LAYER = 5
REPEATS = 9
PROTOCOL = """
The default encoder on two threads; batches of 32 windows of 128 tokens, each with 30 mentions of
one to three tokens and 30 candidates, entities of the built-in graph with their text vectors (384),
one graft after layer 5 with the sizes of the paper. Paths take turns; a figure is a ratio of
medians. forward_vs_host: the grafted encoder with knowledge over the bare one. training_vs_host: a
step of masked-word training (forward, backward, AdamW over all weights) with knowledge over the
same step without.
"""
GOALS: dict[str, Goal] = {
    "forward_vs_host": {"at_most": 1.3},
    "training_vs_host": {"at_most": 1.4},
}


def main() -> None:
    """Measure and record."""
    world = Graph.open("world")
    knowledge = GraphKnowledge(world, TextVectors(world))
    with BENCHMARK.run(
        protocol=PROTOCOL,
        data={"name": "synthetic windows; built-in graph world"},
        goals=GOALS,
    ) as run:
        _forward(run, knowledge)
        _training(run, knowledge)


def drawn_ids(seed: int) -> torch.Tensor:
    """Return random words, (B, L)."""
    drawn = torch.Generator().manual_seed(seed)
    return torch.randint(1999, 29000, (TEXTS, TOKENS), generator=drawn)


def drawn_mentions(seed: int, count: int) -> MentionBatch:
    """Return random mentions of random entities."""
    drawn = torch.Generator().manual_seed(seed)
    first = torch.randint(TOKENS - 3, (TEXTS, MENTIONS), generator=drawn)
    last = first + torch.randint(1, 4, first.shape, generator=drawn)
    shape = (TEXTS, MENTIONS, CANDIDATES)
    prior = torch.rand(shape, generator=drawn).softmax(-1)
    return MentionBatch(first, last, torch.randint(count, shape, generator=drawn), prior)


def _forward(run: Run, knowledge: GraphKnowledge) -> None:
    host, grafted = Encoder.load().model, attach(Encoder.load().model, {LAYER: knowledge})
    ids, mentions = drawn_ids(0), drawn_mentions(0, knowledge.count)
    with torch.no_grad():
        above, below = turns(
            lambda: grafted(input_ids=ids, knowledge=mentions),
            lambda: host(input_ids=ids),
            repeats=REPEATS,
        )
    run.ratio("forward_vs_host", above, below)


def _training(run: Run, knowledge: GraphKnowledge) -> None:
    tasks = [_task(knowledge, use_knowledge=side) for side in (True, False)]
    batch = Batch(np.arange(TEXTS), masked=True)
    above, below = turns(*(lambda t=t: t.step(batch, 0) for t in tasks), repeats=REPEATS)
    run.ratio("training_vs_host", above, below)


def _task(knowledge: GraphKnowledge, *, use_knowledge: bool) -> GraftTask:
    encoder = GraftedEncoder(Encoder.load(max_length=TOKENS), {LAYER: knowledge})
    windows = encoder.windows(["word " * (TOKENS - 2)] * TEXTS, extra_inputs=False)
    texts = MentionWindows.of(windows, {LAYER: _located(drawn_mentions(0, knowledge.count))})
    settings = GraftSettings(linker_epochs=0, epochs=1, masked_fraction=1.0)
    head = MaskedHead.of(encoder)
    return GraftTask(encoder, texts, None, settings, head=head, use_knowledge=use_knowledge)


def _located(batch: MentionBatch) -> LocatedMentions:
    """Return the mentions of a batch, one window per text."""
    window = np.repeat(np.arange(TEXTS), MENTIONS)
    first, last = batch.first.flatten().numpy(), batch.last.flatten().numpy()
    entity = batch.entity.flatten().numpy()
    mentions = Mentions(
        text=window,
        start=first,
        end=last,
        bounds=np.arange(len(window) + 1) * CANDIDATES,
        entity=entity,
        prior=batch.prior.flatten().numpy(),
        match=np.full(len(entity), Match.NAME, np.uint8),
        forms=np.zeros(len(entity), np.uint8),
        score=np.zeros(len(entity), np.float32),
    )
    return LocatedMentions(mentions, TokenSpans(window, first, last))


if __name__ == "__main__":
    main()
