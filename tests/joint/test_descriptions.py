"""First vectors come from an entity's own name in its description."""

import numpy as np
import pytest
import torch

from kgraft.joint.descriptions import Descriptions


@pytest.fixture
def descriptions(graph, model):
    return Descriptions(graph, model.language, length=16)


def naive(descriptions, text, name):
    tokenizer, language = descriptions.encoder.tokenizer, descriptions.language
    ids = tokenizer(text, truncation=True, max_length=16)["input_ids"]
    size = len(tokenizer(name, add_special_tokens=False)["input_ids"])
    with torch.no_grad():
        read = language.lower(torch.tensor([ids]), torch.ones(1, len(ids), dtype=torch.bool))[0]
    return ((read[1] + read[max(size, 1)]) / 2).numpy()


@pytest.mark.parametrize("part", ["entities", "relations"])
def test_the_ends_of_the_name(graph, descriptions, part):
    rows = np.arange(len(graph.entities if part == "entities" else graph.relations))[::-1].copy()
    texts, names = descriptions.texts(part, rows)
    found = descriptions.read(part, rows)
    for text, name, vector in zip(texts, names, found, strict=True):
        assert np.allclose(vector, naive(descriptions, text, name), atol=1e-5), text


def test_what_is_said(graph, descriptions):
    texts, _ = descriptions.texts("entities", graph.indices_of(["fr-paris", "texas", "nameless"]))
    assert texts[0] == "Paris: city on the Seine"
    assert "state" not in texts[1].split()  # the types are to be told
    assert "lies in" not in texts[1]  # facts are to be told: they are not in the text
    texts, names = descriptions.texts("relations", np.array([0]))
    assert names == ["capital_of"]
    assert texts == ["capital_of"]


def test_nothing_to_read(descriptions):
    assert descriptions.read("entities", np.zeros(0, np.int64)).shape == (0, 24)


def test_the_mode_stays(descriptions):
    descriptions.language.train()
    descriptions.read("relations", np.arange(2))
    assert descriptions.language.training
