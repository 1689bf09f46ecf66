"""The tables of names follow from the entities and the triples of a graph."""

import numpy as np
import pytest

from kgraft.graph.folder import SINCE_0_2
from kgraft.graph.names.alias_build import Form
from kgraft.graph.write import degrees, entity_names, name_tables


def test_the_tables_of_names_are_those_of_the_folder(small):
    tables, seed = name_tables(small.entities, small.triples)
    assert seed == small.manifest.alias_seed
    assert set(SINCE_0_2) <= set(tables)
    for name, table in tables.items():
        assert table.to_pydict() == small.tables[name].to_pydict()


def test_names_weigh_by_the_triples_of_training_only(small):
    tables, _ = name_tables(small.entities, small.triples)
    train = small.triples.take(small.triples.split == 0)
    degree = degrees(train, len(small.entities))
    entity = np.array(tables["candidates"]["entity"].to_pylist())
    assert tables["candidates"]["weight"].to_pylist() == pytest.approx(1 + degree[entity])
    assert degree.sum() == 2 * len(train) < 2 * len(small.triples)


def test_labels_come_first_and_are_marked(small):
    names = entity_names(small.entities)
    labels = small.entities["label"].to_pylist()
    assert names.name.to_pylist()[: len(labels)] == labels
    assert names.origin.tolist() == [Form.LABEL] * len(labels) + [0] * (
        len(names.name) - len(labels)
    )


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("Lutetia", Form.MIXED),
        ("Germany", Form.MIXED | Form.LABEL),
        ("USA", Form.UPPER),
        ("Paris Texas", Form.MIXED | Form.DERIVED),
    ],
)
def test_the_forms_of_a_name_tell_its_origin(small, name, form):
    row = np.array([small.aliases.row(name)])
    assert small.aliases.candidate_rows(row)[3].tolist() == [form]
