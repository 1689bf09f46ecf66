"""Names that a linker learns from annotated texts."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.corpus.texts import annotated_texts

from kgraft.errors import BadInput
from kgraft.graph import IGNORED
from kgraft.link import Linker
from kgraft.link.learned_names import LearnedName, names_in, read_names, write_names
from kgraft.link.model import NAMES, LinkModel


def test_names_are_counted_by_entity_and_what_is_ignored_is_no_name(graph):
    entity = 1
    spans = [(0, 0, 3, entity), (0, 4, 7, entity), (0, 8, 9, entity), (0, 0, 7, IGNORED)]
    texts = annotated_texts(["Foo Foo x"], *np.array(spans, np.int64).T)
    assert names_in(graph, texts) == (LearnedName("Foo", graph.entity(entity).id, 2),)


@given(st.lists(st.tuples(st.text(), st.text(), st.integers(1, 9))))
@example([("two\u2028lines", "a\nb", 1)])
def test_names_are_read_as_they_were_written(tmp_path_factory, rows):
    names = tuple(LearnedName(*row) for row in rows)
    file = tmp_path_factory.mktemp("names") / NAMES
    write_names(file, names)
    assert read_names(file) == names


def test_a_model_keeps_its_names_and_links_by_them(graph, linker, tmp_path):
    entity = graph.entity(0)
    text = "They met at Zarnibulon yesterday."
    assert not linker(text, threshold=0)
    digest = linker.model.digest()
    linker.model.save_pretrained(tmp_path / "plain")
    model = LinkModel.from_pretrained(tmp_path / "plain")
    assert model.digest() == digest
    model.names = (LearnedName("Zarnibulon", entity.id, 3), LearnedName("Gone", "no such id", 1))
    assert model.digest() != digest
    model.save_pretrained(tmp_path / "named")
    [link] = Linker(graph, tmp_path / "named")(text, threshold=0)
    assert (link.surface, link.entity.id) == ("Zarnibulon", entity.id)


def test_a_broken_file_of_names_is_refused(linker, tmp_path, monkeypatch):
    monkeypatch.setattr(linker.model, "names", (LearnedName("Zarnibulon", "a", 1),))
    linker.model.save_pretrained(tmp_path / "model")
    (tmp_path / "model" / NAMES).write_text('{"name": 1')
    with pytest.raises(BadInput):
        LinkModel.from_pretrained(tmp_path / "model")


def test_removed_entities_are_not_found_by_learnt_names(graph, linker):
    entity = graph.entity(0)
    knowledge = Linker(graph, linker.model).knowledge
    knowledge.learn([LearnedName("Zarnibulon", entity.id, 1)])
    assert len(knowledge.matcher.find(["Zarnibulon"])) == 1
    knowledge.remove([entity.id])
    assert len(knowledge.matcher.find(["Zarnibulon"])) == 0
