"""What stands before the first element of an XML file: comments, and the entities it declares.

Entities are abbreviations of namespaces, or a trap for the memory: a few lines of entities made of
entities can stand for more text than any memory holds.
"""

from __future__ import annotations

import re
from pathlib import Path

from kgraft.errors import BadInput

PROLOG = 1 << 20  # bytes before the first element
LONGEST = 1024  # characters that an entity may stand for: a namespace has some 50
DECLARATION = b"<!ENTITY"

_TEXTS = rb"""(?:[^"'\[\]<>]|"[^"]*"|'[^']*')*"""
_MISC = re.compile(rb"\s+|<!--.*?-->|<\?.*?\?>", re.DOTALL)
_DOCTYPE = re.compile(rb"<!DOCTYPE" + _TEXTS + rb"([\[>])")
_ENTITY = re.compile(
    rb"""<!ENTITY\s+(%\s+)?([^\s"'<>&%;]+)\s+(?:"([^"]*)"|'([^']*)')\s*>""", re.DOTALL
)
_OTHER = re.compile(
    rb"\s+|<!--.*?-->|<\?.*?\?>|%[^\s;]+;"
    rb"""|<!(?:ENTITY|ELEMENT|ATTLIST|NOTATION)\s(?:[^"'<>]|"[^"]*"|'[^']*')*>""",
    re.DOTALL,
)
_END = re.compile(rb"\]\s*>")
_ELEMENT = re.compile(rb"<[^!?\s>]")
_REFERENCE = re.compile(rb"[&%]([^\s;&%]+);")


def plain_prolog(head: bytes, path: Path) -> tuple[bytes, int]:
    r"""Return the prolog with its line feeds and entities alone, and its length in `head`.

    The parser of RDF wants values in double quotes, takes comments for declarations, and lets a
    second declaration win. What comes out of here holds each entity once, and none of the rest.

    >>> plain_prolog(b"<!DOCTYPE r [ <!ENTITY e 'http://e.org/'>\n]><r/>", Path("g.rdf"))
    (b'<!DOCTYPE r [<!ENTITY e "http://e.org/">\n]>', 44)
    """
    kept: list[bytes] = []
    position = 0
    while True:
        if match := _MISC.match(head, position):
            kept.append(match[0] if match[0].startswith(b"<?xml ") else _line_feeds(match[0]))
            position = match.end()
        elif match := _DOCTYPE.match(head, position):
            kept.append(_line_feeds(match[0]))
            position = match.end()
            if match[1] == b"[":
                entities, position = _internal_subset(head, position, path)
                kept.append(entities)
        else:
            break
    if len(head) >= PROLOG and not _ELEMENT.match(head, position):
        raise _too_long(path)
    return b"".join(kept), position


def _internal_subset(head: bytes, position: int, path: Path) -> tuple[bytes, int]:
    """Return the declarations between [ and ]> as a document type of their own, and its end."""
    kept = [b"<!DOCTYPE r ["]
    sizes: dict[bytes, int] = {}
    while match := _ENTITY.match(head, position) or _OTHER.match(head, position):
        if match.re is _ENTITY:
            kept.append(_declaration(match, sizes, path))
        kept.append(_line_feeds(match[0]))
        position = match.end()
    end = _END.match(head, position)
    if end is None and len(head) >= PROLOG:
        raise _too_long(path)
    if end is None:
        line = head.count(b"\n", 0, position) + 1
        reason = "the document type declaration (<!DOCTYPE) is not well-formed"
        raise BadInput(reason, file=str(path), line=line, remedy="write its entities out")
    return b"".join([*kept, _line_feeds(end[0]), b"]>"]), end.end()


def _declaration(entity: re.Match[bytes], sizes: dict[bytes, int], path: Path) -> bytes:
    """Return an entity in double quotes, or nothing for one that text cannot use."""
    parameter, name, double, single = entity.groups()
    value = single if double is None else double
    size = len(value) + sum(sizes.get(used, 0) for used in _REFERENCE.findall(value))
    if size > LONGEST:
        shown = name.decode(errors="replace")[:40]
        reason = f"the XML entity {shown!r} stands for more than {LONGEST} characters"
        raise BadInput(reason, file=str(path), remedy="write its text out")
    if parameter or name in sizes:  # the first declaration of a name is the one that holds
        sizes[name] = max(size, sizes.get(name, 0))
        return b""
    sizes[name] = size
    value = value.replace(b'"', b"&#34;").replace(b"\n", b" ")
    return b'<!ENTITY %b "%b">' % (name, value)


def _line_feeds(text: bytes) -> bytes:
    return b"\n" * text.count(b"\n")


def _too_long(path: Path) -> BadInput:
    reason = f"no element begins in its first {PROLOG >> 20} MiB"
    return BadInput(reason, file=str(path), remedy="check that it is RDF/XML")
