"""SimpleQuestions over graphs/wikidata: each asks for one fact of an entity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.data.texts import json_objects

FOLDER = Path("qa") / "simplequestions"


@dataclass(frozen=True)
class SimpleQuestion:
    """A question with the entity it is about, the relation that is asked for, and the answers."""

    text: str
    topic: str
    relation: str
    forward: bool  # whether the topic is the head
    answers: Sequence[str]

    def triples(self) -> set[tuple[str, str, str]]:
        """Return the facts that answer it, by ids."""
        return {
            (self.topic, self.relation, answer)
            if self.forward
            else (answer, self.relation, self.topic)
            for answer in self.answers
        }


def simple_questions(data: Path, split: str, *, named: bool = True) -> list[SimpleQuestion]:
    """Return the questions of a split; those that do not name their topic are apart."""
    path = data / FOLDER / f"{split if named else 'nospan'}.jsonl.gz"
    return [
        SimpleQuestion(
            item["text"],
            item["topic"]["entity"],
            item["path"][0].removeprefix("-"),
            not item["path"][0].startswith("-"),
            item["answers"],
        )
        for item in json_objects(path)
        if item.get("split", split) == split
    ]
