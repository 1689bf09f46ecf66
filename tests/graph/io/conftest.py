from collections import Counter
from dataclasses import dataclass, field

import pytest

from kgraft.graph.batches import Attributes, Entities, Literals, Refusals, Relations, Triples
from kgraft.progress import Silent


@dataclass
class Collected:
    """All that a source yields, as Python lists."""

    entities: list = field(default_factory=list)
    relations: list = field(default_factory=list)
    triples: list = field(default_factory=list)  # (head, relation, tail, split)
    attributes: list = field(default_factory=list)  # (subject, field, value, rank, of)
    literals: list = field(default_factory=list)  # (subject, property, value, datatype)
    lines: list = field(default_factory=list)  # of the entities
    refused: Counter = field(default_factory=Counter)
    left_out: Counter = field(default_factory=Counter)
    notes: list = field(default_factory=list)

    def add(self, batch):
        match batch:
            case Entities(table, origin):
                self.entities += table.to_pylist()
                self.lines += [origin.line(row) for row in range(len(table))]
            case Relations(table, _):
                self.relations += table.to_pylist()
            case Triples(head, relation, tail, _, split):
                parts = (part.to_pylist() for part in (head, relation, tail))
                self.triples += [(*triple, split) for triple in zip(*parts, strict=True)]
            case Literals(subject, name, datatype, value):
                columns = (c.to_pylist() for c in (subject, name, value, datatype))
                self.literals += zip(*columns, strict=True)
            case Attributes(subject, name, value, rank, of):
                columns = (c.to_pylist() for c in (subject, name, value))
                rows = zip(*columns, rank.tolist(), strict=True)
                self.attributes += [(*row, of) for row in rows]

    def texts(self, subject):
        """What is said of a subject, as (field, value) by rank."""
        rows = [row for row in self.attributes if row[0] == subject]
        return [(row[1], row[2]) for row in sorted(rows, key=lambda row: row[3])]


def collect_source(source, *, skip=False, path=None):
    refusals = Refusals(skip=skip, path=path)
    collected = Collected(refused=refusals.reasons, left_out=refusals.left_out)
    collected.notes = refusals.notes
    with refusals:
        for batch in source.batches(refusals, Silent()):
            collected.add(batch)
    return collected


@pytest.fixture(scope="session")
def collect():
    """Read a source into lists: `collect(source, skip=False, path=None)`."""
    return collect_source
