"""A tiny encoder that knows nothing, and link models on top of it."""

from contextlib import contextmanager

import numpy as np
import pytest
import torch
from hypothesis import settings
from hypothesis import strategies as st
from tests.random_inputs import at_most
from transformers import AutoTokenizer, BertConfig, BertModel

from kgraft.graph import Mentions
from kgraft.link.model import HEAD_FEATURES, LinkConfig, LinkModel
from kgraft.text import packaged_folder

reading = settings(max_examples=at_most(25), deadline=None)  # for what reads texts with an encoder
NAMES_DECIDE = {"log prior": 3.0}  # the logit of a candidate is 4 + ln prior


def write_encoder(folder, *, length=128):
    """Write an encoder of two layers with random weights and the default one's tokenizer."""
    tokenizer = AutoTokenizer.from_pretrained(packaged_folder(), local_files_only=True)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=96,
        max_position_embeddings=length,
    )
    with torch.random.fork_rng([]):
        torch.manual_seed(5)
        BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def link_model(encoder, *, names_decide=False, seed=1, **changes):
    """Return an untrained model for use; `names_decide` lets priors alone decide."""
    config = LinkConfig(encoder=str(encoder), **{"rank": 2, "width": 8, **changes})
    model = LinkModel(config, seed=seed).requires_grad_(False).eval()
    return weighing(model, NAMES_DECIDE, bias=4.0) if names_decide else model


def weighing(model, weights, *, bias=0.0):
    """Make the link head linear: a(e) = bias + Σ weight · feature."""
    far = 50.0  # where gelu changes nothing
    head = model.head
    for parameter in head.parameters():
        parameter.data.zero_()
    for name, weight in weights.items():
        head.hidden.weight.data[0, HEAD_FEATURES.index(name)] = weight
    head.hidden.bias.data[0], head.logit.bias.data[0] = far, bias - far
    head.deeper.weight.data[0, 0] = head.logit.weight.data[0, 0] = 1.0
    return model


def disturbed(model, *, size=0.2):
    """Give the changes to the encoder some size, as training would."""
    prepared = LinkModel(model.config).prepare_training()
    state, draw = model.small_state(), torch.Generator().manual_seed(3)
    for name, tensor in prepared.small_state().items():
        if name.startswith("host."):
            drawn = torch.randn(tensor.shape, generator=draw) * size
            state[name] = drawn if name.endswith(".up") else tensor.clone()
    model.load_small_state(state)
    return model


def mentions_of(rows):
    """Return mentions of rows (text, start, end, [(entity, match, score), ...]), in order."""
    spans = np.array([row[:3] for row in rows], np.int64).reshape(-1, 3).T
    sizes = [len(row[3]) for row in rows]
    candidates = [candidate for row in rows for candidate in row[3]]
    entity, match, score = np.array(candidates, np.float64).reshape(-1, 3).T
    return Mentions(
        *spans,
        np.cumsum([0, *sizes]),
        entity.astype(np.int64),
        np.repeat(1 / np.maximum(sizes, 1), sizes).astype(np.float32),
        match.astype(np.uint8),
        np.zeros(len(entity), np.uint8),
        score.astype(np.float32),
    )


def nested_spans(texts=2, length=14, size=6):
    """A strategy for distinct spans (text, start, end) in order."""
    span = st.tuples(st.integers(0, texts - 1), st.integers(0, length - 1), st.integers(1, size))
    ended = span.map(lambda row: (row[0], row[1], row[1] + row[2]))
    return st.lists(ended, max_size=10, unique=True).map(sorted)


@contextmanager
def apart(folder):
    """Keep the caches in a folder, and work with one thread: matrices are too small for more."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KGRAFT_CACHE", str(folder / "kgraft"))
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield
    torch.set_num_threads(threads)
