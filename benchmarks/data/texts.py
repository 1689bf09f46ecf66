"""Annotated texts for training and judging linkers, by graph and kind of text.

What is used for training, for choosing a threshold, and for judging never shares a text: Wikipedia
is split by article, REBEL and the news by a hash of the id.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.harness import WORK
from kgraft.columns import numbers
from kgraft.corpus import AnnotatedTexts, annotate, read_annotated
from kgraft.graph import IGNORED, Graph, TablesSource, build_graph, open_source
from kgraft.graph.names import fold_name

Example = tuple[str, list[dict[str, Any]]]
SOURCES = {
    "wikidata": "graphs/wikidata",
    "medic": "graphs/medic",
    "hpo": "graphs/hpo",
    "dbpedia": "fuse/dbp15k_fr_en/right",
}
DOMAINS = {  # topics of WordNet's nouns that make small vocabularies
    "wordnet-living": ("noun.animal", "noun.plant"),
    "wordnet-food": ("noun.food", "noun.substance"),
    "wordnet-health": ("noun.state", "noun.body", "noun.phenomenon"),
    "wordnet-things": ("noun.artifact",),
    "wordnet-acts": ("noun.act", "noun.event", "noun.process", "noun.feeling"),
    "wordnet-people": ("noun.person", "noun.group"),
    "wordnet-places": ("noun.location", "noun.object"),
}
TRAIN_ARTICLES, CHOICE_ARTICLES = 80, 85  # of the 100 Wikipedia articles: up to these
Split = Literal["train", "choice", "test"]


@cache
def open_graph(name: str, data: Path) -> Graph:
    """Open a graph of the data folder by its name, built if it is not there."""
    if name == "world":
        return Graph.open("world")
    folder = WORK / "graphs" / name
    if not folder.exists():
        source = _nouns(data, name) if name.startswith("wordnet-") else None
        build_graph(source or open_source(data / SOURCES[name]), folder, name=name)
    return Graph.open(folder)


def _nouns(data: Path, name: str) -> TablesSource:
    """Return the nouns of WordNet with their relations, or those of a domain, capitalised."""
    folder = WORK / "graphs" / "wordnet"
    if not folder.exists():
        build_graph(open_source(data / "wordnet-3.0"), folder, name="wordnet")
    graph = Graph.open(folder)
    kept = numbers(pc.ends_with(graph.entities["id"], "-n"))
    entities = graph.entities
    if name in DOMAINS:
        topic = [types[0] if types else "" for types in entities["types"].to_pylist()]
        kept &= np.isin(topic, DOMAINS[name]) & _is_first_sense(graph)
    rows = entities.filter(pa.array(kept)).to_pylist()
    triples = graph.triples
    inside = kept[triples.head] & kept[triples.tail]
    ids, relations = entities["id"].combine_chunks(), graph.relations["id"].combine_chunks()
    columns = {
        "head": ids.take(pa.array(triples.head[inside])),
        "relation": relations.take(pa.array(triples.relation[inside])),
        "tail": ids.take(pa.array(triples.tail[inside])),
    }
    if name in DOMAINS:
        rows = [{**row, **_capitalised(row)} for row in rows]
    return TablesSource(entities=rows, triples=pa.table(columns).to_pylist())


def _is_first_sense(graph: Graph) -> np.ndarray:
    """Return which synsets are what most of their names mean first, as in a domain's vocabulary."""
    owner, entity, _, _ = graph.aliases.candidate_rows(np.arange(len(graph.aliases)))
    count = len(graph.entities)
    is_first = np.append(True, owner[1:] != owner[:-1])
    names = np.bincount(entity, minlength=count)
    return 2 * np.bincount(entity[is_first], minlength=count) > names


def _capitalised(row: dict[str, Any]) -> dict[str, Any]:
    aliases = [alias[:1].upper() + alias[1:] for alias in row["aliases"]]
    return {"label": row["label"][:1].upper() + row["label"][1:], "aliases": aliases}


def json_objects(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file, plain or .gz."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def split_of(name: str) -> Split:
    """Return what a text is used for, by the hash of its id: half of them are for training."""
    first = hashlib.sha256(name.encode()).digest()[0]
    return "train" if first >= 128 else "choice" if first < 26 else "test"


# Wikidata


def wikipedia(data: Path, *, train: bool) -> AnnotatedTexts:
    """Lower-cased sentences of Wikipedia; hyperlinks are marked.

    Words with accents are broken there, so that some links are of mere pieces: for training, only
    links by a name of their entity count.
    """
    graph = open_graph("wikidata", data)
    examples = (
        (item["text"], item["mentions"])
        for item in json_objects(data / "corpus" / "wikipedia_linked.jsonl.gz")
        if (int(item["id"][4:].partition(".")[0]) < TRAIN_ARTICLES) == train
    )
    annotated = annotate(graph, examples)
    return _only_names(graph, annotated) if train else annotated


def _only_names(graph: Graph, annotated: AnnotatedTexts) -> AnnotatedTexts:
    """Ignore mentions that are not a name, of four letters or more, of their entity."""
    mentions, gold = annotated.mentions, annotated.gold.copy()
    spans = zip(mentions.text, mentions.start, mentions.end, strict=True)
    for row, (text, start, end) in enumerate(spans):
        surface = annotated.texts[text][start:end]
        named = {c.entity.index for c in graph.candidates(surface)} if end - start > 3 else set()
        if gold[row] not in named:
            gold[row] = IGNORED
    return replace(annotated, mentions=replace(mentions, gold=gold))


def wikipedia_documents(data: Path, split: Split) -> AnnotatedTexts:
    """The held-out articles of Wikipedia, ten sentences per document."""
    bounds = (TRAIN_ARTICLES, CHOICE_ARTICLES, 100)
    first, last = bounds[:2] if split == "choice" else bounds[1:]
    graph = open_graph("wikidata", data)
    documents: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for item in json_objects(data / "corpus" / "wikipedia_linked.jsonl.gz"):
        article, _, number = item["id"][4:].partition(".")
        if first <= int(article) < last:
            documents.setdefault((article, int(number) // 10), []).append(item)
    return annotate(graph, map(_joined, documents.values()))


def _joined(items: Iterable[dict[str, Any]]) -> Example:
    text, mentions = "", []
    for item in items:
        for mention in item["mentions"]:
            shift = {side: mention[side] + len(text) for side in ("start", "end")}
            mentions.append({**mention, **shift})
        text += item["text"] + " "
    return text, mentions


def rebel(data: Path, split: Split) -> AnnotatedTexts:
    """Openings of Wikipedia articles, cased; title and hyperlinks are marked."""
    graph = open_graph("wikidata", data)
    examples = (
        (item["text"], item["mentions"])
        for item in json_objects(data / "extract" / "rebel.jsonl")
        if split_of(item["id"]) == split
    )
    return annotate(graph, examples)


def knowledgenet(data: Path) -> AnnotatedTexts:
    """Web passages, cased; some mentions are marked."""
    graph = open_graph("wikidata", data)
    examples = []
    for item in json_objects(data / "extract" / "knowledgenet.jsonl"):
        marked = [m for m in item["mentions"] if "entity" in m]
        unknown = [{**m, "entity": None} for m in item["mentions"] if "entity" not in m]
        if marked:
            examples.append((item["text"], marked + unknown))
    return annotate(graph, examples)


def relation_sentences(data: Path) -> AnnotatedTexts:
    """Sentences of Wiki80 and of FewRel's validation relations; head and tail are marked."""
    graph, folder = open_graph("wikidata", data), data / "relations"
    examples = (
        (item["text"], [item["head"], item["tail"]])
        for path in (folder / "wiki80" / "all.jsonl.gz", folder / "fewrel" / "val_wiki.jsonl")
        for item in json_objects(path)
    )
    return annotate(graph, examples)


def simple_questions(data: Path, split: str = "train") -> AnnotatedTexts:
    """Questions that people wrote about one fact; the topic is marked."""
    graph = open_graph("wikidata", data)
    asked = {item["text"].casefold().rstrip("?") for item in _webqsp(data)}
    path = data / "qa" / "simplequestions" / f"{split}.jsonl.gz"
    examples = (
        (item["text"], [item["topic"]])
        for item in json_objects(path)
        if item["text"].casefold().rstrip("?") not in asked
    )
    return annotate(graph, examples)


def _webqsp(data: Path) -> Iterator[dict[str, Any]]:
    for split in ("train", "dev", "test"):
        yield from json_objects(data / "linking" / "webqsp" / f"{split}.jsonl")


def webqsp(data: Path, split: str) -> AnnotatedTexts:
    """Questions of WebQSP."""
    path = data / "linking" / "webqsp" / f"{split}.jsonl"
    return read_annotated(path, open_graph("wikidata", data))


# Biomedical


def abstracts(data: Path, name: str, split: str) -> AnnotatedTexts:
    """Abstracts of PubMed: ncbi-disease and bc5cdr-disease over medic, gsc-hpo over hpo."""
    graph = open_graph("hpo" if name == "gsc-hpo" else "medic", data)
    return read_annotated(data / "linking" / name / f"{split}.jsonl", graph)


# WordNet


def senses(data: Path, name: str, graph_name: str = "wordnet-nouns") -> AnnotatedTexts:
    """Nouns of a sense-tagged corpus, over the nouns of WordNet or a domain of them."""
    graph = open_graph(graph_name, data)
    synset = _synsets(graph)
    path = data / "wsd" / (f"{name}.jsonl.gz" if name == "semcor" else f"{name}.jsonl")
    return annotate(graph, (_noun_senses(item, synset) for item in json_objects(path)))


def _synsets(graph: Graph) -> dict[str, str]:
    keys = graph.entities["sense_keys"].to_pylist()
    ids = graph.entities["id"].to_pylist()
    names = ((item.split("|") if isinstance(item, str) else item or ()) for item in keys)
    return {name: item for item, many in zip(ids, names, strict=True) for name in many}


def _noun_senses(item: dict[str, Any], synset: dict[str, str]) -> Example:
    mentions = []
    for mention in item["mentions"]:
        if mention["pos"] == "NOUN":
            ids = [synset[name] for name in mention["entities"] if name in synset]
            if ids:
                mentions.append({**mention, "entity": ids[0]})
    return item["text"], mentions


# World and DBpedia, by names


def news(data: Path, split: Split) -> AnnotatedTexts:
    """Paragraphs that name countries and capitals, over world: all of their names are marked.

    A mention is a location that people marked (Re-DocRED), named like a country or a capital.
    Other locations and nationalities are not judged; all other spans are no mentions of world.
    """
    graph = open_graph("world", data)
    names = _location_names(graph)
    items = json_objects(data / "extract" / "redocred" / "train.jsonl")
    examples = [_locations(item, names) for item in items if split_of(item["id"]) == split]
    return annotate(graph, [example for example in examples if example[1]])


def _location_names(graph: Graph) -> dict[str, str]:
    """Return the names of countries and capitals that mean one of them alone."""
    names: dict[str, str] = {}
    capital_of = graph.relations["id"].to_pylist().index("capital_of")
    capitals = set(graph.triples.head[graph.triples.relation == capital_of].tolist())
    for entity in graph.entities_at(np.arange(len(graph.entities))):
        if entity.id.startswith("country:") or entity.index in capitals:
            for name in (entity.label, *entity.aliases):
                owner = names.setdefault(fold_name(name), entity.id)
                if owner != entity.id and entity.id.startswith("country:"):
                    names[fold_name(name)] = entity.id
    return names


def _locations(item: dict[str, Any], names: dict[str, str]) -> Example:
    text, mentions = item["text"], []
    for mention in item["mentions"]:
        surface = fold_name(text[mention["start"] : mention["end"]])
        if mention["type"] == "LOC" and surface in names:
            mentions.append({**mention, "entity": names[surface]})
        elif mention["type"] in ("LOC", "MISC"):  # another place, or a people: not judged
            mentions.append({**mention, "entity": None})
    return text, mentions


def dbpedia(data: Path, split: Split) -> AnnotatedTexts:
    """Openings of articles over DBpedia: hyperlinks whose entity has just this label there."""
    graph, wikidata = open_graph("dbpedia", data), open_graph("wikidata", data)
    labels = dict(zip(*_labels(graph), strict=True))
    of_wikidata = dict(zip(*reversed(_labels(wikidata)), strict=True))
    examples = []
    for item in json_objects(data / "extract" / "rebel.jsonl"):
        if split_of(item["id"]) == split:
            mentions = [
                {**m, "entity": labels.get(of_wikidata.get(m["entity"], ""))}
                for m in item["mentions"]
            ]
            examples.append((item["text"], mentions))
    return annotate(graph, examples)


def _labels(graph: Graph) -> tuple[list[str], list[str]]:
    return graph.entities["label"].to_pylist(), graph.entities["id"].to_pylist()


# Noise


def with_case_noise(
    texts: AnnotatedTexts, *, lower: float = 0.25, upper: float = 0.05
) -> AnnotatedTexts:
    """Return texts of which some are written in small letters and some in capitals."""
    draw = np.random.default_rng(0)
    changed = []
    for text in texts.texts:
        chance = draw.random()
        other = text.lower() if chance < lower else text.upper() if chance < lower + upper else text
        changed.append(other if len(other) == len(text) else text)
    return replace(texts, texts=changed)
