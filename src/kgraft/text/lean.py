"""BERT's forward pass alone: the same numbers as the library's, in fewer and larger steps.

For short texts most of an encoder's time passes between its matrix products. Here queries, keys and
values come from one product, and nothing is looked up or checked on the way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, gelu, layer_norm, linear, scaled_dot_product_attention


class _Norm(NamedTuple):
    weight: Tensor
    bias: Tensor
    least: float

    def __call__(self, x: Tensor) -> Tensor:
        return layer_norm(x, self.weight.shape, self.weight, self.bias, self.least)


class _Layer(NamedTuple):
    attend: tuple[Tensor, Tensor]  # weights and biases of queries, keys and values
    gather: tuple[Tensor, Tensor]
    attended: _Norm
    widen: tuple[Tensor, Tensor]
    narrow: tuple[Tensor, Tensor]
    done: _Norm


class _State(NamedTuple):
    """Tensors by the names of Hugging Face's `BertModel`, and what keeps its norms finite."""

    tensors: Mapping[str, Tensor]
    least: float

    def pair(self, name: str) -> tuple[Tensor, Tensor]:
        return self.tensors[f"{name}.weight"], self.tensors[f"{name}.bias"]

    def norm(self, name: str) -> _Norm:
        return _Norm(*self.pair(name), self.least)

    def layer(self, name: str) -> _Layer:
        parts = [self.pair(f"{name}.attention.self.{part}") for part in ("query", "key", "value")]
        weights, biases = zip(*parts, strict=True)
        return _Layer(
            (torch.cat(weights), torch.cat(biases)),
            self.pair(f"{name}.attention.output.dense"),
            self.norm(f"{name}.attention.output.LayerNorm"),
            self.pair(f"{name}.intermediate.dense"),
            self.pair(f"{name}.output.dense"),
            self.norm(f"{name}.output.LayerNorm"),
        )


class LeanBert:
    """The weights of a BERT, ready for use; training it would not change the original.

    It may be used from several threads at once.
    """

    @torch.no_grad()
    def __init__(
        self, tensors: Mapping[str, Tensor], *, layers: int, heads: int, epsilon: float
    ) -> None:
        """Take tensors by the names of Hugging Face's `BertModel`; others are not looked at."""
        state = _State(tensors, epsilon)
        self.words = tensors["embeddings.word_embeddings.weight"]
        kind = tensors["embeddings.token_type_embeddings.weight"][0]
        self.places = tensors["embeddings.position_embeddings.weight"] + kind
        self.norm = state.norm("embeddings.LayerNorm")
        self.layers = [state.layer(f"encoder.layer.{number}") for number in range(layers)]
        self.heads = heads

    @classmethod
    def of(cls, model: nn.Module) -> Self | None:
        """Return the lean form of a model, None where it is not a plain BERT."""
        config: Any = getattr(model, "config", None)
        if type(model).__name__ != "BertModel" or not is_plain(config.to_dict()):
            return None
        sizes = {"layers": config.num_hidden_layers, "heads": config.num_attention_heads}
        return cls(model.state_dict(), **sizes, epsilon=config.layer_norm_eps)

    def __call__(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return the last hidden states (B, L, D) of token ids and their mask (B, L)."""
        batch, length = ids.shape
        seen = mask.bool()
        kept = None if bool(seen.all()) else seen[:, None, None, :]
        x = self.norm(embedding(ids, self.words) + self.places[:length])
        width = x.shape[-1]
        shape = (batch, length, 3, self.heads, width // self.heads)
        for layer in self.layers:
            q, k, v = linear(x, *layer.attend).view(shape).permute(2, 0, 3, 1, 4)
            a = scaled_dot_product_attention(q, k, v, attn_mask=kept)
            a = a.transpose(1, 2).reshape(batch, length, width)
            x = layer.attended(linear(a, *layer.gather).add_(x))
            x = layer.done(linear(gelu(linear(x, *layer.widen)), *layer.narrow).add_(x))
        return x


def is_plain(config: Mapping[str, Any]) -> bool:
    """Tell from its configuration whether a BERT is one whose numbers `LeanBert` has."""
    return (
        config.get("model_type") == "bert"
        and config.get("hidden_act", "gelu") == "gelu"
        and config.get("position_embedding_type") in (None, "absolute")
        and not config.get("is_decoder")
        and not config.get("is_encoder_decoder")
    )
