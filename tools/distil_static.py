"""Distil the static encoder that ships with kgraft from the default encoder.

    python -m tools.distil_static src/kgraft/data/static

1. As model2vec does: one forward pass over the vocabulary, a projection to 256 dimensions, weights
   by frequency. The projection keeps the main directions of the sentence vectors.
2. Regression: a linear map and one weight per token, then the token vectors themselves, so that the
   sum over a text's tokens points where the default encoder's sentence vector points.
3. In the last step also a contrastive loss over pairs of label and description.

The default encoder reads about 60,000 short texts, which takes some minutes. Its vectors are cached
under build/static, so an interrupted run resumes. Entities of two folds, by a hash of their id, are
not read: one is the benchmark's, the other validates the steps.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from benchmarks.harness import ROOT, WORK, shared_data
from scipy.sparse import csr_array
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn.functional import cross_entropy, embedding_bag, normalize

from kgraft.graph import Graph, build_graph, open_source
from kgraft.storage import new_file
from kgraft.text import Encoder, StaticEncoder, packaged_folder, quantise
from kgraft.training import Purpose, stream

SEED = 0
CACHE = ROOT / "build" / "static"
CARD = Path(__file__).with_name("static_card.md")
SHARD = 2_000  # texts per cached file
MAX_WORDS = 40  # of a training text
FOLDS, TEST, VALIDATION = 10, 0, 1  # of the entities, by a hash of the id
TARGETS = 20_000  # labels that a description is compared with
NEAREST = 64
DIMENSION = 256
BATCH = 1024
MAP_EPOCHS, MAP_RATE, WEIGHT_RATE = 3, 3e-3, 2e-2  # the linear map and the token weights
TABLE_EPOCHS, TABLE_RATE = 4, 1e-3  # the token vectors
STAY = 0.01  # weight of the squared distance from where the token vectors started
PAIRS, TEMPERATURE = 0.03, 0.05  # weight and temperature of the contrastive losses
FREQUENT = 1e-3  # model2vec's and SIF's a in a / (a + p)
SPECIAL = ("PAD", "UNK", "CLS", "SEP", "MASK")
DRAWN = {  # training texts per kind
    "label": 10_000,
    "description": 14_000,
    "alias": 4_000,
    "label: description": 4_000,
    "WordNet lemma": 5_000,
    "WordNet gloss": 12_000,
    "linked Wikipedia sentence": 5_000,
    "vital article sentence": 6_000,
}


@dataclass(frozen=True)
class Retrieval:
    """Descriptions to find labels for: the entity of query i is target i."""

    queries: list[str]
    targets: list[str]


@dataclass(frozen=True)
class TrainingData:
    """What the table is fitted to: texts with the encoder's vectors, and pairs of texts."""

    counts: csr_array  # (N, V)
    vectors: np.ndarray  # (N, D), of unit length
    pairs: list[tuple[csr_array, csr_array]]  # labels and descriptions, one pair per graph


def fold(entity_id: str) -> int:
    """Return the fold of an entity, a fixed hash of its id.

    >>> fold("Q42")
    8
    """
    return zlib.crc32(entity_id.encode()) % FOLDS


def is_held_out(entity_id: str) -> bool:
    """Tell whether an entity's texts are kept out of the distillation."""
    return fold(entity_id) in (TEST, VALIDATION)


def open_graph(data: Path, name: str) -> Graph:
    """Open a graph of the data folder, built on first use."""
    folder = WORK / name
    if not folder.exists():
        source = data / "wordnet-3.0" if name == "wordnet" else data / "graphs" / name
        build_graph(open_source(source), folder, name=name)
    return Graph.open(folder)


def main() -> None:
    """Distil, validate each step, write the folder."""
    data, folder = shared_data(), packaged_folder()
    if data is None or folder is None:
        return
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    encoder = Encoder.load(device="cpu")
    texts = training_texts(data, tokenizer)
    sentences = read_texts(encoder, texts, CACHE)
    words = read_vocabulary(encoder, tokenizer.get_vocab_size())
    basis = main_directions(sentences)  # (384, D)
    counts = count_tokens(tokenizer, texts)
    training = TrainingData(counts, _unit(sentences @ basis), label_pairs(data, tokenizer))
    validate = validation(data, tokenizer, encoder)
    figures = {"texts": f"{len(texts):,}", "encoder": f"{validate(None):.3f}"}
    table = model2vec_table(words, basis, counts)
    figures["model2vec"] = f"{validate(table):.3f}"
    mapped = fit_map(words, basis, training)
    figures["map"] = f"{validate(mapped):.3f}"
    regressed = fit_table(mapped, training, pairs=0.0)
    figures["regression"] = f"{validate(regressed):.3f}"
    codes, scales = quantise(_without_special(fit_table(mapped, training, pairs=PAIRS), tokenizer))
    figures["shipped"] = f"{validate(codes * scales[:, None]):.3f}"
    out = Path(sys.argv[1])
    StaticEncoder(codes, scales, tokenizer).save(out)
    card = CARD.read_text(encoding="utf-8").format(seed=SEED, **figures)
    (out / "README.md").write_text(card, encoding="utf-8")
    print(figures)


def training_texts(data: Path, tokenizer: Tokenizer) -> list[str]:
    """Draw the texts of each kind; a text with rare tokens is drawn more often.

    No text equals a label, alias or description of a held-out entity.
    """
    pools, excluded = text_pools(data)
    kinds = {kind: _distinct(texts, excluded) for kind, texts in pools.items()}
    everything = [text for texts in kinds.values() for text in texts]
    rarity = _rarity(count_tokens(tokenizer, everything))
    drawn, first = [], 0
    for number, (kind, texts) in enumerate(kinds.items()):
        weights = rarity[first : first + len(texts)]
        first += len(texts)
        # Efraimidis and Spirakis: the largest u^(1/w) are a weighted sample without replacement.
        keys = np.log(stream(SEED, number).random(len(texts))) / weights
        drawn += [texts[row] for row in np.sort(np.argsort(-keys)[: DRAWN[kind]])]
    return list(dict.fromkeys(drawn))


def text_pools(data: Path) -> tuple[dict[str, list[str]], set[str]]:
    """Return all texts by kind, and the texts of held-out entities in lower case."""
    pools: dict[str, list[str]] = {kind: [] for kind in DRAWN}
    entities = open_graph(data, "wikidata").entities.to_pylist()
    excluded = _excluded(entities)
    for row in entities:
        if is_held_out(row["id"]):
            continue
        label, description, aliases = row["label"], row["description"], row["aliases"] or []
        pools["label"].append(label)
        pools["description"].append(description)
        pools["alias"] += aliases
        if description and description.lower() not in excluded and label.lower() not in excluded:
            pools["label: description"].append(f"{label}: {description}")
    synsets = open_graph(data, "wordnet").entities
    pools["WordNet lemma"] = synsets["label"].to_pylist()
    pools["WordNet gloss"] = synsets["description"].to_pylist()
    corpus = data / "corpus"
    linked = _json_lines(corpus / "wikipedia_linked.jsonl.gz")
    pools["linked Wikipedia sentence"] = [line["text"] for line in linked]
    vital = _json_lines(corpus / "vital_articles.jsonl.gz")
    pools["vital article sentence"] = [
        sentence for line in vital for sentence in re.split(r"(?<=[.!?]) +(?=[A-Z])", line["text"])
    ]
    return pools, excluded


def _excluded(entities: Iterable[dict[str, Any]]) -> set[str]:
    """Return the labels, aliases and descriptions of held-out entities, in lower case."""
    held_out = (row for row in entities if is_held_out(row["id"]))
    names = ((row["label"], row["description"], *(row["aliases"] or [])) for row in held_out)
    return {text.lower() for texts in names for text in texts}


def _json_lines(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def _distinct(texts: Iterable[str], excluded: set[str]) -> list[str]:
    """Return the texts that are neither empty, excluded nor too long, each once in any case."""
    distinct = {text.lower(): text for text in texts if text.strip()}
    return [
        text
        for lower, text in distinct.items()
        if lower not in excluded and len(text.split()) <= MAX_WORDS
    ]


def _rarity(counts: csr_array) -> np.ndarray:
    """Return the mean over a text's tokens of 1/√frequency, (N,)."""
    frequency = np.maximum(counts.sum(axis=0), 1)
    lengths = np.maximum(counts.sum(axis=1), 1)
    return (counts @ (1 / np.sqrt(frequency))) / lengths + 1e-6


def count_tokens(tokenizer: Tokenizer, texts: Sequence[str]) -> csr_array:
    """Return how often each token occurs in each text, (N, V)."""
    encodings = tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
    ids = [encoding.ids for encoding in encodings]
    bounds = np.cumsum([0, *map(len, ids)])
    columns = np.concatenate([np.empty(0, np.int32), *(np.array(row, np.int32) for row in ids)])
    shape = (len(texts), tokenizer.get_vocab_size())
    counts = csr_array((np.ones(len(columns), np.float32), columns, bounds), shape=shape)
    counts.sum_duplicates()
    return counts


def read_texts(encoder: Encoder, texts: Sequence[str], folder: Path) -> np.ndarray:
    """Return the encoder's vectors of texts, (N, 384), cached shard by shard."""
    folder.mkdir(parents=True, exist_ok=True)
    shards = []
    for first in range(0, len(texts), SHARD):
        part = list(texts[first : first + SHARD])
        digest = hashlib.sha256("\0".join([encoder.name, *part]).encode()).hexdigest()[:16]
        path = folder / f"{digest}.npy"
        if not path.exists():
            with new_file(path) as partial, partial.open("wb") as file:
                np.save(file, encoder.encode(part).astype(np.float16))
            print(f"encoded {first + len(part):,} of {len(texts):,} texts", flush=True)
        shards.append(np.load(path).astype(np.float32))
    return np.concatenate(shards)


def read_vocabulary(encoder: Encoder, size: int) -> np.ndarray:
    """Return the encoder's vector of each token alone, (V, 384) of unit length."""
    frame = encoder.windows(["a"]).padded(np.zeros(1, np.int64))[0][0]  # [CLS] a [SEP]
    vectors = []
    for first in range(0, size, BATCH):
        tokens = torch.arange(first, min(first + BATCH, size))
        ids = torch.from_numpy(frame).long().repeat(len(tokens), 1)
        ids[:, 1] = tokens
        with torch.no_grad():
            vectors.append(encoder.read(ids, torch.ones_like(ids, dtype=torch.bool)).mean(1))
    return normalize(torch.cat(vectors)).numpy()


def main_directions(vectors: np.ndarray) -> np.ndarray:
    """Return the directions that keep most of the vectors' inner products, (384, D)."""
    values, directions = np.linalg.eigh(vectors.T @ vectors)
    return directions[:, np.argsort(-values)[:DIMENSION]]


def label_pairs(data: Path, tokenizer: Tokenizer) -> list[tuple[csr_array, csr_array]]:
    """Return labels and descriptions of training entities and of WordNet's synsets."""
    entities = open_graph(data, "wikidata").entities.to_pylist()
    excluded = _excluded(entities)
    training = [row for row in entities if not is_held_out(row["id"])]
    synsets = open_graph(data, "wordnet").entities.select(["label", "description"]).to_pylist()
    pairs = []
    for rows in (training, synsets):
        sides = [(row["label"], row["description"]) for row in rows if row["description"]]
        kept = [side for side in sides if not {text.lower() for text in side} & excluded]
        labels, descriptions = zip(*kept, strict=True)
        pairs.append((count_tokens(tokenizer, labels), count_tokens(tokenizer, descriptions)))
    return pairs


def model2vec_table(words: np.ndarray, basis: np.ndarray, counts: csr_array) -> np.ndarray:
    """Return centred and projected token vectors times a / (a + p), (V, D)."""
    return (words - words.mean(0)) @ basis * _frequency_weights(counts)[:, None]


def _frequency_weights(counts: csr_array) -> np.ndarray:
    frequency = counts.sum(axis=0)
    return (FREQUENT / (FREQUENT + frequency / frequency.sum())).astype(np.float32)


def fit_map(words: np.ndarray, basis: np.ndarray, training: TrainingData) -> np.ndarray:
    """Fit one linear map of the token vectors and one weight per token; return the table (V, D)."""
    centre = -(words.mean(0) @ basis)[None]
    linear = torch.from_numpy(np.concatenate([basis, centre])).requires_grad_()  # (385, D)
    log_weights = torch.from_numpy(np.log(_frequency_weights(training.counts))).requires_grad_()
    inputs = torch.cat([torch.from_numpy(words), torch.ones(len(words), 1)], 1)  # (V, 385)

    def loss(rows: np.ndarray) -> Tensor:
        sums = _sum_tokens(inputs, training.counts[rows], log_weights)
        return _cosine_loss(normalize(sums @ linear), training.vectors[rows])

    groups = [{"params": [linear], "lr": MAP_RATE}, {"params": [log_weights], "lr": WEIGHT_RATE}]
    _descend(torch.optim.Adam(groups), loss, training.counts.shape[0], MAP_EPOCHS)
    with torch.no_grad():
        return ((inputs @ linear) * log_weights.exp()[:, None]).numpy()


def fit_table(start: np.ndarray, training: TrainingData, *, pairs: float) -> np.ndarray:
    """Fit the token vectors themselves; `pairs` is the weight of the contrastive losses."""
    norms = np.linalg.norm(start, axis=1) @ training.counts.sum(axis=0) / training.counts.sum()
    first = torch.from_numpy((start / norms).astype(np.float32))
    table = first.clone().requires_grad_()
    draw = stream(SEED, Purpose.STEP)

    def loss(rows: np.ndarray) -> Tensor:
        counts = training.counts[rows]
        total = _cosine_loss(normalize(_sum_tokens(table, counts)), training.vectors[rows])
        tokens = torch.from_numpy(np.unique(counts.indices)).long()
        total = total + STAY * (table[tokens] - first[tokens]).square().sum() / len(rows)
        for labels, descriptions in training.pairs if pairs else ():
            drawn = draw.choice(labels.shape[0], BATCH, replace=False)
            total = total + pairs * _pair_loss(table, labels[drawn], descriptions[drawn])
        return total

    optimiser = torch.optim.Adam([table], lr=TABLE_RATE, betas=(0.9, 0.99))
    _descend(optimiser, loss, training.counts.shape[0], TABLE_EPOCHS)
    return table.detach().numpy()


def _descend(
    optimiser: torch.optim.Optimizer, loss: Callable[[np.ndarray], Tensor], count: int, epochs: int
) -> None:
    """Minimise a loss over batches of rows, with rates that fall linearly to zero."""
    steps = epochs * (count // BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - step / steps)
    for epoch in range(epochs):
        order = stream(SEED, Purpose.ORDER, epoch).permutation(count)
        for first in range(0, count - BATCH + 1, BATCH):
            optimiser.zero_grad()
            loss(order[first : first + BATCH]).backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            schedule.step()


def _sum_tokens(table: Tensor, counts: csr_array, log_weights: Tensor | None = None) -> Tensor:
    """Return the weighted sum of each text's token vectors, (B, D)."""
    tokens = torch.from_numpy(counts.indices).long()
    bounds = torch.from_numpy(counts.indptr[:-1]).long()
    weights = torch.from_numpy(counts.data)
    if log_weights is not None:
        weights = weights * log_weights[tokens].exp()
    return embedding_bag(tokens, table, bounds, mode="sum", per_sample_weights=weights)


def _cosine_loss(vectors: Tensor, wanted: np.ndarray) -> Tensor:
    return 1 - (vectors * torch.from_numpy(wanted)).sum(1).mean()


def _pair_loss(table: Tensor, labels: csr_array, descriptions: csr_array) -> Tensor:
    """Return the contrastive loss of finding each description's label among those of the batch."""
    a, b = normalize(_sum_tokens(table, labels)), normalize(_sum_tokens(table, descriptions))
    with torch.no_grad():  # equal texts are no negatives of each other
        equal = (a @ a.T > 0.999) | (b @ b.T > 0.999)
        equal.fill_diagonal_(False)
    scores = (b @ a.T / TEMPERATURE).masked_fill(equal, -1e4)
    return cross_entropy(scores, torch.arange(len(scores)))


def _without_special(table: np.ndarray, tokenizer: Tokenizer) -> np.ndarray:
    """Set the rows of [UNK] and the other special tokens to zero: they say nothing of a text."""
    table = table.copy()
    vocabulary = tokenizer.get_vocab()
    table[[vocabulary[f"[{name}]"] for name in SPECIAL]] = 0
    return table


def retrieval(
    graph: Graph, is_query: Callable[[str], bool], *, most_queries: int | None = None
) -> Retrieval:
    """Take described entities as queries, and labels of other entities up to TARGETS in all."""
    rows = graph.entities.to_pylist()
    own = [n for n, row in enumerate(rows) if row["description"] and is_query(row["id"])]
    order = stream(SEED, Purpose.VALID).permutation(len(rows))
    chosen = set(own)
    queries = [int(n) for n in order if n in chosen][:most_queries]
    asked = set(queries)
    others = [int(n) for n in order if n not in asked][: TARGETS - len(queries)]
    targets = [rows[n]["label"] for n in queries + others]
    return Retrieval([rows[n]["description"] for n in queries], targets)


def recall(queries: np.ndarray, targets: np.ndarray) -> float:
    """Return the share of queries whose own target is among the NEAREST; ties count against it."""
    hits = 0
    for first in range(0, len(queries), BATCH):
        scores = queries[first : first + BATCH] @ targets.T
        own = scores[np.arange(len(scores)), np.arange(first, first + len(scores))]
        hits += int(((scores >= own[:, None]).sum(axis=1) <= NEAREST).sum())
    return hits / len(queries)


def validation(
    data: Path, tokenizer: Tokenizer, encoder: Encoder
) -> Callable[[np.ndarray | None], float]:
    """Return a function from a table (None: the encoder) to its recall on the validation fold."""
    task = retrieval(open_graph(data, "wikidata"), lambda name: fold(name) == VALIDATION)
    counts = [count_tokens(tokenizer, texts) for texts in (task.queries, task.targets)]
    read = [read_texts(encoder, texts, CACHE) for texts in (task.queries, task.targets)]

    def measure(table: np.ndarray | None) -> float:
        sides = read if table is None else [_unit(rows @ table) for rows in counts]
        return recall(*sides)

    return measure


def _unit(vectors: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.maximum(norms, 1e-12)).astype(np.float32)


if __name__ == "__main__":
    main()
