"""Questions over the tiny graph, and an answerer that is quick to train."""

import json

from kgraft.ask import AnswererConfig, AnswererSettings

QUESTIONS = [
    ("what is Berlin the capital of", "Berlin", ["Germany"]),
    ("the neighbours of Germany", "Germany", ["France"]),
    ("the neighbours of France", "France", ["Germany"]),
    ("one pays in France with", "France", ["euro"]),
    ("one pays in Germany with", "Germany", ["euro"]),
    ("where lies New York City", "New York City", ["New York"]),
    ("what does one pay with where Berlin is the capital", "Berlin", ["euro"]),
    ("the neighbours of the country of Berlin", "Berlin", ["France"]),
    ("who knows River 3", "River 3", ["nobody"]),
    ("about nothing known", "nothing", ["France"]),
]
CONFIG = AnswererConfig(hops=2)
QUICK = AnswererSettings(epochs=1, batch=4, language_rate=2e-3, walker_rate=1e-2)


def write_questions(path):
    with path.open("w") as file:
        for text, topic, answers in QUESTIONS:
            start = text.index(topic)
            mention = {"start": start, "end": start + len(topic), "label": topic}
            file.write(json.dumps({"text": text, "mentions": [mention], "answers": answers}) + "\n")
