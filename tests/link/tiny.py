"""A tiny graph with namesakes, a tiny encoder that knows nothing, and link models on top of it."""

from contextlib import contextmanager

import pytest
import torch
from hypothesis import settings
from transformers import AutoTokenizer, BertConfig, BertModel

from kgraft.graph import Graph, TablesSource, build_graph
from kgraft.link.model import LinkConfig, LinkModel
from kgraft.text import Encoder
from kgraft.text.default import packaged_folder

few = settings(max_examples=25, deadline=None)  # for what reads texts with an encoder
some = settings(max_examples=60, deadline=None)

ENTITIES = [
    {"id": "fr-paris", "label": "Paris", "description": "city on the Seine", "types": ["city"]},
    {"id": "tx-paris", "label": "Paris", "description": "small city in Texas", "types": ["city"]},
    {"id": "myth", "label": "Paris", "description": "prince who abducted Helen"},
    {"id": "france", "label": "France", "aliases": ["La France"], "types": ["country"]},
    {"id": "germany", "label": "Germany", "aliases": ["Deutschland"], "types": ["country"]},
    {"id": "berlin", "label": "Berlin", "description": "city on the Spree", "types": ["city"]},
    {"id": "texas", "label": "Texas", "aliases": ["Lone Star State"], "types": ["state"]},
    {"id": "ny", "label": "New York", "description": "city and state", "types": ["state"]},
    {"id": "nyc", "label": "New York City", "aliases": ["New York"], "types": ["city"]},
    {"id": "york", "label": "York", "description": "city in England", "types": ["city"]},
    {"id": "tokyo", "label": "Tokyo", "aliases": ["東京", "Tōkyō"], "types": ["city"]},
    {"id": "zürich", "label": "Zürich", "description": "größte Stadt der Schweiz"},
    {"id": "euro", "label": "euro", "description": "money", "types": ["currency"]},
    {"id": "nameless", "description": "has no label"},
    *({"id": f"r{n}", "label": f"River {n}", "types": ["river"]} for n in range(16)),
]
RELATIONS = [
    {"id": "capital", "label": "capital_of", "template": "[X] is the capital of [Y] ."},
    *({"id": name, "label": name} for name in ("lies in", "borders", "pays in", "flows in")),
]
TRIPLES = [
    ("fr-paris", "capital", "france"),
    ("berlin", "capital", "germany"),
    ("tx-paris", "lies in", "texas"),
    ("france", "borders", "germany"),
    ("germany", "borders", "france"),
    ("france", "pays in", "euro"),
    ("germany", "pays in", "euro"),
    ("nyc", "lies in", "ny"),
    *((f"r{n}", "flows in", ("france", "germany", "texas")[n % 3]) for n in range(16)),
]
SENTENCES = [
    "The {city} of {country} is old.",
    "who rules {country}?",
    "We went from {city} to {country} by train.",
    "{country} is famous for {city}.",
]


def build(folder, triples=TRIPLES, entities=ENTITIES, relations=RELATIONS):
    """Write a graph and open it."""
    build_graph(TablesSource(triples, entities, relations), folder)
    return Graph.open(folder)


def examples(count=40):
    """Return made texts with their mentions."""
    cities = [("Berlin", "berlin"), ("Paris", "fr-paris"), ("東京", "tokyo"), ("York", "york")]
    countries = [("France", "france"), ("Germany", "germany"), ("Texas", "texas")]
    made = []
    for n in range(count):
        names = {"{city}": cities[n % 4], "{country}": countries[n % 3]}
        text, mentions = SENTENCES[n // 3 % 4], []
        for mark in sorted(names, key=text.find):
            start = text.find(mark)
            if start >= 0:
                name, entity = names[mark]
                text = text.replace(mark, name)
                mentions.append({"start": start, "end": start + len(name), "entity": entity})
        made.append((text, mentions))
    return made


def write_encoder(folder):
    """Write an encoder of two layers with random weights and the default one's tokenizer."""
    tokenizer = AutoTokenizer.from_pretrained(packaged_folder(), local_files_only=True)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=96,
        max_position_embeddings=128,
    )
    with torch.random.fork_rng([]):
        torch.manual_seed(5)
        BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def link_model(encoder, *, max_length=None, names_decide=False, seed=1, **changes):
    """Return an untrained model; `names_decide` lets a candidate by name beat every other."""
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        loaded = Encoder.load(encoder, device="cpu", max_length=max_length)
        model = LinkModel(LinkConfig(encoder=str(encoder), rank=2, **changes), loaded)
    if names_decide:
        model.weigh.weight.data[0, 1] = 1000.0
    return model.eval()


def disturbed(model):
    """Give the changes to the encoder some size, as training would."""
    draw = torch.Generator().manual_seed(3)
    for name, parameter in model.host.named_parameters():
        if name.endswith(".up"):
            parameter.data.copy_(torch.randn(parameter.shape, generator=draw) * 0.2)
    return model


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
