"""Which texts of a file belong to one document, by their ids."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from kgraft.corpus.json_lines import read_json_lines
from kgraft.json_text import parse_json


def document_name(text_id: object) -> str:
    """Return the document of a text by the text's id: all before the last dot.

    >>> document_name("wiki7.12"), document_name("12"), document_name(None)
    ('wiki7', '', '')
    """
    return str(text_id).rpartition(".")[0] if text_id else ""


def read_document_names(path: Path) -> list[str] | None:
    """Return the document of each text of a file: its id up to the last dot.

    None where the ids name no documents: a text has no such id, or no two neighbours share one.
    """
    names = []
    for _, line in read_json_lines(path):
        value = parse_json(line)
        names.append(document_name(value.get("id")) if isinstance(value, dict) else "")
    shared = any(one == other for one, other in pairwise(names))
    return names if all(names) and shared else None
