"""Random batches of mentions."""

import torch

from kgraft.text.mention_batch import MentionBatch


def draw_mentions(seed, batch=2, length=9, spans=4, candidates=3, count=7):
    """Random mentions, with padding among spans and candidates, and some masked."""
    random = torch.Generator().manual_seed(seed)
    first = torch.randint(length - 3, (batch, spans), generator=random)
    width = torch.randint(4, (batch, spans), generator=random)  # 0 is padding
    shape = (batch, spans, candidates)
    entity = torch.randint(-2, count, shape, generator=random)
    entity[width == 0] = -1
    prior = torch.rand(shape, generator=random) * (entity != -1)
    return MentionBatch(first, first + width, entity, prior)
