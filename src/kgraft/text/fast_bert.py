"""A plain BERT read from its folder without the transformers library, for a fast start.

Importing that library's BERT takes 2.2 CPU seconds, `import torch` 0.9 and a whole `kgraft link`
must stay below 2.5 times that. Once loaded, one short text takes 0.85 of the time of the library's
model (with SDPA), because queries, keys and values come from one product; batches take the same.
Models and tokenizers that are not exactly as expected here are left to the library, which also says
what is wrong with a damaged folder.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from torch import Tensor
from torch.nn.functional import embedding, gelu, layer_norm, linear, scaled_dot_product_attention

from kgraft.json_text import read_json_file
from kgraft.tensors import UNREADABLE, tensor_digest
from kgraft.text.adapters import merged_matrices
from kgraft.text.tokens import Tokeniser

WEIGHTS, TOKENIZER, CONFIG = "model.safetensors", "tokenizer.json", "config.json"
FILES = (WEIGHTS, TOKENIZER, CONFIG)
DEFAULT_SIZES = {
    "vocab_size": 30522,
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
}
NORMALISER = {
    "do_lower_case": ("lowercase", True),
    "tokenize_chinese_chars": ("handle_chinese_chars", True),
    "strip_accents": ("strip_accents", None),
}
"""Settings of tokenizer_config.json: their names in tokenizer.json, and their defaults."""
SPECIAL = {f"{name.lower()}_token": f"[{name}]" for name in ("UNK", "SEP", "PAD", "CLS", "MASK")}
OTHER_FILES = ("adapter_config.json", "added_tokens.json")  # they change what FILES say
OTHER_SETTINGS = {"auto_map", "quantization_config"}  # so do these settings
logger = logging.getLogger("kgraft.text")
DAMAGED = (*UNREADABLE, LookupError, TypeError, AttributeError)


class FastBert:
    """The tensors, forward pass and tokenizer of a plain BERT, for use and not for training.

    It may be used from several threads at once.
    """

    def __init__(
        self, tensors: Mapping[str, Tensor], heads: int, epsilon: float, device: torch.device
    ) -> None:
        """Take tensors by the names of Hugging Face's `BertModel`; others are ignored."""
        self.tensors, self.heads, self.epsilon, self.device = tensors, heads, epsilon, device
        moved = {name: tensor.to(device) for name, tensor in tensors.items()}
        token_type = moved["embeddings.token_type_embeddings.weight"][0]
        self.words = moved["embeddings.word_embeddings.weight"]  # (V, D)
        self._positions = moved["embeddings.position_embeddings.weight"] + token_type
        self._norm = _pair(moved, "embeddings.LayerNorm")
        self._layers = list(_layers(moved))

    @classmethod
    def read(cls, folder: Path, device: torch.device) -> LoadedBert | None:
        """Read a plain BERT from a folder; None if the folder holds anything else."""
        try:
            config, settings = _read_json(folder / CONFIG), _tokenizer_settings(folder)
            if not _is_plain(folder, config, settings):
                return None
            sizes = _sizes(config)
            tensors = _tensors(folder / WEIGHTS, sizes)
            tokeniser = _tokeniser(folder / TOKENIZER, settings)
            epsilon = float(config.get("layer_norm_eps", 1e-12))
            longest = int(settings.get("model_max_length", 1 << 20))
        except DAMAGED as error:
            logger.debug("%s is read by transformers (%s)", folder, error)
            return None
        bert = cls(tensors, sizes["num_attention_heads"], epsilon, device)
        return LoadedBert(bert, tokeniser, min(sizes["max_position_embeddings"], longest))

    @torch.no_grad()
    def __call__(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return the last hidden states (B, L, D) of token ids and their mask (B, L)."""
        is_token = mask.bool()
        attended = None if bool(is_token.all()) else is_token[:, None, None, :]
        norm = partial(_layer_norm, self.epsilon)
        x = norm(embedding(ids, self.words) + self._positions[: ids.shape[1]], self._norm)
        for layer in self._layers:
            # Nested, so that each tensor is freed before the next one is made.
            a = self._attend(x, layer, attended)
            x = norm(linear(a, *layer.attention_output).add_(x), layer.attention_norm)
            x = norm(
                linear(gelu(linear(x, *layer.intermediate)), *layer.output).add_(x),
                layer.output_norm,
            )
        return x

    def _attend(self, x: Tensor, layer: _Layer, attended: Tensor | None) -> Tensor:
        """Return what each token attends to, (B, L, D)."""
        batch, length, width = x.shape
        shape = (batch, length, 3, self.heads, width // self.heads)
        q, k, v = linear(x, *layer.query_key_value).view(shape).permute(2, 0, 3, 1, 4)
        a = scaled_dot_product_attention(q, k, v, attn_mask=attended)
        return a.transpose(1, 2).reshape(batch, length, width)

    def adapted(self, changes: Mapping[str, Tensor]) -> FastBert:
        """Return it with changes of low rank merged into its matrices, see `adapters`."""
        pairs = ((name.removesuffix(".weight"), t) for name, t in self.tensors.items())
        matrices = {n: t for n, t in pairs if t.ndim == 2 and n.startswith("encoder.layer.")}
        merged = merged_matrices(matrices, changes)
        tensors = {f"{layer}.weight": matrix for layer, matrix in merged.items()}
        return FastBert({**self.tensors, **tensors}, self.heads, self.epsilon, self.device)

    def digest(self) -> str:
        """Return a digest of all that makes its vectors."""
        return f"{self.heads} {self.epsilon} {tensor_digest(self.tensors)}"


class LoadedBert(NamedTuple):
    """A BERT as it came from a folder."""

    bert: FastBert
    tokeniser: Tokeniser
    longest: int  # tokens it can read at once


# The forward pass

Pair = tuple[Tensor, Tensor]  # weight and bias


class _Layer(NamedTuple):
    query_key_value: Pair
    attention_output: Pair
    attention_norm: Pair
    intermediate: Pair
    output: Pair
    output_norm: Pair


def _layers(tensors: Mapping[str, Tensor]) -> Iterator[_Layer]:
    index = 0
    while f"encoder.layer.{index}.output.dense.weight" in tensors:
        layer = partial(_pair, tensors, layer=f"encoder.layer.{index}.")
        parts = [layer(f"attention.self.{part}") for part in ("query", "key", "value")]
        weights, biases = zip(*parts, strict=True)
        yield _Layer(
            (torch.cat(weights), torch.cat(biases)),
            layer("attention.output.dense"),
            layer("attention.output.LayerNorm"),
            layer("intermediate.dense"),
            layer("output.dense"),
            layer("output.LayerNorm"),
        )
        index += 1


def _pair(tensors: Mapping[str, Tensor], name: str, *, layer: str = "") -> Pair:
    return tensors[f"{layer}{name}.weight"], tensors[f"{layer}{name}.bias"]


def _layer_norm(epsilon: float, x: Tensor, norm: Pair) -> Tensor:
    return layer_norm(x, norm[0].shape, *norm, epsilon)


# Configuration and weights


def _read_json(file: Path) -> dict[str, Any]:
    content = read_json_file(file)
    if not isinstance(content, dict):
        raise TypeError(f"{file} does not hold an object")
    return content


def _is_plain(folder: Path, config: dict[str, Any], settings: dict[str, Any]) -> bool:
    """Tell whether a folder holds a BERT whose forward pass is the one above."""
    return (
        config.get("model_type") == "bert"
        and config.get("hidden_act", "gelu") == "gelu"
        and config.get("position_embedding_type") in (None, "absolute")
        and not config.get("is_decoder")
        and not config.get("is_encoder_decoder")
        and not OTHER_SETTINGS & (config.keys() | settings.keys())
        and not any((folder / name).exists() for name in OTHER_FILES)
    )


def _sizes(config: dict[str, Any]) -> dict[str, int]:
    sizes = {name: config.get(name, default) for name, default in DEFAULT_SIZES.items()}
    if not all(type(size) is int and size > 0 for size in sizes.values()):
        raise ValueError(f"sizes {sizes}")
    if sizes["hidden_size"] % sizes["num_attention_heads"]:
        raise ValueError("heads of unequal size")
    return sizes


def _tensors(file: Path, sizes: dict[str, int]) -> dict[str, Tensor]:
    """Map the tensors of a BERT, as float32, without those of a head on top of it."""
    stored = {name.removeprefix("bert."): tensor for name, tensor in load_file(file).items()}
    tensors = {}
    for name, shape in _shapes(sizes):
        tensor = stored[name]
        if tuple(tensor.shape) != shape or not tensor.is_floating_point():
            raise ValueError(f"{name} is {tensor.dtype} {tuple(tensor.shape)}, not {shape}")
        tensors[name] = tensor.to(torch.float32)
    return tensors


def _shapes(sizes: dict[str, int]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the names and shapes of the tensors of a BERT."""
    width, inner = sizes["hidden_size"], sizes["intermediate_size"]
    tables = ("word", "vocab_size"), ("position", "max_position_embeddings")
    for name, size in (*tables, ("token_type", "type_vocab_size")):
        yield f"embeddings.{name}_embeddings.weight", (sizes[size], width)
    modules: dict[str, tuple[int, ...]] = {"embeddings.LayerNorm": (width,)}
    for index in range(sizes["num_hidden_layers"]):
        for part, shape in _layer_shapes(width, inner).items():
            modules[f"encoder.layer.{index}.{part}"] = shape
    for name, shape in modules.items():
        yield f"{name}.weight", shape
        yield f"{name}.bias", shape[:1]


def _layer_shapes(width: int, inner: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the weights of one layer."""
    shapes: dict[str, tuple[int, ...]] = {}
    for part in ("self.query", "self.key", "self.value", "output.dense"):
        shapes[f"attention.{part}"] = (width, width)
    shapes |= {"intermediate.dense": (inner, width), "output.dense": (width, inner)}
    return shapes | dict.fromkeys(["attention.output.LayerNorm", "output.LayerNorm"], (width,))


# The tokenizer


def _tokenizer_settings(folder: Path) -> dict[str, Any]:
    files = (folder / name for name in ("special_tokens_map.json", "tokenizer_config.json"))
    parts = [_read_json(file) for file in files if file.exists()]
    return {name: value for part in parts for name, value in part.items()}


def _tokeniser(file: Path, settings: dict[str, Any]) -> Tokeniser:
    """Read a tokenizer that transformers would use just as its file has it."""
    try:
        backend = Tokenizer.from_file(str(file))
    except Exception as error:  # the library has no errors of its own
        raise ValueError(str(error)) from error
    special = {name: _content(settings.get(name, usual)) for name, usual in SPECIAL.items()}
    is_usual = _has_usual_parts(backend, special["unk_token"], settings)
    if not (is_usual and _has_named_tokens(backend, special, settings)):
        raise ValueError("transformers would change this tokenizer")
    padding = backend.token_to_id(special["pad_token"])
    if padding is None:
        raise ValueError("there is no padding token")
    return Tokeniser(backend, padding)


def _content(token: str | dict[str, Any]) -> str:
    return token["content"] if isinstance(token, dict) else token


def _has_usual_parts(backend: Tokenizer, unknown: str, settings: dict[str, Any]) -> bool:
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
            getattr(normaliser, own) == settings.get(name, default)
            for name, (own, default) in NORMALISER.items()
        )
    )


def _has_named_tokens(
    backend: Tokenizer, special: dict[str, str], settings: dict[str, Any]
) -> bool:
    """Tell whether the added tokens are exactly those that tokenizer_config.json names."""
    added = {token.content for token in backend.get_added_tokens_decoder().values()}
    more = [*settings.get("added_tokens_decoder", {}).values()]
    for name in ("additional_special_tokens", "extra_special_tokens"):
        more += settings.get(name) or []
    return added == {*special.values(), *map(_content, more)}
