"""The entities that an XML file declares: abbreviations of namespaces, or a trap for the memory.

A few lines of entities made of entities can stand for more text than any memory holds.
"""

from __future__ import annotations

import re
from io import BufferedReader
from pathlib import Path

from kgraft.errors import BadInput

PROLOG = 1 << 20  # bytes before the first element
LONGEST = 1024  # characters that an entity may stand for: a namespace has some 50

_NOISE = re.compile(rb"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)", re.DOTALL)
_ELEMENT = re.compile(rb"<[^!?\s>]")
_ENTITY = re.compile(rb"""<!ENTITY\s+(?:%\s+)?([^\s"'>]+)\s+(?:"([^"]*)"|'([^']*)')""")
_REFERENCE = re.compile(rb"[&%]([^\s;&%]+);")


def refuse_expanding(stream: BufferedReader, path: Path) -> None:
    """Refuse a file whose entities stand for long texts; the stream stays where it is."""
    head = stream.peek(PROLOG)
    prolog = _NOISE.sub(b"", head)
    first = _ELEMENT.search(prolog)
    if first is None and len(head) >= PROLOG:
        reason = f"no element begins in its first {PROLOG >> 20} MiB"
        raise BadInput(reason, file=str(path), remedy="check that it is RDF/XML")
    sizes: dict[bytes, int] = {}
    for name, double, single in _ENTITY.findall(prolog[: first.start() if first else None]):
        value = double or single
        size = len(value) + sum(sizes.get(used, 0) for used in _REFERENCE.findall(value))
        sizes.setdefault(name, size)
        if size > LONGEST:
            shown = name.decode(errors="replace")[:40]
            reason = f"the XML entity {shown!r} stands for more than {LONGEST} characters"
            raise BadInput(reason, file=str(path), remedy="write its text out")
