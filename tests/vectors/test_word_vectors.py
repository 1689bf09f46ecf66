"""The words of an entity's text in the space of the encoder's words."""

import torch

from kgraft.vectors import WordVectors


def naive(encoder, text):
    table = encoder.model.get_input_embeddings().weight.detach()
    ids = encoder.tokenizer(text, add_special_tokens=False)["input_ids"]
    return (table[ids] - table.mean(0)).mean(0)


def test_it_is_the_mean_of_the_words(towns, encoder):
    vectors = WordVectors(towns, encoder, fields=("label", "description"))
    assert torch.allclose(
        vectors.take([0])[0], naive(encoder, "Paris: capital of France"), atol=1e-6
    )
    assert vectors.take([[3, -1]]).shape == (1, 2, encoder.dimension)
    assert vectors.take([-1]).abs().sum() == 0


def test_a_name_lies_nearest_to_its_own_words(towns, encoder):
    vectors = WordVectors(towns, encoder)
    word = encoder.tokenizer.convert_tokens_to_ids("berlin")
    logits = encoder.model.get_input_embeddings().weight @ vectors.take([2])[0]
    assert logits.argmax() == word


def test_origin(towns, encoder):
    vectors = WordVectors(towns, encoder, fields=("description",))
    assert vectors.origin([0, 1]).tolist() == ["text", "none"]
    assert vectors.take([1]).abs().sum() == 0
