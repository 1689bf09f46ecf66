"""Names: where texts name entities of a graph, and which entities each name may mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kgraft.graph.adjacency import expand
from kgraft.graph.aliases import Aliases
from kgraft.graph.fold import HashedTokens
from kgraft.graph.graph import Graph

Forms = Callable[[list[str]], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""From words, each once, to rows of: number of the word, entity it may mean, weight."""


@dataclass(frozen=True)
class Named:
    """The words of texts, and where names stand among them; texts lie end to end.

    Position p of text n is `bounds[n] + p`; there is one position between two texts.
    """

    bounds: np.ndarray  # (N + 1,) int64
    word_starts: np.ndarray  # (T,) int64, rising: where words begin
    word_ends: np.ndarray  # (T,) int64, rising: and end
    start: np.ndarray  # (M,) int64: where names begin; in order of start, then end
    end: np.ndarray  # (M,) int64, exclusive
    candidates: np.ndarray  # (M + 1,) int64: name m has the candidates that follow candidates[m]
    entity: np.ndarray  # (C,) int64, best first
    prior: np.ndarray  # (C,) float32, p(entity | surface)

    def __len__(self) -> int:
        return len(self.start)

    def text_of(self, position: np.ndarray) -> np.ndarray:
        """Return the number of the text that each position is in."""
        return np.searchsorted(self.bounds, position, side="right") - 1

    def characters(
        self, start: np.ndarray, end: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the texts of spans of positions, and the characters start:end in them."""
        text = self.text_of(start)
        return text, start - self.bounds[text], end - self.bounds[text]

    def rows(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Return which name stands at each span of positions exactly, -1 where none does."""
        if not len(self):
            return np.full(len(start), -1)
        here, asked = _key(self.start, self.end), _key(start, end)
        row = np.minimum(np.searchsorted(here, asked), len(here) - 1)
        return np.where(here[row] == asked, row, -1)

    def also(
        self,
        start: np.ndarray,
        end: np.ndarray,
        entity: np.ndarray,
        prior: np.ndarray | None = None,
        sizes: np.ndarray | None = None,
    ) -> Named:
        """Return these names and others, spans of positions with `sizes` candidates each.

        Without sizes each means one entity for sure.
        """
        sizes = np.ones(len(start), np.int64) if sizes is None else sizes
        prior = np.ones(len(entity), np.float32) if prior is None else prior
        more = np.append(0, np.cumsum(sizes)) + len(self.entity)
        first, last = (
            np.concatenate([self.candidates[side], more[side]])
            for side in (slice(None, -1), slice(1, None))
        )
        start, end = np.append(self.start, start), np.append(self.end, end)
        order = np.lexsort((end, start))
        whole = (np.append(self.entity, entity), np.append(self.prior, prior))
        return self._with(start[order], end[order], first[order], last[order], *whole)

    def apart(self, start: np.ndarray, end: np.ndarray) -> Named:
        """Return the names that do not overlap any of some spans of positions, in order."""
        after = np.searchsorted(end, self.start, side="right")  # the first that ends behind it
        begins = np.append(start, self.bounds[-1])[after]
        rows = np.flatnonzero(begins >= self.end)
        first, last = self.candidates[:-1][rows], self.candidates[1:][rows]
        return self._with(self.start[rows], self.end[rows], first, last, self.entity, self.prior)

    def _with(
        self,
        start: np.ndarray,
        end: np.ndarray,
        first: np.ndarray,
        last: np.ndarray,
        entity: np.ndarray,
        prior: np.ndarray,
    ) -> Named:
        """Return other names of the same texts: name m has the candidates first[m] to last[m]."""
        _, taken = expand(first, last)
        bounds, words = np.append(0, np.cumsum(last - first)), (self.word_starts, self.word_ends)
        return Named(self.bounds, *words, start, end, bounds, entity[taken], prior[taken])


def _key(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    return start << 24 | np.minimum(end - start, (1 << 24) - 1)


@dataclass
class _Table:
    """The names of one graph: its entities' numbers here, and those that they no longer name."""

    aliases: Aliases
    numbers: np.ndarray | None  # None: they have the same numbers
    hidden: np.ndarray


class Names:
    """The names of a graph's entities, with those added since and without those removed."""

    def __init__(self, graph: Graph) -> None:
        self._tables = [_Table(graph.aliases, None, np.zeros(0, np.int64))]

    def add(self, graph: Graph, entities: np.ndarray) -> None:
        """Take the names of entities from another graph, which has them in this order.

        It takes the place of what was added before.
        """
        del self._tables[1:]
        self.remove(entities)
        self._tables.append(_Table(graph.aliases, entities, np.zeros(0, np.int64)))

    def remove(self, entities: np.ndarray) -> None:
        """Let entities be found by no name."""
        for table in self._tables:
            table.hidden = np.union1d(table.hidden, entities)

    def find(self, texts: Sequence[str], *, forms: Forms | None = None) -> Named:
        """Find all names in texts at word boundaries, overlapping ones too.

        `forms` tells which entities words mean that are no names themselves, such as plurals.
        """
        sizes = np.array([0, *(len(text) + 1 for text in texts)], np.int64)
        bounds = np.cumsum(sizes)
        whole = "\n".join(texts)
        tokens, found = HashedTokens.of("", 0), []
        for table in self._tables:
            tokens = HashedTokens.of(whole, table.aliases.seed)
            found.append(_matches(table, tokens))
        if forms is not None:
            found.append(_forms_in(whole, tokens, forms))
        columns = [np.concatenate(parts) for parts in zip(*found, strict=True)]
        start, end = columns[:2]
        text = np.searchsorted(bounds, start, side="right") - 1
        inside = end < bounds[text + 1]  # a name does not run on from one text into the next
        names = _grouped(*(column[inside] for column in columns))
        return Named(bounds, tokens.start, tokens.end, *names)


def _forms_in(whole: str, tokens: HashedTokens, forms: Forms) -> tuple[np.ndarray, ...]:
    """Return start, end, entity and weight of all that the words of a text may mean."""
    spans = zip(tokens.start.tolist(), tokens.end.tolist(), strict=True)
    words, which = np.unique([whole[a:b] for a, b in spans] or [""], return_inverse=True)
    word, entity, weight = forms(words.tolist())
    order = np.argsort(word, kind="stable")
    word, entity, weight = word[order], entity[order], weight[order]
    which = which[: len(tokens.start)]
    sides = (np.searchsorted(word, which, side=side) for side in ("left", "right"))
    token, row = expand(*sides)
    return tokens.start[token], tokens.end[token], entity[row], weight[row]


def _matches(table: _Table, tokens: HashedTokens) -> tuple[np.ndarray, ...]:
    """Return start, end, entity and weight of all that the names in a text may mean."""
    matches = table.aliases.match(tokens, overlapping=True)
    owner, entity, weight = table.aliases.weights(matches.alias)
    entity = entity if table.numbers is None else table.numbers[entity]
    columns = (matches.start[owner], matches.end[owner], entity, weight)
    if not len(table.hidden):
        return columns
    kept = ~np.isin(entity, table.hidden)
    return tuple(column[kept] for column in columns)


def _grouped(
    start: np.ndarray, end: np.ndarray, entity: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Return names, each once, with their candidates, best first."""
    order = np.lexsort((entity, -weight, end, start))
    start, end, entity, weight = start[order], end[order], entity[order], weight[order]
    new = np.ones(len(start), bool)
    new[1:] = (start[1:] != start[:-1]) | (end[1:] != end[:-1])
    name = np.cumsum(new) - 1
    first = np.flatnonzero(new)
    total = np.bincount(name, weights=weight, minlength=len(first))
    prior = (weight / total[name]).astype(np.float32) if len(name) else weight
    return start[first], end[first], np.append(first, len(start)), entity, prior
