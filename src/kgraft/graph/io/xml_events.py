"""XML files as a stream of events, without entities, external files and endless nesting."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn, Protocol
from xml.parsers import expat

from kgraft.errors import BadInput
from kgraft.progress import Progress
from kgraft.streams import open_bytes

CHUNK = 1 << 18  # bytes that are parsed at a time
DEPTH = 1000  # elements within one another


class Handler(Protocol):
    """What is called for every element and text; names come without their prefixes."""

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        """Begin an element."""

    def end(self, name: str) -> None:
        """End an element."""

    def text(self, text: str) -> None:
        """Take a piece of text in."""


def parse_xml(path: Path, handler: Handler, progress: Progress) -> Iterator[None]:
    """Parse a file; yield after each piece, so that what was read can be handed on."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEPTH:
            _refuse(path, parser, f"elements are nested more than {DEPTH} deep")
        plain = {_local(key): value for key, value in attributes.items()}
        handler.start(_local(name), plain, parser.CurrentLineNumber)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        handler.end(_local(name))

    def entity(*_: object) -> NoReturn:
        _refuse(path, parser, "an entity is declared, which could be made to grow without end")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = handler.text
    parser.EntityDeclHandler = entity
    parser.UnparsedEntityDeclHandler = entity
    parser.ExternalEntityRefHandler = entity
    yield from _parse(path, parser, progress)
    yield


def _parse(path: Path, parser: expat.XMLParserType, progress: Progress) -> Iterator[None]:
    """Hand a file to a parser; yield after each piece but the last."""
    with open_bytes(path, progress) as stream:
        try:
            while chunk := stream.read(CHUNK):
                parser.Parse(chunk, False)
                yield
            parser.Parse(b"", True)
        except BadInput:
            raise
        except (expat.ExpatError, LookupError, ValueError) as error:
            reason = " ".join(str(error).split())[:200]
            _refuse(path, parser, f"not well-formed XML ({reason})")


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _refuse(path: Path, parser: expat.XMLParserType, reason: str) -> NoReturn:
    line = max(parser.CurrentLineNumber, 1)
    raise BadInput(reason, file=str(path), line=line, remedy="write the file again")
