"""Graph files as people have them: how many import, what is refused, what survives a round trip.

    python -m benchmarks.data.fetch_real_files
    make bench-graph.real

The files are those of `real_files.tsv`. What is refused for a reason that its author would accept
stands in `real_refusals.tsv`, looked at by hand: a part of the path, and the reason.
"""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchmarks.data.fetch_real_files import TABLE, RealFile, read_table
from benchmarks.harness import ROOT, Benchmark, Goal
from kgraft.storage import sha256

BENCHMARK = Benchmark(
    name="graph_real",
    measures="graph files of public packages: imported, refused, the same after a round trip",
    minutes=12,
    data=("build/real-files",),
)

REFUSALS = Path(__file__).with_name("real_refusals.tsv")
PAGE = ROOT / "docs" / "real-files.md"
SECONDS = 300  # for one file
PROTOCOL = """
The files of data/real_files.tsv: ontologies, vocabularies, dumps, edge lists and tables that PyPI,
npm and Debian packages carry, each with its checksum. Each is imported with `kgraft graph
import FILE --out FOLDER` and no option, in a process of its own; those with a companion as a folder
of both. real_files_imported: share that is imported, or refused in one line for a reason that
benchmarks/graph/real_refusals.tsv accepts, looked at by hand. raw_tracebacks: commands that ended
otherwise than with exit code 0, or 2 and one line. roundtrip_equal: of the imported RDF files,
those whose triples (as a set, literals with datatype and language tag, those with blank nodes
aside) are the same after import with --blank-nodes keep and export to N-Triples, read by pyoxigraph
on both sides.
"""
GOALS: dict[str, Goal] = {
    "real_files_imported": {"at_least": 0.98},
    "raw_tracebacks": {"at_most": 0},
    "roundtrip_equal": {"at_least": 0.95},
}
RDF_KINDS = {"turtle", "rdfxml", "ntriples", "nquads", "trig", "n3", "jsonld"}


@dataclass(frozen=True)
class Outcome:
    """What became of one file."""

    registry: str
    package: str
    path: str
    kind: str
    outcome: str  # imported, refused, refused (accepted), traceback
    entities: int = 0
    triples: int = 0
    roundtrip: str = ""  # equal, different, or nothing where there is none
    message: str = ""


def main() -> None:
    """Import every file, and record."""
    files = [file for file in read_table(TABLE) if file.target.exists()]
    if not files:
        print("skipped: no files; run python -m benchmarks.data.fetch_real_files", file=sys.stderr)
        return
    accepted = _accepted_refusals()
    with BENCHMARK.run(
        protocol=PROTOCOL,
        data={"name": "real_files.tsv", "sha256": sha256(TABLE)},
        goals=GOALS,
    ) as run:
        with ThreadPoolExecutor(2) as pool:
            outcomes = []
            for outcome in pool.map(lambda file: _try(file, accepted), files):
                outcomes.append(outcome)
                print(outcome.outcome, outcome.roundtrip, outcome.path, outcome.message, flush=True)
        counts = Counter(outcome.outcome for outcome in outcomes)
        good = counts["imported"] + counts["refused (accepted)"]
        run.figure("files", len(outcomes))
        run.figure("files_imported", counts["imported"])
        run.figure("files_refused", counts["refused"] + counts["refused (accepted)"])
        run.figure("real_files_imported", round(good / len(outcomes), 4))
        run.figure("raw_tracebacks", counts["traceback"])
        trips = Counter(outcome.roundtrip for outcome in outcomes if outcome.roundtrip)
        run.figure("roundtrip_files", trips.total())
        run.figure("roundtrip_equal", round(trips["equal"] / max(trips.total(), 1), 4))
    _write_page(outcomes)


def _accepted_refusals() -> dict[str, str]:
    """Return what a refusal may say, by the file's registry, package and path."""
    with REFUSALS.open(encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(rows)
        return {"/".join(row[:3]): row[3] for row in rows}


def _try(file: RealFile, accepted: dict[str, str]) -> Outcome:
    """Import one file, and send it round where it is RDF."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        status, text = _import(_source(file, work), work / "graph")
        fields = asdict(Outcome(file.registry, file.package, file.path, file.kind, ""))
        if status == "imported":
            manifest = json.loads(text)
            fields |= {"entities": manifest["entities"], "triples": manifest["triples"]}
            if file.kind in RDF_KINDS:
                fields["roundtrip"] = _round_trip(file.target, work)
        else:
            text = text.replace(str(file.target), file.target.name).replace(f"{work}/", "")
            fields["message"] = text.removeprefix("kgraft: ")
            reason = accepted.get(f"{file.registry}/{file.package}/{file.path}")
            if status == "refused" and reason and reason in text:
                status = "refused (accepted)"
        return Outcome(**{**fields, "outcome": status})


def _source(file: RealFile, work: Path) -> Path:
    """Return what is imported: the file, or a folder with it and its companion."""
    if not file.companion:
        return file.target
    folder = work / "source"
    folder.mkdir()
    companion = replace(file, path=file.companion).target
    for path in (file.target, companion):
        if path.exists():
            shutil.copyfile(path, folder / path.name)
    return folder


def _import(source: Path, out: Path, *options: str) -> tuple[str, str]:
    """Run the command, and return what became of it and what it said."""
    command = [sys.executable, "-m", "kgraft", "graph", "import", str(source), "--out", str(out)]
    try:
        done = subprocess.run(
            [*command, "--json", "--quiet", *options],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "traceback", f"no result after {SECONDS} seconds"
    lines = done.stderr.strip().splitlines()
    if done.returncode == 0:
        return "imported", done.stdout
    if done.returncode == 2 and "Traceback" not in done.stderr and len(lines) == 1:
        return "refused", lines[0]
    return "traceback", lines[-1] if lines else f"exit code {done.returncode}"


def _round_trip(path: Path, work: Path) -> str:
    """Return whether the triples of a file are the same after import and export."""
    try:
        original = set(_triples(path))
    except SyntaxError:  # a profile of JSON, or lines of another graph
        return ""
    if not original:
        return ""
    kept, exported = work / "kept", work / "exported.nt"
    status, _ = _import(path, kept, "--blank-nodes", "keep")
    if status != "imported":
        return "different"
    command = [sys.executable, "-m", "kgraft", "graph", "export", str(kept), "--out"]
    subprocess.run([*command, str(exported), "--quiet"], check=True, capture_output=True)
    try:
        return "equal" if set(_triples(exported)) == original else "different"
    except SyntaxError:
        return "different"


def _triples(path: Path) -> Iterator[Any]:
    """Yield the triples of an RDF file that hold no blank node and are none of our own marks."""
    from pyoxigraph import BlankNode, RdfFormat, Triple, parse

    from kgraft.graph.io.rdf.source import LINE_BASED, syntax_of
    from kgraft.progress import Silent
    from kgraft.streams import open_bytes

    syntax = "JSON_LD" if path.suffix == ".json" else syntax_of(path)
    base = None if syntax in LINE_BASED else f"file:///{quote(path.name)}"
    with open_bytes(path, Silent()) as stream:
        for quad in parse(stream, getattr(RdfFormat, syntax), base_iri=base):
            parts = (quad.subject, quad.predicate, quad.object)
            if not any(isinstance(part, BlankNode | Triple) or _is_ours(part) for part in parts):
                yield parts


def _is_ours(part: object) -> bool:
    return str(part).startswith("<urn:kgraft:")


def _write_page(outcomes: list[Outcome]) -> None:
    """Write the page with what became of every file."""
    kinds = sorted({outcome.kind for outcome in outcomes})
    lines = [
        "# Real files",
        "",
        "What `kgraft graph import FILE` does with graph files that packages of PyPI, npm and",
        "Debian carry. This page is written by `make bench-graph.real`; the files, with checksums,",
        "are those of [real_files.tsv](../benchmarks/data/real_files.tsv).",
        "",
        "| kind | files | imported | refused |",
        "| --- | --- | --- | --- |",
    ]
    for kind in kinds:
        counts = Counter(outcome.outcome for outcome in outcomes if outcome.kind == kind)
        refused = counts.total() - counts["imported"]
        lines.append(f"| {kind} | {counts.total()} | {counts['imported']} | {refused} |")
    lines += ["", "| file | entities | triples | what happened |", "| --- | --- | --- | --- |"]
    lines += map(_page_row, sorted(outcomes, key=lambda o: (o.registry, o.package, o.path)))
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _page_row(outcome: Outcome) -> str:
    file = f"{outcome.registry} {outcome.package}: {outcome.path}"
    if outcome.outcome == "imported":
        return f"| {file} | {outcome.entities:,} | {outcome.triples:,} | imported |"
    message = " ".join(outcome.message.split()).replace("|", "\\|")
    return f"| {file} | | | {outcome.outcome.partition(' ')[0]}: {message} |"


if __name__ == "__main__":
    main()
