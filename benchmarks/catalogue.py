"""What benchmarks there are, read from their declarations without importing them."""

from __future__ import annotations

import ast
import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.harness import RESULTS, ROOT, Benchmark, met


def catalogue(folder: Path = ROOT / "benchmarks") -> dict[str, Benchmark]:
    """Return all benchmarks by their modules, such as graph.scale."""
    modules = {f"{path.parent.name}.{path.stem}": path for path in sorted(folder.glob("*/*.py"))}
    declared = {module: declaration(path) for module, path in modules.items()}
    return {module: benchmark for module, benchmark in declared.items() if benchmark}


def declaration(path: Path) -> Benchmark | None:
    """Return what `BENCHMARK = Benchmark(…)` of a file says, None in a file without one."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name("BENCHMARK")], value=ast.Call(keywords=options)):
                literals = {option.arg: ast.literal_eval(option.value) for option in options}
                return Benchmark(**{name: value for name, value in literals.items() if name})
    return None


def module_of(name: str, benchmarks: Mapping[str, Benchmark]) -> str:
    """Return the module of a benchmark by that name or by the name of its result.

    >>> module_of("graph_scale", {"graph.scale": Benchmark("graph_scale", "size", 2)})
    'graph.scale'
    """
    for module, benchmark in benchmarks.items():
        if name in (module, benchmark.name):
            return module
    raise LookupError(f"no benchmark is called {name}: python -m benchmarks lists them")


def listing(
    benchmarks: Mapping[str, Benchmark], data: Path, results: Path = RESULTS
) -> Iterator[str]:
    """Yield two lines per benchmark: what it measures, and its facts."""
    for module, benchmark in benchmarks.items():
        minutes = "?" if benchmark.minutes is None else f"{benchmark.minutes}"
        facts = [f"{minutes} min", last_result(benchmark, results), data_state(benchmark, data)]
        yield f"{module:<18}{benchmark.measures}"
        yield f"{'':<18}{' · '.join(facts)}"


def data_state(benchmark: Benchmark, data: Path) -> str:
    """Return whether the data that a benchmark needs is there."""
    missing = [name for name in benchmark.data if not _data_path(name, data).exists()]
    if not benchmark.data:
        return "needs no data"
    if missing:
        return f"data missing: {', '.join(missing)}"
    return f"data there: {', '.join(benchmark.data)}"


def _data_path(name: str, data: Path) -> Path:
    return ROOT / name if name.startswith("build/") else data / name


def last_result(benchmark: Benchmark, results: Path = RESULTS) -> str:
    """Return date and commit of the last result, and how many of its goals it met."""
    path = results / f"{benchmark.name}.json"
    if not path.exists():
        return "not measured yet"
    result = json.loads(path.read_text(encoding="utf-8"))
    reached, goals = goals_met(result)
    summary = f"{reached} of {goals} goals met" if goals else "no goals"
    commit = result.get("commit") or result.get("stored_in") or ""
    date = result.get("date") or commit_date(commit)
    return " ".join(word for word in (date, commit[:8], summary) if word)


def goals_met(result: Mapping[str, Any]) -> tuple[int, int]:
    """Return how many goals a result met, and of how many."""
    verdicts = [met(result["figures"][name], goal) for name, goal in result["goals"].items()]
    return verdicts.count("yes"), len(verdicts)


def commit_date(commit: str) -> str:
    """Return the day of a commit, nothing where this is not known here."""
    command = ["git", "-C", str(ROOT), "show", "-s", "--format=%cs", commit]
    if not commit:
        return ""
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
