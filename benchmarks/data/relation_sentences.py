"""FewRel: sentences of 64 relations to learn from, and of 16 others to measure on.

Those to learn from tell no ids of entities: they are looked up by their names. Sentences of Wiki80,
of the same 64 relations and with ids, stand before them: the first of each relation, by which is
chosen, are then like those to measure on.
"""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.harness import WORK
from kgraft.corpus import read_json_lines
from kgraft.graph import Graph
from kgraft.storage import new_file
from kgraft.tasks import RelationTexts
from kgraft.tasks.joint.relations import first_of_each


def relation_sentences(
    data: Path, graph: Graph, most: int | None = None
) -> tuple[RelationTexts, RelationTexts]:
    """Return the sentences to learn from, and those to measure on."""
    return RelationTexts.read(_learnt(data), graph), to_measure(data, graph, most)


def to_measure(data: Path, graph: Graph, most: int | None = None) -> RelationTexts:
    """Return the sentences to measure on: the first of each relation, or all."""
    test = RelationTexts.read(data / "relations" / "fewrel" / "val_wiki.jsonl", graph)
    return test if most is None else test.select(first_of_each(test.relation, most))


def _learnt(data: Path) -> Path:
    """Return a file of all that may be learnt from, with the relations by their names."""
    path, folder = WORK / "sentences_to_learn.jsonl", data / "relations"
    if path.exists():
        return path
    lines = [line for _, line in read_json_lines(folder / "fewrel" / "val_wiki.jsonl")]
    apart = {json.loads(line)["name"] for line in lines}
    with new_file(path) as partial, partial.open("w", encoding="utf-8") as file:
        for source in ("wiki80/all.jsonl.gz", "fewrel/train_wiki.jsonl.gz"):
            for _, line in read_json_lines(folder / source):
                item = json.loads(line)
                item["relation"] = item.get("name", item["relation"])
                if item["relation"] not in apart:
                    file.write(json.dumps(item, ensure_ascii=False) + "\n")
    return path
