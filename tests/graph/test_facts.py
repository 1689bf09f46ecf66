"""Facts by name: what a word is taken for, what becomes new, and what is refused."""

import pytest

from kgraft.errors import BadInput, NotFound
from kgraft.graph import add_fact, diff_graphs, remove_parts
from kgraft.graph.facts import labelled


def test_ids_labels_and_clear_names_are_taken_for_what_has_them(small, tmp_path):
    added = add_fact(small, ("Berlin", "borders", "Lutetia"), tmp_path / "new")
    assert (added.head.id, added.relation.id, added.tail.id) == ("Q6", "P47", "Q1")
    assert (added.new, added.was_there) == ((), False)
    counts = diff_graphs(small, added.graph).counts()
    assert counts["entities"] == {"added": 0, "removed": 0, "changed": 0}
    assert counts["triples"] == {"added": 1, "removed": 0, "changed": 0}
    assert added.graph.manifest.parent == small.manifest.version


def test_what_nothing_is_named_becomes_new(small, tmp_path):
    added = add_fact(small, ("Ada Lovelace", "works for", "Acme"), tmp_path / "new")
    assert added.new == ("Ada Lovelace", "Acme", "works for")
    assert (added.head.label, added.relation.label) == ("Ada Lovelace", "works for")
    loop = add_fact(small, ("Ouroboros", "P47", "Ouroboros"), tmp_path / "loop")
    assert loop.new == ("Ouroboros",)


def test_only_what_is_known_on_request(small, tmp_path):
    with pytest.raises(NotFound, match=r"Berlni.*Berlin \(Q6\)"):
        add_fact(small, ("Berlni", "P47", "Q4"), tmp_path / "new", known_only=True)
    assert not (tmp_path / "new").exists()


def test_a_fact_that_is_there_changes_nothing(small, tmp_path):
    added = add_fact(small, ("Q1", "capital of", "France"), tmp_path / "new")
    assert added.was_there
    assert diff_graphs(small, added.graph).is_empty


def test_a_fact_is_not_added_backwards(small, tmp_path):
    added = add_fact(small, ("France", "capital of", "Q1"), tmp_path / "new")
    assert not added.was_there
    assert len(added.graph.triples) == 13


@pytest.mark.parametrize(
    "fact", [("Paris", "P47", "Q4"), ("Q1", "P47"), ("Q1", " ", "Q4"), ("", "P47", "Q4")]
)
def test_what_is_unclear_is_refused(small, tmp_path, fact):
    with pytest.raises(BadInput):
        add_fact(small, fact, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_name_is_compared_letter_by_letter(small):
    assert labelled(small, "Berlin").id == labelled(small, "Q6").id == "Q6"
    assert labelled(small, "berlin") is None
    with pytest.raises(BadInput, match="Q1, Q2, Q3"):
        labelled(small, "Paris")


def test_parts_are_removed_by_label(small, tmp_path):
    less = remove_parts(
        small,
        tmp_path / "less",
        entities=["Texas"],
        relations=["borders"],
        triples=[("Q1", "capital of", "France")],
    )
    counts = diff_graphs(small, less).counts()
    assert counts["entities"]["removed"] == counts["relations"]["removed"] == 1
    assert counts["triples"]["removed"] == 4 + 2 + 1
    assert [n.relation.label for n in less.neighbours("Q1")] == ["located in"]


def test_what_is_not_there_cannot_be_removed(small, tmp_path):
    for parts in (
        {"entities": ["Berlni"]},
        {"relations": ["P99"]},
        {"triples": [("Q4", "P36", "Q1")]},
    ):
        with pytest.raises(NotFound):
            remove_parts(small, tmp_path / "less", **parts)
    with pytest.raises(BadInput):
        remove_parts(small, tmp_path / "less", triples=[("Q4", "P36")])
    assert not (tmp_path / "less").exists()


def test_a_target_that_is_there_is_refused_before_work_begins(small, tmp_path):
    add_fact(small, ("Q1", "P47", "Q5"), tmp_path / "new")
    with pytest.raises(BadInput, match="exists"):
        add_fact(small, ("Q1", "P47", "Q6"), tmp_path / "new")
    with pytest.raises(BadInput, match="exists"):
        remove_parts(small, tmp_path / "new", entities=["Q1"])
    again = add_fact(small, ("Q1", "P47", "Q6"), tmp_path / "new", overwrite=True)
    less = remove_parts(again.graph, tmp_path / "new", entities=["Q1"], overwrite=True)
    assert (len(less.entities), len(again.graph.entities)) == (11, 12)
