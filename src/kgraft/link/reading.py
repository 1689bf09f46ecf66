"""How the encoder reads a text at each of its mentions: one vector a mention, one pass a text."""

from __future__ import annotations

import numpy as np
import torch

from kgraft.text import Encoder

NEARNESS = 3.0  # tokens after which the weight of the context has fallen to 1/e


def read_mentions(encoder: Encoder, text: str, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return a unit vector for each span of characters, (M, D).

    It is the mean of the token vectors h of its window, weighted by their distance d in tokens
    from the span:  c = Σ_t exp(-d_t / NEARNESS) h_t / ‖…‖, with d = 0 inside the span. A span that
    the tokenizer dropped gets zeros.
    """
    windows = encoder.windows([text])
    places = windows.locate(np.zeros_like(start), start, end)
    read = np.zeros((len(start), encoder.dimension), np.float32)
    for batch in encoder.encode_tokens(windows):
        row_of = {int(window): row for row, window in enumerate(batch.windows)}
        here = np.array([m for m, window in enumerate(places.window) if int(window) in row_of], int)
        if here.size:
            row = [row_of[int(window)] for window in places.window[here]]
            weights = _weights(places.first[here], places.last[here], batch.vectors.shape[1])
            weights = weights.to(batch.vectors.device) * batch.mask[row]  # (m, L)
            context = torch.einsum("ml,mld->md", weights, batch.vectors[row])
            read[here] = torch.nn.functional.normalize(context, dim=1).cpu().numpy()
    return read


def _weights(first: np.ndarray, last: np.ndarray, length: int) -> torch.Tensor:
    """Return exp(-distance / NEARNESS) of every column from each span first:last, (M, L)."""
    column = np.arange(length)
    before, behind = first[:, None] - column, column - last[:, None] + 1
    distance = np.maximum(0, np.maximum(before, behind))
    return torch.from_numpy(np.exp(-distance / NEARNESS).astype(np.float32))
