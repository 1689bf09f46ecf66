"""Passages: sentences of one document that are read together, for what each says of the others."""

from __future__ import annotations

from collections.abc import Sequence

WORDS = 90  # of a passage: about what a window of 128 tokens holds


def passages(
    documents: Sequence[str], texts: Sequence[str], *, words: int = WORDS
) -> list[list[int]]:
    """Return the indices of the sentences of each passage, in order.

    They follow one another in the same document and have at most `words` words together; a longer
    sentence is a passage alone.

    >>> passages(["a", "a", "a", "b"], ["one two", "three", "four five", "six"], words=3)
    [[0, 1], [2], [3]]
    """
    grouped: list[list[int]] = []
    room = 0
    for index, text in enumerate(texts):
        size = len(text.split())
        if grouped and documents[index] == documents[index - 1] and size <= room:
            grouped[-1].append(index)
            room -= size
        else:
            grouped.append([index])
            room = words - size
    return grouped


def join_sentences(texts: Sequence[str]) -> tuple[str, list[int]]:
    """Return sentences as one text, and where each begins in it.

    >>> join_sentences(["It rains.", "We stay."])
    ('It rains. We stay.', [0, 10])
    """
    starts, end = [], 0
    for text in texts:
        starts.append(end)
        end += len(text) + 1
    return " ".join(texts), starts
