"""Hidden words cost the same on both sides where knowledge says nothing."""

import numpy as np
import torch

from kgraft.corpus import annotate
from kgraft.graft import locate_mentions
from kgraft.tasks.graft.perplexity import perplexity_counts
from kgraft.text import MaskedHead

TEXTS = ["Paris lies in Texas, far from France. " * 8, "nothing is mentioned here at all " * 4]


def test_counts(encoder):
    torch.manual_seed(0)
    head = MaskedHead.of(encoder).eval()
    graph = encoder.grafts.knowledge[2].graph
    marks = [{"start": n * 38, "end": n * 38 + 5, "entity": "fr-paris"} for n in range(8)]
    texts = locate_mentions(encoder, annotate(graph, [(TEXTS[0], marks), (TEXTS[1], [])]), 2)
    on, off = (perplexity_counts(encoder, head, texts, use_knowledge=k) for k in (True, False))
    assert np.array_equal(on[:, 1], off[:, 1])
    assert on[-1, 0] == off[-1, 0]  # no mention
    assert on[0, 0] != off[0, 0]
    given = perplexity_counts(encoder, head, texts, gold_only=True)
    assert given[:, 0].sum() != on[:, 0].sum()
    assert on[:, 1].sum() > 3
