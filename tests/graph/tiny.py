"""A tiny graph with namesakes, and texts in which its entities are marked."""

from hypothesis import settings
from tests.random_inputs import at_most

from kgraft.graph import Graph, TablesSource, build_graph

quick = settings(max_examples=at_most(60), deadline=None)

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
