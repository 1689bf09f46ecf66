"""Words are found with their senses, whatever their form."""

import pytest
import torch
from tests.graft.conftest import DrawnVectors
from tests.graft.senses import knowledge_of, tiny_wordnet

from kgraft.errors import BadInput
from kgraft.graft import WordNetKnowledge
from kgraft.graft.part_of_speech import PartOfSpeech


@pytest.fixture(scope="module")
def wordnet(tmp_path_factory):
    return tiny_wordnet(tmp_path_factory.mktemp("wordnet"))


def senses(wordnet, text):
    """Return the ids of what each word of a text may mean."""
    mentions = knowledge_of(wordnet).find([text])
    ids = wordnet.entities["id"].to_pylist()
    return {
        text[a:b]: [ids[e] for e in mentions.entity[mentions.owner == row]]
        for row, (a, b) in enumerate(zip(mentions.start, mentions.end, strict=True))
    }


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("dog", ["00000100-n", "00000300-v"]),
        ("dogs", ["00000100-n", "00000300-v"]),
        ("Dogs", ["00000100-n", "00000300-v"]),
        ("doging", ["00000300-v"]),
        ("doggen", ["00000100-n"]),
        ("dug", ["00000300-v"]),
        ("animals", ["00000200-n"]),
        ("abundantest", ["00000400-a"]),
        ("domestic dog", ["00000100-n"]),
    ],
)
def test_forms(wordnet, word, expected):
    assert senses(wordnet, f"the {word} ran")[word] == expected


@pytest.mark.parametrize("word", ["s", "ing", "cat", "dogly", ""])
def test_what_has_no_sense(wordnet, word):
    assert senses(wordnet, word) == {}


def test_priors_are_counts_and_one(wordnet):
    mentions = knowledge_of(wordnet).find(["a dog"])
    assert mentions.prior.tolist() == pytest.approx([43 / 46, 3 / 46])


def test_the_senses_of_a_lemma_and_part_of_speech(wordnet):
    knowledge = knowledge_of(wordnet)
    entity, prior = knowledge.senses("dog", "NOUN")
    assert wordnet.entities["id"].to_pylist()[entity[0]] == "00000100-n"
    assert prior.tolist() == [1.0]
    assert len(knowledge.senses("galore", "ADJ")[0]) == 1
    assert len(knowledge.senses("dog", "ADV")[0]) == 0
    assert len(knowledge.senses("nothing", "NOUN")[0]) == 0


def test_parts_of_speech_as_vectors(wordnet):
    vectors = PartOfSpeech(wordnet).all()
    assert vectors.shape == (7, 5)
    assert torch.equal(vectors.sum(1), torch.ones(7))
    assert torch.equal(vectors[0], vectors[1])
    assert not torch.equal(vectors[0], vectors[3])


def test_a_graph_without_parts_of_speech_is_refused(graph):
    with pytest.raises(BadInput, match="no parts of speech; import a WordNet folder"):
        WordNetKnowledge(graph, DrawnVectors(graph))
