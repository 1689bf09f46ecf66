"""Mutate valid files of every input format and read them: success or one KgraftError, no more.

    python tools/fuzz_inputs.py --count 5000 --seed 1

Each case takes a valid file, changes some of its bytes or lines, and imports it (or reads it as
annotated texts, or as texts to link). It is a finding if anything but a KgraftError is raised, if
the message has several lines, if a refused import leaves anything behind, if a graph that was
written fails its own check, or if the process grows beyond a limit. The seed and the number of a
finding make it again: --only N.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import random
import resource
import sys
import tempfile
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kgraft.corpus import read_annotated, read_document_names, read_documents
from kgraft.errors import KgraftError
from kgraft.graph import Graph, Refusals, build_graph, check_graph, open_source
from kgraft.json_text import to_json

MEMORY = 1 << 30  # bytes that the process may grow by

IRI = "http://e.org/"
TURTLE = """@prefix : <http://e.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:a a :Class ; rdfs:label "A"@en, "Ä"@de ; :knows :b, [ :in (:c "1.5"^^:number) ] .
:b rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :knows ; owl:someValuesFrom :c ] .
:knows rdfs:label "knows" .
"""
NTRIPLES = """<http://e.org/a> <http://e.org/knows> <http://e.org/b> .
<http://e.org/a> <http://www.w3.org/2000/01/rdf-schema#label> "A \\u00e9"@en .
_:n1 <http://e.org/size> "7"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://e.org/b> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e.org/C> .
"""
RDF_XML = """<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [ <!ENTITY e "http://e.org/"> ]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://e.org/"
  xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
  <x:C rdf:about="&e;a"><rdfs:label xml:lang="en">A</rdfs:label><x:knows rdf:resource="&e;b"/></x:C>
  <rdf:Description rdf:about="&e;b"><x:has rdf:parseType="Collection">
    <rdf:Description rdf:about="&e;c"/></x:has></rdf:Description>
</rdf:RDF>
"""
JSON_LD = """{"@context": {"e": "http://e.org/", "label": "http://www.w3.org/2000/01/rdf-schema#label",
 "knows": {"@id": "e:knows", "@type": "@id"}},
 "@graph": [{"@id": "e:a", "label": {"@value": "A", "@language": "en"}, "knows": ["e:b", "e:c"]},
 {"@id": "e:b", "@type": "e:C", "size": 7}]}
"""
WIKIDATA = """[
{"type":"item","id":"Q1","labels":{"en":{"language":"en","value":"one"}},"descriptions":{},"aliases":\
{"en":[{"language":"en","value":"uno"}]},"claims":{"P31":[{"mainsnak":{"snaktype":"value","property":\
"P31","datavalue":{"type":"wikibase-entityid","value":{"entity-type":"item","id":"Q2"}}},"rank":\
"normal"}]}},
{"type":"item","id":"Q2","labels":{"mul":{"language":"mul","value":"two"}}},
{"type":"property","id":"P31","labels":{"en":{"language":"en","value":"instance of"}}}
]
"""
JSON_LINES = """{"kind": "entity", "id": "a", "label": "A", "aliases": ["Aa"], "types": ["t"], \
"size": 1}
{"kind": "entity", "id": "b", "label": "B", "name_counts": [3]}
{"kind": "relation", "id": "r", "label": "is near"}
{"head": "a", "relation": "r", "tail": "b", "split": "test"}
"""
PAJEK = """*Vertices 3
1 "A b" 0.1 0.2
2 B
*Arcs :1 "knows"
1 2 1.5 l "likes"
*Edgeslist
2 1 3
*Matrix
0 1 0
0 0 0
1 0 2
"""
DOT = r"""strict digraph "g" {
  node [shape=box]; a [label="\N\nA"]  // first
  a -> b:n -> c [label=<<b>knows</b>>, weight=-1.5]
  subgraph s { edge [type=in] d } -> { e; f }
}
"""
TRIPLES = "head\trelation\ttail\na\tr\tb\nb\tr\tc\n"
ENTITIES = (
    "id\tlabel\taliases\tdescription\ttypes\na\tA\tAa|Aaa\tfirst\tt\nb\tB\t\t\t\nc\tC\t\t\t\n"
)
ANNOTATED = """{"id": "d.1", "text": "A is near B.", "mentions": \
[{"start": 0, "end": 1, "entity": "a"}]}
{"id": "d.2", "text": "nothing", "mentions": [], "unlinked": [{"start": 0, "end": 7}]}
"""
SNIPPETS = [
    b"\x00", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\n", b"\t", b'"', b"\\", b"|",
    b",", b"[" * 5000, b'{"a":' * 5000, b"(" * 5000, b"<a>" * 3000, b"NaN", b"-Infinity",
    b"1e999", b"null", b"9" * 5000, b"-1", b"0", b"true", b'"\\ud800"', b"\\uD800", b"&e;",
    b"&lt;", b"%00", b"_:", b"<>", b"@prefix", b'"@en', b"^^", b"[/]", b"urn:kgraft:entity:%",
    b"<urn:kgraft:column:id>", b"\x1b[2J", b"http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
    b"http://e.org/knows", b"A" * 70_000, b"\xe2\x80\xae", b"\xf0\x9f\x98\x80", b"id", b"label",
    b"alias", b"type", b"split", b"\x1f\x8b\x08",
]  # fmt: skip

Files = dict[str, bytes]


@dataclass(frozen=True)
class Format:
    """A format: valid files, the one that is opened, and what reads it."""

    files: Files
    opened: str
    read: Callable[[Path, Path, bool], None]


def main() -> None:
    """Run the cases and print what was found."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=2000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--only", type=int, help="The number of one case.")
    given = options.parse_args()
    cases = range(given.count) if given.only is None else [given.only]
    outcomes: Counter[str] = Counter()
    for number in cases:
        outcome, problem = run_case(given.seed, number)
        outcomes[outcome] += 1
        if problem:
            print(f"case {number} ({outcome}): {problem}", flush=True)
        if given.only is None and number % 500 == 499:
            print(f"{number + 1}: {dict(outcomes)}", file=sys.stderr, flush=True)
    print(dict(outcomes))
    sys.exit(any("FOUND" in outcome for outcome in outcomes))


def run_case(seed: int, number: int) -> tuple[str, str]:
    """Run one case; return its outcome, and what is wrong with it, if anything is."""
    chance = random.Random(f"{seed} {number}")
    name = chance.choice(sorted(FORMATS))
    with tempfile.TemporaryDirectory(prefix="kgraft-fuzz-") as room:
        source, out = Path(room) / "in", Path(room) / "out"
        source.mkdir()
        out.mkdir()
        files = mutated(FORMATS[name].files, chance)
        for file, content in files.items():
            (source / file).write_bytes(content)
        return _judge(FORMATS[name], source, out, name, skip=chance.random() < 0.3)


def _judge(format: Format, source: Path, out: Path, name: str, *, skip: bool) -> tuple[str, str]:
    before = _grown()
    try:
        format.read(source / format.opened, out, skip)
    except KgraftError as error:
        if "\n" in str(error) or not str(error):
            return f"{name} FOUND", f"the message is {str(error)!r}"
        leftovers = sorted(path.name for path in out.iterdir())
        return (
            (f"{name} FOUND", f"left behind: {leftovers}") if leftovers else (f"{name} refused", "")
        )
    except Exception:
        return f"{name} FOUND", traceback.format_exc()
    if (grown := _grown() - before) > MEMORY:
        return f"{name} FOUND", f"it took {grown:,} bytes"
    more = {path.name for path in out.iterdir()} - {"graph", "graph.refused.tsv"}
    return (f"{name} FOUND", f"left behind: {sorted(more)}") if more else (f"{name} read", "")


def _grown() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# What is done to a file


def mutated(files: Files, chance: random.Random) -> Files:
    """Return the files with some of them changed."""
    changed = dict(files)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        name = chance.choice(sorted(changed))
        change = chance.choice((_flip, _cut, _insert, _drop, _repeat, _swap, _line, _replace))
        packer, plain = _unpacked(name, changed[name], chance)
        changed[name] = packer(change(plain, chance))
    if len(changed) > 1 and chance.random() < 0.1:
        del changed[chance.choice(sorted(changed))]
    return changed


def _unpacked(
    name: str, content: bytes, chance: random.Random
) -> tuple[Callable[[bytes], bytes], bytes]:
    """Return packer and content of a packed file, to be changed inside; or the file as it is."""
    for suffix, module in ((".gz", gzip), (".bz2", bz2)):
        if name.endswith(suffix) and chance.random() < 0.6:
            try:
                return module.compress, module.decompress(content)
            except (OSError, EOFError, ValueError, zlib.error):
                break
    return bytes, content


def _flip(content: bytes, chance: random.Random) -> bytes:
    flipped = bytearray(content)
    for _ in range(chance.randint(1, 8)):
        if flipped:
            flipped[chance.randrange(len(flipped))] = chance.randrange(256)
    return bytes(flipped)


def _cut(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randint(0, len(content))]


def _insert(content: bytes, chance: random.Random) -> bytes:
    at = chance.randint(0, len(content))
    return content[:at] + chance.choice(SNIPPETS) + content[at:]


def _drop(content: bytes, chance: random.Random) -> bytes:
    at = chance.randint(0, len(content))
    return content[:at] + content[at + chance.randint(1, 40) :]


def _repeat(content: bytes, chance: random.Random) -> bytes:
    at = chance.randint(0, len(content))
    piece = content[at : at + chance.randint(1, 200)]
    return content[:at] + piece * chance.choice((2, 3, 100)) + content[at:]


def _swap(content: bytes, chance: random.Random) -> bytes:
    lines = content.split(b"\n")
    chance.shuffle(lines)
    return b"\n".join(lines)


def _line(content: bytes, chance: random.Random) -> bytes:
    lines = content.split(b"\n")
    at = chance.randrange(len(lines))
    lines[at : at + 1] = chance.choice(([], [lines[at]] * 2, [chance.choice(SNIPPETS)]))
    return b"\n".join(lines)


def _replace(content: bytes, chance: random.Random) -> bytes:
    """Put a snippet in the place of a word, a number or a string."""
    words = content.replace(b'"', b" ").split()
    word = chance.choice(words) if words else b""
    return content.replace(word, chance.choice(SNIPPETS), 1) if word else content


# What reads it


def read_graph(source: Path, out: Path, skip: bool) -> None:
    """Import a file or folder, and check the graph."""
    refusals = Refusals(skip=skip, path=out / "graph.refused.tsv" if skip else None)
    build_graph(open_source(source), out / "graph", refusals=refusals)
    if problems := check_graph(out / "graph"):
        raise AssertionError(problems)
    graph = Graph.open(out / "graph")
    for number in range(min(len(graph.entities), 3)):
        graph.card(graph.entity(number)).sentences()


def read_marked(source: Path, out: Path, skip: bool) -> None:  # noqa: ARG001
    """Read annotated texts."""
    read_annotated(source, Graph.open("world"))
    read_document_names(source)


def read_to_link(source: Path, out: Path, skip: bool) -> None:  # noqa: ARG001
    """Read texts that are to be linked."""
    for document in read_documents(source):
        to_json({**document, "links": []}).encode()


def _parquet() -> Files:
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = {
        "triples": pa.table({"head": ["a", "b"], "relation": ["r", "r"], "tail": ["b", "a"]}),
        "entities": pa.table({"id": ["a", "b"], "label": ["A", "B"], "aliases": [["x"], []]}),
    }
    files = {}
    for name, table in tables.items():
        sink = io.BytesIO()
        pq.write_table(table, sink)
        files[f"{name}.parquet"] = sink.getvalue()
    return files


def _formats() -> Iterator[tuple[str, Format]]:
    alone = {
        "g.ttl": TURTLE,
        "g.trig": TURTLE + ":g { :a :knows :c }\n",
        "g.nt": NTRIPLES,
        "g.nq": NTRIPLES,
        "g.rdf": RDF_XML,
        "g.jsonld": JSON_LD,
        "g.jsonl": JSON_LINES,
        "wikidata.json": WIKIDATA,
        "g.tsv": TRIPLES,
        "g.csv": TRIPLES.replace("\t", ","),
        "g.net": PAJEK,
        "g.gv": DOT,
    }
    utf_16 = RDF_XML.replace('"http://e.org/">', "'http://e.org/'>").encode("utf-16")
    yield "UTF-16", Format({"g.owl": utf_16}, "g.owl", read_graph)
    for name, text in alone.items():
        content = text.encode()
        yield name, Format({name: content}, name, read_graph)
        packed = {
            f"{name}.gz": gzip.compress(content, mtime=0),
            f"{name}.bz2": bz2.compress(content),
        }
        for packed_name, compressed in packed.items():
            yield packed_name, Format({packed_name: compressed}, packed_name, read_graph)
    tables = {"triples": TRIPLES, "entities": ENTITIES, "relations": "id\tlabel\nr\tis near\n"}
    tsv = {f"{name}.tsv": text.encode() for name, text in tables.items()}
    csv = {f"{name}.csv": text.replace("\t", ",").encode() for name, text in tables.items()}
    yield "tsv folder", Format(tsv, ".", read_graph)
    yield "csv folder", Format(csv, ".", read_graph)
    yield "parquet folder", Format(_parquet(), ".", read_graph)
    marked = ANNOTATED.encode()
    yield "annotated", Format({"t.jsonl": marked}, "t.jsonl", read_marked)
    yield "annotated gz", Format({"t.jsonl.gz": gzip.compress(marked)}, "t.jsonl.gz", read_marked)
    yield "texts", Format({"t.jsonl": marked}, "t.jsonl", read_to_link)
    yield "lines", Format({"t.txt": marked}, "t.txt", read_to_link)


FORMATS = dict(_formats())

if __name__ == "__main__":
    main()
