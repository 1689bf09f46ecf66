"""A plain BERT in a folder of Hugging Face's form, read without the transformers library.

Importing that library takes longer than linking a text. What is not exactly as expected here is
left to it: it reads other models, and says what is wrong with a damaged one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from torch import Tensor

from kgraft.json_text import read_json_file
from kgraft.text.adapters import merged_matrices
from kgraft.text.lean import LeanBert, is_plain
from kgraft.text.tokens import Tokeniser

WEIGHTS, TOKENIZER, CONFIG = "model.safetensors", "tokenizer.json", "config.json"
FILES = (WEIGHTS, TOKENIZER, CONFIG)
SIZES = {
    "vocab_size": 30522,
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
}
"""The sizes of a BERT whose configuration does not state them."""
NORMALISER = {
    "do_lower_case": ("lowercase", True),
    "tokenize_chinese_chars": ("handle_chinese_chars", True),
    "strip_accents": ("strip_accents", None),
}
"""Settings of tokenizer_config.json: what they are called in tokenizer.json, and by default."""
SPECIAL = {f"{name.lower()}_token": f"[{name}]" for name in ("UNK", "SEP", "PAD", "CLS", "MASK")}
MORE = ("adapter_config.json", "added_tokens.json")  # files that change what the others say
OTHERWISE = {"auto_map", "quantization_config"}  # settings that do
UNREADABLE = (OSError, ValueError, LookupError, TypeError, AttributeError, SafetensorError)


@dataclass(frozen=True, eq=False)
class PlainBert:
    """The weights of a BERT, mapped from its file, and its tokenizer."""

    tensors: Mapping[str, Tensor]  # by the names of Hugging Face's BertModel
    heads: int
    layers: int
    epsilon: float
    tokeniser: Tokeniser
    longest: int  # tokens it can read at once

    @property
    def dimension(self) -> int:
        """The size of a vector."""
        return self.tensors["embeddings.word_embeddings.weight"].shape[1]

    def adapted(self, changes: Mapping[str, Tensor]) -> PlainBert:
        """Return it with changes of low rank merged into its matrices, see `adapters`."""
        pairs = ((name.removesuffix(".weight"), t) for name, t in self.tensors.items())
        linear = {n: t for n, t in pairs if t.ndim == 2 and n.startswith("encoder.layer.")}
        merged = merged_matrices(linear, changes)
        tensors = {f"{layer}.weight": matrix for layer, matrix in merged.items()}
        return replace(self, tensors={**self.tensors, **tensors})

    def lean(self, device: torch.device) -> LeanBert:
        """Return its forward pass."""
        tensors = {name: tensor.to(device) for name, tensor in self.tensors.items()}
        return LeanBert(tensors, layers=self.layers, heads=self.heads, epsilon=self.epsilon)


def read_plain_bert(folder: Path) -> PlainBert | None:
    """Read a plain BERT from a folder, or return None where that holds anything else."""
    try:
        config, settings = _read_json(folder / CONFIG), _tokenizer_settings(folder)
        if not is_plain(config) or OTHERWISE & (config.keys() | settings.keys()):
            return None
        if any((folder / name).exists() for name in MORE):
            return None
        sizes = _sizes(config)
        return PlainBert(
            _tensors(folder / WEIGHTS, sizes),
            heads=sizes["num_attention_heads"],
            layers=sizes["num_hidden_layers"],
            epsilon=float(config.get("layer_norm_eps", 1e-12)),
            tokeniser=_tokeniser(folder / TOKENIZER, settings),
            longest=min(
                sizes["max_position_embeddings"], int(settings.get("model_max_length", 1 << 20))
            ),
        )
    except UNREADABLE:
        return None


def _read_json(file: Path) -> dict[str, Any]:
    read = read_json_file(file)
    if not isinstance(read, dict):
        raise TypeError(f"{file} holds no object")
    return read


def _tokenizer_settings(folder: Path) -> dict[str, Any]:
    names = ("special_tokens_map.json", "tokenizer_config.json")
    files = (folder / name for name in names)
    parts = [_read_json(file) for file in files if file.exists()]
    return {name: value for part in parts for name, value in part.items()}


def _sizes(config: dict[str, Any]) -> dict[str, int]:
    sizes = {name: config.get(name, usual) for name, usual in SIZES.items()}
    if not all(type(size) is int and size > 0 for size in sizes.values()):
        raise ValueError(f"sizes {sizes}")
    if sizes["hidden_size"] % sizes["num_attention_heads"]:
        raise ValueError("heads of unequal size")
    return sizes


def _tensors(file: Path, sizes: dict[str, int]) -> dict[str, Tensor]:
    """Map the tensors of a BERT, as float32; those of a head on top of it are left out."""
    stored = {name.removeprefix("bert."): t for name, t in load_file(file).items()}
    tensors = {name: stored[name] for name, _ in _shapes(sizes)}
    for name, shape in _shapes(sizes):
        if tuple(tensors[name].shape) != shape or not tensors[name].is_floating_point():
            raise ValueError(f"{name} has another shape")
    return {name: tensor.to(torch.float32) for name, tensor in tensors.items()}


def _shapes(sizes: dict[str, int]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the names and shapes of the tensors of a BERT."""
    width, wide = sizes["hidden_size"], sizes["intermediate_size"]
    tables = ("word", "vocab_size"), ("position", "max_position_embeddings")
    for name, size in (*tables, ("token_type", "type_vocab_size")):
        yield f"embeddings.{name}_embeddings.weight", (sizes[size], width)
    norms = ["embeddings"]
    for number in range(sizes["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        norms += [f"{layer}.attention.output", f"{layer}.output"]
        square = [f"{layer}.attention.{part}" for part in ("self.query", "self.key", "self.value")]
        linear = dict.fromkeys([*square, f"{layer}.attention.output.dense"], (width, width))
        linear |= {f"{layer}.intermediate.dense": (wide, width)}
        linear |= {f"{layer}.output.dense": (width, wide)}
        for name, shape in linear.items():
            yield f"{name}.weight", shape
            yield f"{name}.bias", shape[:1]
    for name in norms:
        yield f"{name}.LayerNorm.weight", (width,)
        yield f"{name}.LayerNorm.bias", (width,)


def _tokeniser(file: Path, settings: dict[str, Any]) -> Tokeniser:
    """Read a tokenizer that transformers would take as it stands in its file."""
    try:
        backend = Tokenizer.from_file(str(file))
    except Exception as error:  # the library has no errors of its own
        raise ValueError(str(error)) from error
    special = {name: _content(settings.get(name, usual)) for name, usual in SPECIAL.items()}
    if not (_is_usual(backend, special["unk_token"], settings) and _added(backend, settings)):
        raise ValueError("transformers would change this tokenizer")
    pad = backend.token_to_id(special["pad_token"])
    if pad is None:
        raise ValueError("there is no padding")
    return Tokeniser(backend, pad)


def _content(token: str | dict[str, Any]) -> str:
    return token["content"] if isinstance(token, dict) else token


def _is_usual(backend: Tokenizer, unknown: str, settings: dict[str, Any]) -> bool:
    """Tell whether a tokenizer has BERT's parts, set as tokenizer_config.json says."""
    model, normaliser = backend.model, backend.normalizer
    return (
        isinstance(model, WordPiece)
        and (model.unk_token, model.continuing_subword_prefix) == (unknown, "##")
        and model.max_input_chars_per_word == 100
        and isinstance(backend.pre_tokenizer, BertPreTokenizer)
        and backend.post_processor is not None
        and isinstance(normaliser, BertNormalizer)
        and normaliser.clean_text
        and all(
            getattr(normaliser, own) == settings.get(name, usual)
            for name, (own, usual) in NORMALISER.items()
        )
    )


def _added(backend: Tokenizer, settings: dict[str, Any]) -> bool:
    """Tell whether the added tokens are those that tokenizer_config.json names, no more or less."""
    added = {token.content for token in backend.get_added_tokens_decoder().values()}
    more = [*settings.get("added_tokens_decoder", {}).values()]
    for name in ("additional_special_tokens", "extra_special_tokens"):
        more += settings.get(name) or []
    named = [settings.get(name, usual) for name, usual in SPECIAL.items()]
    return added == {_content(token) for token in (*named, *more)}
