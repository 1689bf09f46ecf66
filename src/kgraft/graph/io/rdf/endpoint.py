"""A SPARQL endpoint as a source: the triples that a query constructs, or three selected columns.

The answer is kept in a temporary file and read as RDF, so that labels, descriptions and types mean
what they mean there.
"""

from __future__ import annotations

import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Literal

from kgraft.errors import BadInput, import_optional
from kgraft.graph.batches import Batch, Refusals
from kgraft.progress import Progress

EVERYTHING = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"
TIMEOUT = 600  # seconds without a byte
LARGEST = 1 << 34  # bytes of an answer
CHUNK = 1 << 20
ACCEPT = "application/n-triples, application/sparql-results+json;q=0.9, text/turtle;q=0.5"
SUFFIXES = {
    "application/n-triples": ".nt",
    "text/plain": ".nt",
    "text/turtle": ".ttl",
    "application/rdf+xml": ".rdf",
    "application/sparql-results+json": ".srj",
}


class SparqlSource:
    """The answer of a SPARQL endpoint to one query."""

    format = "sparql"
    unknown: Literal["refuse", "add", "drop"] = "add"
    types_are_ids = True

    def __init__(self, url: str, query: str | Path | None = None, *, lang: str = "en") -> None:
        self.url, self.lang = url, lang
        self.query = _text(query) if query is not None else EVERYTHING

    def describe(self) -> str:
        """Return the address without a user's name and password."""
        try:
            parts = urllib.parse.urlsplit(self.url)
        except ValueError:
            return self.url.rpartition("@")[2]
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def batches(self, refusals: Refusals, progress: Progress) -> Iterator[Batch]:
        """Yield the triples and texts of the answer."""
        import_optional("pyoxigraph", "rdf")
        from kgraft.graph.io.rdf.source import RdfSource

        with TemporaryDirectory() as folder:
            path = self._fetch(Path(folder), progress)
            try:
                yield from RdfSource(path, lang=self.lang).batches(refusals, progress)
            except BadInput as error:
                raise self._bad(error.reason, error.remedy) from error

    def _fetch(self, folder: Path, progress: Progress) -> Path:
        """Ask, and return the file that holds the answer as RDF."""
        data = urllib.parse.urlencode({"query": self.query}).encode()
        try:
            request = urllib.request.Request(self.url, data, {"Accept": ACCEPT})
            with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
                kind = answer.headers.get_content_type()
                if kind not in SUFFIXES:
                    raise self._bad(f"the answer is {kind}", "is it a SPARQL endpoint?")
                path = folder / f"answer{SUFFIXES[kind]}"
                self._save(answer, path, progress)
        except urllib.error.HTTPError as error:
            with error:
                text = _one_line(error.read(2000).decode("utf-8", "replace"))
            raise self._bad(f"the endpoint says {error.code}: {text}", "correct it") from error
        except BadInput:
            raise
        except (OSError, HTTPException, ValueError) as error:
            reason = _one_line(str(getattr(error, "reason", error)))
            raise self._bad(f"cannot be reached ({reason})", "check the address") from error
        return path if path.suffix != ".srj" else self._triples(path)

    def _save(self, answer: IO[bytes], path: Path, progress: Progress) -> None:
        progress.start(f"reading {self.describe()}", None)
        with path.open("wb") as file:
            while chunk := answer.read(CHUNK):
                file.write(chunk)
                progress.advance(len(chunk))
                if file.tell() > LARGEST:
                    raise self._bad("the answer is too large", "ask for less, with LIMIT")

    def _triples(self, path: Path) -> Path:
        """Write the selected triples as N-Triples."""
        from pyoxigraph import QueryResultsFormat, QuerySolutions, parse_query_results

        triples = path.with_suffix(".nt")
        try:
            with path.open("rb") as stored, triples.open("w", encoding="utf-8") as file:
                answer = parse_query_results(stored, format=QueryResultsFormat.JSON)
                try:
                    if not isinstance(answer, QuerySolutions) or len(answer.variables) != 3:
                        remedy = "CONSTRUCT triples, or SELECT subject, predicate and object"
                        raise self._bad("the answer is not triples", remedy)
                    for row in answer:
                        terms = [row[k] for k in range(3)]
                        if all(term is not None for term in terms):
                            file.write(" ".join(map(str, terms)) + " .\n")
                finally:
                    del answer  # an error keeps this frame, and no other thread may free it
        except BadInput:
            raise
        except (SyntaxError, ValueError) as error:
            reason = " ".join(str(error).split())[:200]
            raise self._bad(f"the answer cannot be read ({reason})", "ask again") from error
        path.unlink()
        return triples

    def _bad(self, reason: str, remedy: str) -> BadInput:
        return BadInput(reason, file=self.describe(), remedy=remedy)


def _text(query: str | Path) -> str:
    """Return a query, read from its file where a path is given."""
    if isinstance(query, str):
        return query
    try:
        return query.read_text("utf-8")
    except (OSError, ValueError) as error:
        reason = f"the query cannot be read ({' '.join(str(error).split())[:200]})"
        raise BadInput(reason, file=str(query), remedy="check the path") from error


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]
