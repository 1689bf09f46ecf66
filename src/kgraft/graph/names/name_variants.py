"""Names as people write them: without the signs, the brackets and the article of the full form.

So "Dr. Seuss" is found in "dr seuss", "X-Men" in "x men" and "xmen", "The Legend of Zelda" in
"legend of zelda", and "Hawkeye (comics)" in "hawkeye". What is left must be two words, or have been
two: "The Who" is not found in "who".
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.columns import numbers
from kgraft.graph.names.alias_build import Form, Names

_BRACKETS = r"\s*\([^()]*\)\s*$"
_SILENT = r"[.'’]"  # left out; other signs part words
_SIGNS = r"[^\pL\pN\pM\s]+"
_ARTICLE = r"(?i)^the\s+"
_TWO_WORDS = r"[\pL\pN]\S*\s+\S*[\pL\pN]"
_SHORTEST = 5  # characters of two words written as one


def with_spoken(names: Names) -> Names:
    """Return names together with their spoken forms; the latter count as never seen."""
    full = names.name
    plain = pc.replace_substring_regex(full, _BRACKETS, "")
    quiet = pc.replace_substring_regex(plain, _SILENT, "")
    spaced = pc.replace_substring_regex(quiet, _SIGNS, " ")
    joined = pc.replace_substring_regex(quiet, r"([\pL\pN])-([\pL\pN])", r"\1\2")
    forms = [
        (full, plain, pc.not_equal(plain, "")),
        (plain, spaced, pc.match_substring_regex(spaced, _TWO_WORDS)),
        (quiet, joined, pc.greater_equal(pc.utf8_length(joined), _SHORTEST)),
    ]
    for form, wanted in ((plain, True), (spaced, pc.not_equal(spaced, plain))):
        bare = pc.replace_substring_regex(form, _ARTICLE, "")
        forms.append((form, bare, pc.and_(wanted, pc.match_substring_regex(bare, _TWO_WORDS))))
    chunks, entity, count = [*full.chunks], [names.entity], [names.count]
    origin = np.zeros(len(full), np.uint8) if names.origin is None else names.origin
    for before, form, sound in forms:
        changed = pc.fill_null(pc.and_(sound, pc.not_equal(form, before)), fill_value=False)
        rows = np.flatnonzero(numbers(changed))
        chunks += form.take(pa.array(rows)).chunks
        entity.append(names.entity[rows])
        count.append(np.minimum(names.count[rows], 0))
    entities = np.concatenate(entity)
    derived = np.full(len(entities) - len(origin), Form.DERIVED, np.uint8)
    return Names(
        pa.chunked_array(chunks, full.type),
        entities,
        np.concatenate(count),
        np.concatenate([origin, derived]),
    )
