"""Names as people write them: without the signs, the brackets and the article of the full form.

So "Dr. Seuss" is found in "dr seuss", "X-Men" in "x men" and "xmen", "The Legend of Zelda" in
"legend of zelda", and "Hawkeye (comics)" in "hawkeye". What is left must be two words, or have been
two: "The Who" is not found in "who".
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.columns import numbers
from kgraft.graph.names.alias_build import Form, Names

_BRACKETS = r"\s*\([^()]*\)\s*$"
_SILENT = r"[.'’]"  # left out; other signs part words
_SIGNS = r"[^\pL\pN\pM\s]+"
_HYPHEN = r"([\pL\pN])-([\pL\pN])"
_ARTICLE = r"(?i)^the\s+"
_TWO_WORDS = r"[\pL\pN]\S*\s+\S*[\pL\pN]"
_SHORTEST = 5  # characters of two words written as one


def with_spoken(names: Names) -> Names:
    """Return names together with their spoken forms; the latter count as never seen."""
    chunks, entity, count = [*names.name.chunks], [names.entity], [names.count]
    for form, rows in _spoken_forms(names.name):
        chunks += form.take(pa.array(rows)).chunks
        entity.append(names.entity[rows])
        count.append(np.minimum(names.count[rows], 0))
    entities = np.concatenate(entity)
    origin = np.full(len(entities), Form.DERIVED, np.uint8)
    origin[: len(names.entity)] = 0 if names.origin is None else names.origin
    name = pa.chunked_array(chunks, names.name.type)
    return Names(name, entities, np.concatenate(count), origin)


def _spoken_forms(full: pa.ChunkedArray) -> Iterator[tuple[pa.ChunkedArray, np.ndarray]]:
    """Yield each spoken form of names, and the rows in which it is a new name worth having."""
    plain = pc.replace_substring_regex(full, _BRACKETS, "")
    quiet = pc.replace_substring_regex(plain, _SILENT, "")
    spaced = pc.replace_substring_regex(quiet, _SIGNS, " ")
    joined = _without_hyphens(quiet)
    yield plain, _changed_rows(full, plain, pc.not_equal(plain, ""))
    yield spaced, _changed_rows(plain, spaced, pc.match_substring_regex(spaced, _TWO_WORDS))
    long_enough = pc.greater_equal(pc.utf8_length(joined), _SHORTEST)
    yield joined, _changed_rows(quiet, joined, long_enough)
    for form, wanted in ((plain, True), (spaced, pc.not_equal(spaced, plain))):
        bare = pc.replace_substring_regex(form, _ARTICLE, "")
        sound = pc.and_(wanted, pc.match_substring_regex(bare, _TWO_WORDS))
        yield bare, _changed_rows(form, bare, sound)


def _without_hyphens(names: pa.ChunkedArray) -> pa.ChunkedArray:
    """Join the parts of hyphenated words; the pattern takes 10 ms to compile."""
    if not pc.any(pc.match_substring(names, "-")).as_py():
        return names
    return pc.replace_substring_regex(names, _HYPHEN, r"\1\2")


def _changed_rows(
    before: pa.ChunkedArray, form: pa.ChunkedArray, sound: pa.ChunkedArray
) -> np.ndarray:
    """Return the rows in which a form is sound and differs from what it was made of."""
    changed = pc.fill_null(pc.and_(sound, pc.not_equal(form, before)), fill_value=False)
    return np.flatnonzero(numbers(changed))
