"""WordNet database folders: synsets as entities, pointers as triples.

A synset's id is its offset of eight digits and its part of speech, n v a s r (s is a satellite
adjective): `02084071-n`. Its lemmas are its names, with the counts of how often each was tagged
with this sense, and so are their irregular forms (`mice`); the definition of its gloss is the
description, its lexicographer file (`noun.animal`) the type. `sense_keys` and `sense_numbers` are
of the lemmas, `examples` are those of the gloss; all three are joined by |.
Pointers between words become triples between their synsets, each once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa

from kgraft.errors import BadInput
from kgraft.graph.batches import Batch, Origin, Refusals, Relations
from kgraft.graph.io.formats import Format, Sign
from kgraft.graph.io.lines import numbered_lines
from kgraft.graph.io.options import SourceOptions
from kgraft.graph.io.readers import FORMATS
from kgraft.graph.io.tables.row_batches import TableRows, TripleRows
from kgraft.graph.io.wordnet_pointers import LEXICOGRAPHER_FILES, POINTERS
from kgraft.progress import Progress

DATA_FILES = ("data.noun", "data.verb", "data.adj", "data.adv")
SENSE_TYPES = {"n": 1, "v": 2, "a": 3, "r": 4, "s": 5}
PARTS_OF_SPEECH = {number: letter for letter, number in SENSE_TYPES.items()}
MARKER = re.compile(r"\((?:a|p|ip)\)$")  # where an adjective may stand
OFFSET = re.compile(r"[0-9]{8}")
SENSE = re.compile(
    r"(([^ ]+%([1-5]):[0-9]{2}:[0-9]{2}:)[^ ]*) ([0-9]{8}) ([0-9]+) ([0-9]{1,9})", re.ASCII
)
EXAMPLE = re.compile(r'"([^"]*)"(?:\s*-+[^;"]*)?')  # and whose words it is
COUNT = re.compile(r"([^ ]+) [0-9]+ ([0-9]{1,9})")

EXCEPTIONS = {"noun.exc": "n", "verb.exc": "v", "adj.exc": "a", "adv.exc": "r"}

Senses = dict[tuple[str, str], tuple[str, int, str]]  # (synset, start of its key) → see `_row`
Forms = dict[tuple[str, str], list[str]]  # (lemma, part of speech) → irregular forms


@dataclass(frozen=True)
class Synset:
    """One line of a data file."""

    id: str
    words: list[tuple[str, str]]  # lemma as written, start of its sense key
    pointers: list[tuple[str, str]]  # relation, synset it leads to
    file: str
    gloss: str


@dataclass
class _Read:
    """What is held back until all synsets are known."""

    pointers: dict[Path, list[tuple[str, str, str, int]]]  # head, relation, tail, line
    satellites: set[str]
    forms: Forms


class WordNetSource:
    """A folder with WordNet's data files, `index.sense` and `cntlist.rev`.

    Counts come from `cntlist.rev`, and for keys that it lacks from `index.sense`; its counts for
    keys of other versions, which no synset has, are left out.
    """

    format = "wordnet"
    unknown: Literal["refuse", "add", "drop"] = "refuse"
    types_are_ids = False

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def describe(self) -> str:
        """Return the name of the folder."""
        return self.folder.name

    def batches(self, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        """Yield all synsets, then the relations that are used, then the triples."""
        for name in (*DATA_FILES, "index.sense"):
            if not (self.folder / name).is_file():
                remedy = "name the folder that holds WordNet's data.* and index.sense"
                raise BadInput(f"no file {name}", file=str(self.folder), remedy=remedy)
        senses = self._senses(refusals, progress)
        read = _Read({}, set(), self._forms(refusals, progress))
        for name in DATA_FILES:
            yield from _entities(self.folder / name, senses, read, refusals, progress)
        yield _relations(read, str(self.folder))
        for path, rows in read.pointers.items():
            yield from _triples(path, rows, read.satellites)

    def _senses(self, refusals: Refusals, progress: Progress) -> Senses:
        """Read which sense key belongs to which synset, and how often it was tagged."""
        counts = self._counts(refusals, progress)
        senses: Senses = {}
        path = self.folder / "index.sense"
        for line, text in numbered_lines(path, refusals, progress):
            match = SENSE.fullmatch(text.rstrip())
            if match is None:
                refusals.refuse(
                    "malformed sense", file=str(path), line=line, detail=text[:60], text=text
                )
                continue
            key, start, kind, offset, rank, count = match.groups()
            synset = f"{offset}-{PARTS_OF_SPEECH[int(kind)]}"
            senses[synset, start] = key, counts.pop(key, int(count)), rank
        if counts:
            refusals.leave_out("counts of unknown senses", len(counts))
        return senses

    def _forms(self, refusals: Refusals, progress: Progress) -> Forms:
        """Read the irregular forms of lemmas, where there are such files."""
        forms: Forms = {}
        for name, letter in EXCEPTIONS.items():
            if not (self.folder / name).is_file():
                continue
            for _, text in numbered_lines(self.folder / name, refusals, progress):
                form, *lemmas = (word.replace("_", " ") for word in text.split() or [""])
                for lemma in lemmas:
                    forms.setdefault((lemma, letter), []).append(form)
        return forms

    def _counts(self, refusals: Refusals, progress: Progress) -> dict[str, int]:
        path = self.folder / "cntlist.rev"
        counts: dict[str, int] = {}
        if not path.is_file():
            return counts
        for line, text in numbered_lines(path, refusals, progress):
            if match := COUNT.fullmatch(text.rstrip()):
                counts[match.group(1)] = int(match.group(2))
            else:
                refusals.refuse(
                    "malformed count", file=str(path), line=line, detail=text[:60], text=text
                )
        return counts


def _read_pointers(fields: list[str]) -> list[tuple[str, str]]:
    """Read how many pointers there are, and the relation and target of each."""
    pointers = []
    for position in range(1, 4 * int(fields[0]), 4):
        symbol, target, target_pos, _ = fields[position : position + 4]
        pointers.append((POINTERS[symbol].id, f"{target}-{target_pos}"))
    return pointers


def read_synset(text: str) -> Synset:
    """Read one line of a data file; ValueError, IndexError or KeyError where it is malformed."""
    fields, _, gloss = text.partition("|")
    offset, file, pos, size, *rest = fields.split()
    if not OFFSET.fullmatch(offset) or not (count := int(size, 16)):
        raise ValueError(text)
    words = []
    for lemma, number in zip(rest[: 2 * count : 2], rest[1 : 2 * count : 2], strict=True):
        lemma = MARKER.sub("", lemma)
        key = f"{lemma.lower()}%{SENSE_TYPES[pos]}:{int(file):02}:{int(number, 16):02}:"
        words.append((lemma.replace("_", " "), key))
    pointers = _read_pointers(rest[2 * count :])
    lexicographer_file = LEXICOGRAPHER_FILES[int(file)]
    return Synset(f"{offset}-{pos}", words, pointers, lexicographer_file, gloss.strip())


def split_gloss(gloss: str) -> tuple[str, list[str]]:
    """Return the definition and the examples of a gloss.

    >>> split_gloss('a domesticated animal; "the dog barked"; "every dog"- A. Sage')
    ('a domesticated animal', ['the dog barked', 'every dog'])
    """
    examples = [quoted.strip() for quoted in EXAMPLE.findall(gloss)]
    definition = re.sub(r"\s*;(?:\s*;)*\s*", "; ", EXAMPLE.sub("", gloss)).strip(" ;")
    return definition or gloss, [example for example in examples if example]


def _entities(
    path: Path, senses: Senses, read: _Read, refusals: Refusals, progress: Progress
) -> Iterator[Batch]:
    rows = TableRows("entity", str(path))
    pointers = read.pointers[path] = []
    for line, text in numbered_lines(path, refusals, progress):
        if text.startswith("  ") or not text:
            continue  # the licence
        try:
            synset = read_synset(text)
        except (ValueError, IndexError, KeyError):
            detail = text[:60]
            refusals.refuse("malformed synset", file=str(path), line=line, detail=detail, text=text)
            continue
        rows.add(_row(synset, senses, read.forms), line)
        pointers += [(synset.id, relation, tail, line) for relation, tail in synset.pointers]
        if synset.id.endswith("s"):
            read.satellites.add(synset.id)
        if rows.full:
            yield from rows.take()
    yield from rows.take()


def _names(synset: Synset, counts: list[int], forms: Forms) -> tuple[list[str], list[int]]:
    """Return the words of a synset, then their irregular forms, and the counts of all."""
    names, letter = [lemma for lemma, _ in synset.words], synset.id[-1].replace("s", "a")
    for (lemma, _), count in zip(synset.words, counts.copy(), strict=True):
        irregular = forms.get((lemma.lower(), letter), [])
        names += irregular
        counts += [count] * len(irregular)
    return names, counts


def _row(synset: Synset, senses: Senses, forms: Forms) -> dict[str, object]:
    # Spellings that differ in case only (sun, Sun) share a key: the first one has it.
    word_senses = [senses.pop((synset.id, start), ("", 0, "")) for _, start in synset.words]
    names, counts = _names(synset, [count for _, count, _ in word_senses], forms)
    label, *aliases = names
    definition, examples = split_gloss(synset.gloss)
    return {
        "id": synset.id,
        "label": label,
        "description": definition,
        "aliases": aliases,
        "types": [synset.file],
        "name_counts": counts,
        "pos": synset.id[-1],
        "sense_keys": "|".join(key for key, _, _ in word_senses),
        "sense_numbers": "|".join(rank for _, _, rank in word_senses),
        "examples": "|".join(example.replace("|", "/") for example in examples),
    }


def _relations(read: _Read, folder: str) -> Relations:
    used = {relation for rows in read.pointers.values() for _, relation, _, _ in rows}
    rows = [
        {"id": p.id, "label": p.label, "description": p.description, "template": p.template}
        for p in POINTERS.values()
        if p.id in used
    ]
    names = ("id", "label", "description", "template")
    table = pa.table({n: pa.array([row[n] for row in rows], pa.string()) for n in names})
    return Relations(table, Origin(folder))


def _triples(
    path: Path, rows: list[tuple[str, str, str, int]], satellites: set[str]
) -> Iterator[Batch]:
    triples = TripleRows(str(path))
    seen = set()
    for head, relation, tail, line in rows:
        # Pointers call every adjective `a`, satellites too.
        satellite = f"{tail[:-1]}s"
        triple = (head, relation, satellite if satellite in satellites else tail)
        if triple in seen:
            continue
        seen.add(triple)
        triples.add(triple, line)
        if triples.full:
            yield from triples.take()
    yield from triples.take()


def _open(path: Path, _: SourceOptions) -> WordNetSource:
    return WordNetSource(path)


def _has_nouns(path: Path) -> bool:
    return (path / DATA_FILES[0]).is_file()


FORMATS.register("wordnet")(Format(open=_open, signs={Sign.MARK: _has_nouns}))
