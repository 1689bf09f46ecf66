"""Adapting a linker to a graph: from annotated texts, or from the graph alone."""

import numpy as np
import pytest
from tests.corpus.texts import annotated_texts
from tests.link.tiny import link_model

from kgraft.link import adapt
from kgraft.link.adapt import SURELY, Adaptation, adapt_linker, read_adaptation
from kgraft.link.linker import Linker
from kgraft.link.settings import LinkSettings
from kgraft.link.training_texts import FULL, Unmarked

QUICK = LinkSettings(rank=2, epochs=1, batch_tokens=400)


@pytest.fixture
def sources(monkeypatch):
    """The training and the validation texts that are passed on, in place of training."""
    passed = []

    def train(model, sources, out, *, valid, **options):
        passed.extend([*sources, *valid])
        return iter(())

    monkeypatch.setattr(adapt, "train_linker", train)
    return passed


@pytest.mark.slow
def test_a_graph_is_enough_to_learn_from(graph, encoder_folder, tmp_path):
    model = link_model(encoder_folder)
    epochs = list(adapt_linker(graph, model, tmp_path / "linker", count=30, settings=QUICK))
    assert len(epochs) == 1
    outcome = read_adaptation(tmp_path / "linker")
    kept = outcome.after if outcome.improved else outcome.before
    assert kept["weak_f1"] >= outcome.before["weak_f1"]
    assert Linker(graph, tmp_path / "linker").threshold == kept["threshold"]
    assert {path.name for path in tmp_path.iterdir()} == {"linker"}


def test_a_tenth_of_the_texts_is_held_out(graph, model, tmp_path, sources, marked_texts):
    list(adapt_linker(graph, model, tmp_path / "linker", texts=marked_texts))
    learnt, valid = (source.texts.texts for source in sources)
    assert (len(learnt), len(valid)) == (36, 4)
    assert sorted(learnt + valid) == sorted(marked_texts.texts)


def test_given_validation_texts_leave_all_others_to_learn_from(
    graph, model, tmp_path, sources, marked_texts
):
    valid = marked_texts.select(np.arange(3))
    list(adapt_linker(graph, model, tmp_path / "linker", texts=marked_texts, valid=valid))
    assert [len(source.texts) for source in sources] == [40, 3]


def test_without_texts_they_are_made_from_the_graph(graph, model, tmp_path, sources):
    for seed in (0, 0, 1):
        settings = LinkSettings(seed=seed)
        list(adapt_linker(graph, model, tmp_path / "linker", count=50, settings=settings))
    texts = [source.texts.texts for source in sources[::2]]
    assert [len(part) for part in texts] == [45, 45, 45]
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize(("fully", "unmarked"), [(True, FULL), (False, Unmarked())])
def test_settings_say_whether_all_mentions_are_marked(
    graph, model, tmp_path, sources, marked_texts, fully, unmarked
):
    settings = LinkSettings(fully_annotated=fully)
    list(adapt_linker(graph, model, tmp_path / "x", texts=marked_texts, settings=settings))
    assert [source.unmarked for source in sources] == [unmarked] * 2


def test_empty_validation_texts_are_as_good_as_none(graph, model, tmp_path, sources, marked_texts):
    empty = annotated_texts([], *np.zeros((4, 0), np.int64))
    list(adapt_linker(graph, model, tmp_path / "x", texts=marked_texts, valid=empty))
    assert [len(source.texts) for source in sources] == [36, 4]


def test_the_outcome_is_read_back(model, tmp_path):
    outcome = Adaptation({"weak_f1": 0.4}, {"weak_f1": 0.6}, improved=True)
    model.save_pretrained(tmp_path, facts={"adaptation": outcome.to_dict()})
    assert read_adaptation(tmp_path) == outcome


def test_made_texts_must_show_a_gain_beyond_chance(
    graph, model, tmp_path, marked_texts, monkeypatch
):
    asked = []

    def train(model, sources, out, *, errors_ahead, **options):
        asked.append(errors_ahead)
        return iter(())

    monkeypatch.setattr(adapt, "train_linker", train)
    list(adapt_linker(graph, model, tmp_path / "made", count=30))
    list(adapt_linker(graph, model, tmp_path / "given", texts=marked_texts))
    assert asked == [SURELY, 0]
