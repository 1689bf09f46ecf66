"""Facts recalled by cloze: the hidden object of a fact in words (Petroni et al. 2019).

The word that the object consists of is ranked among all words; other right objects of the same
subject and relation are left out of the ranking.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from kgraft.errors import BadInput
from kgraft.graft import Clozes, GraftedEncoder, make_clozes
from kgraft.graph import SPLITS, Graph
from kgraft.measure import Difference, paired_difference
from kgraft.progress import Progress
from kgraft.tasks.graft import GRAFT_TASKS
from kgraft.tasks.interfaces import GraftEvaluation
from kgraft.text import MaskedHead, length_batches

TOKENS = 4096  # read at once


@torch.no_grad()
def reciprocal_ranks(
    encoder: GraftedEncoder, head: MaskedHead, clozes: Clozes, *, use_knowledge: bool = True
) -> np.ndarray:
    """Return 1 over the rank of each hidden word, and 1: the counts of an MRR, (N, 2)."""
    windows = encoder.windows(clozes.texts, extra_inputs=use_knowledge)
    mask_token = encoder.tokenizer.mask_token_id
    encoder.model.eval()
    counts = np.ones((len(clozes), 2))
    for indices in length_batches(windows.lengths, TOKENS):
        ids, mask = map(torch.from_numpy, windows.padded(indices))
        hidden = encoder.read(ids, mask, **encoder.extra_inputs(windows, indices))
        column = (ids == mask_token).int().argmax(1)
        logits = head(hidden[torch.arange(len(ids)), column], encoder.words)
        fact = windows.text[indices]
        for row, index in enumerate(fact.tolist()):  # few have other right objects
            logits[row, torch.from_numpy(clozes.others[index])] = -torch.inf
        counts[fact, 0] = 1 / _ranks(logits, torch.from_numpy(clozes.word[fact]))
    return counts


def _ranks(logits: torch.Tensor, word: torch.Tensor) -> np.ndarray:
    """Return the rank of a word in each row of logits, the best being 1."""
    own = logits.gather(1, word[:, None])
    return (1 + (logits > own).sum(1)).numpy()


class FactEvaluation(GraftEvaluation):
    """Facts of a graph, given by its folder, as clozes; nothing is trained."""

    def compare(
        self,
        model: Path,
        data: Path,
        *,
        seeds: int = 1,  # noqa: ARG002
        progress: Progress | None = None,  # noqa: ARG002
    ) -> Difference:
        """Compare the MRR of hidden objects with the knowledge on and off."""
        encoder = GraftedEncoder.from_pretrained(model)
        head = MaskedHead.load(model, encoder)
        graph = Graph.open(data).whole()
        facts = graph.triples
        if graph.manifest.splits["test"]:
            facts = facts.take(facts.split == SPLITS.index("test"))
        clozes = make_clozes(encoder, graph, facts, graph.triples)
        if not len(clozes):
            reason = "no fact of this graph has an object of one word"
            raise BadInput(reason, file=str(data), remedy="give one with labels of single words")
        on, off = (
            reciprocal_ranks(encoder, head, clozes, use_knowledge=side) for side in (True, False)
        )
        return paired_difference(on, off)


GRAFT_TASKS.register("facts")(FactEvaluation())
