"""The hidden object of a fact is ranked among all words."""

import numpy as np
import pytest
import torch

from kgraft.graft import make_clozes
from kgraft.tasks.graft.facts import reciprocal_ranks
from kgraft.text import MaskedHead


@pytest.mark.slow
@pytest.mark.parametrize("use_knowledge", [True, False])
def test_ranks(encoder, graph, use_knowledge):
    clozes = make_clozes(encoder, graph, graph.triples, graph.triples)
    torch.manual_seed(0)
    head = MaskedHead.of(encoder).eval()
    clozes.others[0] = np.arange(2000, 2100)
    clozes.others[0] = clozes.others[0][clozes.others[0] != clozes.word[0]]
    counts = reciprocal_ranks(encoder, head, clozes, use_knowledge=use_knowledge)
    words = encoder.model.get_input_embeddings().weight
    for row, text in enumerate(clozes.texts):
        windows = encoder.windows([text])
        ids, mask = map(torch.from_numpy, windows.padded(np.array([0])))
        extra_inputs = encoder.extra_inputs(windows, np.array([0])) if use_knowledge else {}
        with torch.no_grad():
            read = encoder.model(input_ids=ids, attention_mask=mask.long(), **extra_inputs)
            place = ids[0].tolist().index(encoder.tokenizer.mask_token_id)
            scores = head(read.last_hidden_state[0, place], words)
        rivals = [w for w in range(len(scores)) if w not in clozes.others[row]]
        rank = 1 + sum(bool(scores[w] > scores[clozes.word[row]]) for w in rivals)
        assert counts[row].tolist() == pytest.approx([1 / rank, 1], rel=0.02)
