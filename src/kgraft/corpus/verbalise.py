"""Facts, names and questions in words, with the mentions marked.

A relation's template says a fact: "[X] is located in [Y] ." says (Laval, country, Canada) as "Laval
is located in Canada ." A relation without a template is said by its label: "Laval country Canada ."

Questions are patterns by the relation's label, in a file of the package, one per line:

    {x} {y}      head and tail; {xy}: the head, called by both, as "paris texas" is
    {c} {cs}     the kind of thing that the tail is, in singular and plural; {d} {ds}: the head
    {n}          a year
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from kgraft.graph import Graph, fill_pattern, says_both_ends

QUESTIONS = Path(__file__).parent.parent / "data" / "questions.tsv"


class Phrase(NamedTuple):
    """What fills a placeholder: words, and the entity's id where they are a mention of one."""

    words: str
    entity: str | None = None


Example = tuple[str, list[dict[str, Any]]]
"""A text and its mentions {start, end, entity id}."""


def verbalise(pattern: str, phrases: Mapping[str, Phrase]) -> Example:
    """Fill a pattern with phrases, and mark the mentions.

    >>> verbalise("who rules {x}?", {"x": Phrase("Peru", "Q419")})
    ('who rules Peru?', [{'start': 10, 'end': 14, 'entity': 'Q419'}])
    """
    words = {name: phrase.words for name, phrase in phrases.items()}
    text, spans = fill_pattern(pattern, words)
    mentions = [
        {"start": start, "end": end, "entity": phrases[name].entity}
        for name, start, end in spans
        if phrases[name].entity is not None
    ]
    return text, mentions


def relation_templates(graph: Graph) -> list[str]:
    """Return the pattern that says a fact of each relation: its template, or one by its label."""
    columns = [n for n in ("template", "label", "id") if n in graph.relations.column_names]
    templates = []
    for row in graph.relations.select(columns).to_pylist():
        template = row.get("template") or ""
        by_label = f"[X] {row['label'] or row['id']} [Y] ."
        templates.append(template if says_both_ends(template) else by_label)
    return templates


def relation_phrases(graph: Graph) -> list[list[str]]:
    """Return the phrases of each relation: its template's words, its label and its aliases."""
    columns = [n for n in ("id", "label", "aliases") if n in graph.relations.column_names]
    rows = graph.relations.select(columns).to_pylist()
    phrases = []
    for row, template in zip(rows, relation_templates(graph), strict=True):
        words, _ = fill_pattern(template, {"x": " ", "y": " "})
        every = bare_phrase(words), row["label"] or row["id"], *(row.get("aliases") or ())
        phrases.append(list(dict.fromkeys(phrase for phrase in every if phrase)))
    return phrases


def bare_phrase(text: str) -> str:
    """Return a text with single spaces and without its full stop.

    >>> bare_phrase("  is the capital  of .")
    'is the capital of'
    """
    return " ".join(text.split()).rstrip(" .")


@cache
def question_patterns() -> dict[str, tuple[str, ...]]:
    """Return the patterns of questions about each relation, by its label in small letters."""
    patterns: dict[str, list[str]] = {}
    with QUESTIONS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            patterns.setdefault(row["relation"], []).append(row["question"])
    return {label: tuple(questions) for label, questions in patterns.items()}


def plural(word: str) -> str:
    """Return the plural of a word, as most have it.

    >>> [plural(word) for word in ("river", "country", "church", "bay")]
    ['rivers', 'countries', 'churches', 'bays']
    """
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + ("es" if re.search(r"(s|x|z|ch|sh)$", word) else "s")
