"""A relation fits a text as well as the best of its phrases."""

import numpy as np
import pytest
from tests.graft.tiny import build

from kgraft.graft.relation_fit import RelationFit
from kgraft.text import Encoder

TEXTS = ["is the capital of", "sister town of", "is a twin of", "lies", ""]


@pytest.fixture(scope="module")
def twins(tmp_path_factory):
    relations = [
        {"id": "P36", "label": "capital", "template": "[X] is the capital of [Y] ."},
        {"id": "P190", "label": "twinned body", "aliases": ["sister town", "twin"]},
        {"id": "P131"},
    ]
    facts = [("a", relation["id"], "b") for relation in relations]
    named = [{"id": name, "label": name} for name in "ab"]
    return build(tmp_path_factory.mktemp("twins") / "graph", facts, named, relations)


def test_the_best_phrase_counts(twins):
    ways = {
        "P36": ["is the capital of", "capital"],
        "P190": ["twinned body", "sister town", "twin"],
        "P131": ["P131"],
    }
    encoder, found = Encoder.load(), RelationFit(twins).scores(TEXTS)
    assert found.shape == (len(TEXTS), 3)
    for number, name in enumerate(twins.relations["id"].to_pylist()):
        best = (encoder.encode(TEXTS) @ encoder.encode(ways[name]).T).max(1)
        np.testing.assert_allclose(found[:, number], best, atol=1e-5)


def test_a_template_fits_what_it_says(twins):
    fit = RelationFit(twins).scores(["is the capital of"])[0]
    assert fit.max() == pytest.approx(1.0, abs=1e-5)
    assert twins.relations["id"][int(fit.argmax())].as_py() == "P36"


def test_no_texts(twins):
    assert RelationFit(twins).scores([]).shape == (0, 3)


def test_a_graph_without_relations(tmp_path):
    lone = build(tmp_path / "lone", [], [{"id": "a", "label": "a"}], None)
    assert RelationFit(lone).scores(["is"]).shape == (1, 0)
