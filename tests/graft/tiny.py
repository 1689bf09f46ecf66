"""A tiny graph of namesakes, knowledge of it with random vectors, and tiny encoders."""

import torch
from hypothesis import settings
from tests.graph.tiny import build  # noqa: F401
from tests.random_inputs import at_most
from tests.text.drawn_mentions import draw_mentions  # noqa: F401
from transformers import (
    BertConfig,
    BertModel,
    DistilBertConfig,
    DistilBertModel,
    ElectraConfig,
    ElectraModel,
    MPNetConfig,
    MPNetModel,
    RobertaConfig,
    RobertaModel,
)

some = settings(max_examples=at_most(60), deadline=None)
few = settings(max_examples=at_most(20), deadline=None)

SIZES = {"hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "vocab_size": 99}
FAMILIES = {
    "bert": (BertModel, BertConfig(**SIZES, intermediate_size=32)),
    "roberta": (RobertaModel, RobertaConfig(**SIZES, intermediate_size=32)),
    "mpnet": (MPNetModel, MPNetConfig(**SIZES, intermediate_size=32)),
    "electra": (ElectraModel, ElectraConfig(**SIZES, intermediate_size=32, embedding_size=12)),
    "distilbert": (
        DistilBertModel,
        DistilBertConfig(dim=24, n_layers=3, n_heads=4, hidden_dim=32, vocab_size=99),
    ),
}


class RandomKnowledge:
    """A kind of knowledge of the tests' own."""

    name = "random"

    closed = False

    def __init__(self, count=7, size=12):
        self.count, self.size = count, size
        self.table = torch.randn(count, size, generator=torch.Generator().manual_seed(1))

    def take(self, entities):
        return self.table[entities.clamp_min(0)] * (entities >= 0)[..., None]

    def identity(self):
        return {"name": self.name, "count": self.count, "size": self.size}


def host(family):
    kind, config = FAMILIES[family]
    torch.manual_seed(0)
    return kind(config).eval()
