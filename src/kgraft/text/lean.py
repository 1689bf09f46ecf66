"""BERT's forward pass alone: the same numbers as the library's, in fewer and larger steps.

For short texts most of an encoder's time passes between its matrix products. Here queries, keys and
values come from one product, and nothing is looked up or checked on the way.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, gelu, layer_norm, linear, scaled_dot_product_attention


class _Norm(NamedTuple):
    weight: Tensor
    bias: Tensor
    least: float

    @classmethod
    def of(cls, module: nn.LayerNorm) -> _Norm:
        return cls(module.weight, module.bias, module.eps)

    def __call__(self, x: Tensor) -> Tensor:
        return layer_norm(x, self.weight.shape, self.weight, self.bias, self.least)


class _Layer(NamedTuple):
    attend: tuple[Tensor, Tensor]  # weights and biases of queries, keys and values
    gather: tuple[Tensor, Tensor]
    attended: _Norm
    widen: tuple[Tensor, Tensor]
    narrow: tuple[Tensor, Tensor]
    done: _Norm

    @classmethod
    def of(cls, layer: Any) -> _Layer:  # noqa: ANN401
        own = layer.attention.self
        parts = (own.query, own.key, own.value)
        attend = (torch.cat([p.weight for p in parts]), torch.cat([p.bias for p in parts]))
        after = layer.attention.output
        return cls(
            attend,
            (after.dense.weight, after.dense.bias),
            _Norm.of(after.LayerNorm),
            (layer.intermediate.dense.weight, layer.intermediate.dense.bias),
            (layer.output.dense.weight, layer.output.dense.bias),
            _Norm.of(layer.output.LayerNorm),
        )


class LeanBert:
    """The weights of a BERT, ready for use; training it would not change the original."""

    @torch.no_grad()
    def __init__(self, model: Any) -> None:  # noqa: ANN401
        embeddings = model.embeddings
        self.words = embeddings.word_embeddings.weight
        kind = embeddings.token_type_embeddings.weight[0]
        self.places = embeddings.position_embeddings.weight + kind
        self.norm = _Norm.of(embeddings.LayerNorm)
        self.layers = [_Layer.of(layer) for layer in model.encoder.layer]
        self.heads = model.config.num_attention_heads

    @classmethod
    def of(cls, model: nn.Module) -> Self | None:
        """Return the lean form of a model, None where it is no plain BERT."""
        config = getattr(model, "config", None)
        plain = (
            type(model).__name__ == "BertModel"
            and getattr(config, "hidden_act", "") == "gelu"
            and getattr(config, "position_embedding_type", "absolute") in (None, "absolute")
            and not getattr(config, "is_decoder", False)
        )
        return cls(model) if plain else None

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
