"""What a graft costs over its host: python -m benchmarks.graft.speed."""

from __future__ import annotations

import numpy as np
import torch
from kgraft.graft.noticed import Noticed
from kgraft.graft.trainee import Batch, GraftTrainee

from benchmarks.harness import Benchmark, Goal, Run, turns
from kgraft.graft import GraftedEncoder, GraftSettings, GraphKnowledge, Mentions, attach
from kgraft.graft.encoder import NoticedWindows
from kgraft.graph import Graph
from kgraft.text import Encoder, MaskedHead, TokenSpans
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


def drawn_mentions(seed: int, count: int) -> Mentions:
    """Return random mentions of random entities."""
    drawn = torch.Generator().manual_seed(seed)
    first = torch.randint(TOKENS - 3, (TEXTS, MENTIONS), generator=drawn)
    last = first + torch.randint(1, 4, first.shape, generator=drawn)
    shape = (TEXTS, MENTIONS, CANDIDATES)
    prior = torch.rand(shape, generator=drawn).softmax(-1)
    return Mentions(first, last, torch.randint(count, shape, generator=drawn), prior)


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
    trainees = [_trainee(knowledge, knowing=knowing) for knowing in (True, False)]
    batch = Batch(np.arange(TEXTS), masked=True)
    above, below = turns(*(lambda t=t: t.step(batch, 0) for t in trainees), repeats=REPEATS)
    run.ratio("training_vs_host", above, below)


def _trainee(knowledge: GraphKnowledge, *, knowing: bool) -> GraftTrainee:
    encoder = GraftedEncoder(Encoder.load(max_length=TOKENS), {LAYER: knowledge})
    windows = encoder.windows(["word " * (TOKENS - 2)] * TEXTS, extra_inputs=False)
    mentions = drawn_mentions(0, knowledge.count)
    window = np.repeat(np.arange(TEXTS), MENTIONS)
    places = TokenSpans(window, mentions.first.flatten().numpy(), mentions.last.flatten().numpy())
    noticed = Noticed(
        places,
        np.arange(len(window) + 1) * CANDIDATES,
        mentions.entity.flatten().numpy(),
        mentions.prior.flatten().numpy(),
        np.full(len(window), -1),
    )
    texts = NoticedWindows.of(windows, {LAYER: noticed})
    settings = GraftSettings(linker_epochs=0, epochs=1, masked=1.0)
    head = MaskedHead.of(encoder)
    return GraftTrainee(encoder, head, texts, None, settings, knowing=knowing)


if __name__ == "__main__":
    main()
