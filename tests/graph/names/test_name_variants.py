"""Names as people write them are found, and no more than those."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.graph.names.alias_build import Form, Names
from kgraft.graph.names.fold import fold_name
from kgraft.graph.names.name_variants import with_spoken


def spoken(*names, counts=None, origin=None):
    """Return the pairs of entity and key that names have."""
    column = pa.chunked_array([list(names)], pa.string())
    seen = np.full(len(names), -1) if counts is None else np.array(counts)
    return with_spoken(Names(column, np.arange(len(names), dtype=np.int32), seen, origin))


def keys(name):
    return {fold_name(form) for form in spoken(name).name.to_pylist()}


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("Dr. Seuss", "dr seuss"),
        ("Sammy Davis, Jr.", "sammy davis jr"),
        ("Jean-Jacques Rousseau", "jean jacques rousseau"),
        ("X-Men", "x men"),
        ("Spider-Man 3", "spiderman 3"),
        ("The Legend of Zelda", "legend of zelda"),
        ("The X-Files", "x files"),
        ("Hawkeye (comics)", "hawkeye"),
        ("Child's Play", "childs play"),
        ("Shaquille O’Neal", "shaquille oneal"),
    ],
)
def test_a_spoken_form_is_found(name, form):
    assert form in keys(name)


@pytest.mark.parametrize("name", ["The Who", "Go!", "Paris", "U.S.", "(x)", "", "...", "東京"])
def test_a_single_word_or_nothing_is_not_left(name):
    assert keys(name) == {fold_name(name)}


def test_they_belong_to_their_entity_and_count_as_not_seen():
    names = spoken("Rome", "Dr. Seuss", counts=[7, 5])
    assert names.name.to_pylist() == ["Rome", "Dr. Seuss", "Dr Seuss"]
    assert names.entity.tolist() == [0, 1, 1]
    assert names.count.tolist() == [7, 5, 0]


def test_they_are_derived_and_the_others_stay_what_they_are():
    assert spoken("Rome", "Dr. Seuss").origin.tolist() == [0, 0, Form.DERIVED]
    origin = np.array([Form.LABEL, 0], np.uint8)
    names = spoken("Dr. Seuss", "Rome", origin=origin)
    assert names.origin.tolist() == [Form.LABEL, 0, Form.DERIVED]
    assert names.origin.dtype == np.uint8
    assert spoken().origin.tolist() == []


@pytest.mark.slow
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=9), max_size=9))
def test_every_name_stays_first_and_as_it_was(names):
    made = spoken(*names)
    assert made.name.to_pylist()[: len(names)] == names
    assert len(made.name) == len(made.entity) == len(made.count) == len(made.origin)
    assert made.entity.dtype == np.int32
    for form, entity in zip(made.name.to_pylist(), made.entity, strict=True):
        assert set(fold_name(form).replace(" ", "")) <= set(
            fold_name(names[entity]).replace(" ", "")
        )
