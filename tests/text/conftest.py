"""Encoders and tokenizers the tests of this folder share."""

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from kgraft.text import Encoder, packaged_folder
from kgraft.text.tokens import Tokeniser

CORPUS = [
    "the cat sat on the mat in Zürich",
    "a dog ran to Łódź and back",
    "naïve café — 東京 😀",
] * 9


@pytest.fixture(scope="session")
def encoder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        return Encoder.load(device="cpu", max_length=64)


@pytest.fixture(scope="session")
def tokenizers():
    """One tokenizer of each kind: word pieces, bytes, sentence pieces, none of them padding."""
    return {
        "wordpiece": AutoTokenizer.from_pretrained(packaged_folder(), local_files_only=True),
        "bytes": _trained_bytes(),
        "sentencepiece": _trained_unigram(),
    }


@pytest.fixture(scope="session")
def tokenisers(tokenizers):
    return {kind: Tokeniser.of(tokenizer) for kind, tokenizer in tokenizers.items()}


def _trained_bytes():
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<s>", "</s>", "<pad>"]
    trainer = trainers.BpeTrainer(
        vocab_size=400, initial_alphabet=alphabet, special_tokens=special, show_progress=False
    )
    inner.train_from_iterator(CORPUS, trainer)
    inner.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0), trim_offsets=False)
    return PreTrainedTokenizerFast(tokenizer_object=inner, pad_token="<pad>")


def _trained_unigram():
    inner = Tokenizer(models.Unigram())
    inner.normalizer = normalizers.NFKC()
    inner.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=90, special_tokens=["<unk>", "<pad>"], unk_token="<unk>", show_progress=False
    )
    inner.train_from_iterator(CORPUS, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=inner, pad_token="<pad>", unk_token="<unk>")
