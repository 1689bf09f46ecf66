"""The one way a benchmark writes its result: benchmarks/results/NAME.json, whole or not at all."""

from __future__ import annotations

import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgraft.measure import Difference

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
WORK = ROOT / "build" / "benchmarks"  # graphs and models that are kept between runs
PACKAGES = ("torch", "transformers", "numpy", "pyarrow")
DIFFERENCE = ("on", "off", "difference", "low", "high")  # figures of one difference: TASK_PART

Goal = Mapping[str, float]
"""{"at_most": 1.1} or {"at_least": 4}."""

OFF_SIDES = {
    "switched off": "the same trained model with its knowledge switched off",
    "trained alike": "the same encoder, trained or fine-tuned in the same way without knowledge",
    "no pre-training": "the same model without pre-training, fine-tuned in the same way",
    "other model": "another model, which the name of the row tells",
    "no model": "a rule without a model: the first sense that the graph lists",
}
"""What stands on the off side of a difference, by kind; see `Benchmark.off`."""


@dataclass(frozen=True)
class Benchmark:
    """What a benchmark is called, measures and needs: one literal declaration per module.

        BENCHMARK = Benchmark(name="sums", measures="how fast numbers are added", minutes=1)

        with BENCHMARK.run(protocol="…", data={"name": "…"}, seeds=[0]) as run:
            run.figure("sum_seconds", [0.5, 0.6, 0.5])

    `catalogue` reads the declarations without importing their modules.
    """

    name: str  # of its result: benchmarks/results/NAME.json
    measures: str
    minutes: int | None  # of a run with nothing trained yet, on two cores; None: not known
    data: tuple[str, ...] = ()  # below the data folder; below the project if it begins with build/
    off: str = ""  # where it measures differences: a key of OFF_SIDES

    def __post_init__(self) -> None:
        if self.off and self.off not in OFF_SIDES:
            raise ValueError(f"no kind of off side is called {self.off}: see OFF_SIDES")

    def run(
        self,
        protocol: str,
        data: Mapping[str, str],
        seeds: Sequence[int] = (),
        goals: Mapping[str, Goal] | None = None,
        folder: Path | None = None,
    ) -> Run:
        """Return a run; `folder` is where it writes its result."""
        return Run(self.name, protocol, data, seeds, goals or {}, folder or RESULTS)


@dataclass
class Run:
    """One run of a benchmark; as a context manager it times itself and writes on success.

    `protocol` says in words what is measured, `data` names the data set with its `sha256` or a
    description, `goals` are by figure. A run that raises leaves the last result as it was.
    """

    name: str
    protocol: str
    data: Mapping[str, str]
    seeds: Sequence[int] = ()
    goals: Mapping[str, Goal] = field(default_factory=dict)
    folder: Path = RESULTS
    figures: dict[str, float] = field(default_factory=dict)
    spread: dict[str, dict[str, float]] = field(default_factory=dict)
    _began: float = 0.0

    def figure(
        self, name: str, values: float | Sequence[float], *, value: float | None = None
    ) -> None:
        """Record a figure: one value, or the median of several with their least and greatest.

        `value` stands for the median where the figure is not one, such as a ratio of medians.
        """
        values = [values] if isinstance(values, int | float) else list(values)
        self.figures[name] = statistics.median(values) if value is None else value
        if len(values) > 1:
            self.spread[name] = {"min": min(values), "max": max(values), "repeats": len(values)}

    def ratio(self, name: str, above: Sequence[float], below: Sequence[float]) -> None:
        """Record a ratio of medians of times that were taken in turns."""
        each = [a / b for a, b in zip(above, below, strict=True)]
        value = statistics.median(above) / statistics.median(below)
        self.figure(name, each, value=round(value, 4))

    def difference(self, name: str, measured: Difference) -> None:
        """Record what knowledge adds: on, off, and the difference with its interval."""
        for part in DIFFERENCE:
            self.figure(f"{name}_{part}", round(getattr(measured, part), 4))

    def __enter__(self) -> Run:
        self._began = time.perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            write_result(self.folder / f"{self.name}.json", self.result())
            for line in self.lines():
                print(line)

    def result(self) -> dict[str, object]:
        """Return what is written."""
        absent = self.goals.keys() - self.figures.keys()
        if absent:
            raise ValueError(f"{self.name} has goals for figures it did not measure: {absent}")
        return {
            "name": self.name,
            "figures": self.figures,
            "goals": self.goals,
            "spread": self.spread,
            "protocol": " ".join(self.protocol.split()),
            "data": self.data,
            "seeds": list(self.seeds),
            "date": datetime.now(UTC).date().isoformat(),
            "duration_seconds": round(time.perf_counter() - self._began, 1),
            "machine": machine(),
            "versions": versions(),
            **commit(),
        }

    def lines(self) -> list[str]:
        """Return the figures in words, one line per figure."""
        return [f"{name}: {value:.4g}{self._verdict(name)}" for name, value in self.figures.items()]

    def _verdict(self, name: str) -> str:
        goal = self.goals.get(name)
        return f" (goal {goal_text(goal)}, met: {met(self.figures[name], goal)})" if goal else ""


def met(value: float, goal: Goal) -> str:
    """Return "yes" or "no"."""
    reached = value <= goal.get("at_most", value) and value >= goal.get("at_least", value)
    return "yes" if reached else "no"


def goal_text(goal: Goal) -> str:
    """Return a goal as it stands in a table.

    >>> goal_text({"at_most": 1.1})
    '≤ 1.1'
    """
    signs = {"at_most": "≤", "at_least": "≥"}
    return ", ".join(f"{signs[bound]} {value:g}" for bound, value in goal.items())


def write_result(path: Path, result: Mapping[str, object]) -> None:
    """Write a result at once or not at all; a path of this machine in it is refused."""
    text = json.dumps(result, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    private = re.search(r'"(/|[A-Za-z]:\\)[^"]*"', text)
    if private:
        raise ValueError(f"{path.name} would hold the absolute path {private[0]}")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial-{os.getpid()}")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def data_folder() -> Path:
    """Return where real data should be: $KGRAFT_DATA, else ../shared/data from the project."""
    return Path(os.environ.get("KGRAFT_DATA") or ROOT.parent / "shared" / "data")


def shared_data() -> Path | None:
    """Return the folder of real data, or None after saying how to name one."""
    folder = data_folder()
    if folder.is_dir():
        return folder
    print(f"skipped: no data at {folder}; set KGRAFT_DATA to its folder", file=sys.stderr)
    return None


def seconds(work: Callable[[], object]) -> float:
    """Return how long a piece of work takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def turns(*paths: Callable[[], object], repeats: int = 5) -> list[list[float]]:
    """Let paths take turns after one round that is not counted, and return their seconds."""
    for path in paths:
        path()
    rounds = [[seconds(path) for path in paths] for _ in range(repeats)]
    return [list(times) for times in zip(*rounds, strict=True)]


def machine() -> dict[str, object]:
    """Describe the machine without naming it."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "memory_gb": round(memory / 2**30, 1),
        "system": platform.system(),
    }


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    text = info.read_text(encoding="utf-8") if info.exists() else ""
    model = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return model[1] if model else platform.processor() or platform.machine()


def commit() -> dict[str, object]:
    """Return the commit that is measured, and whether the tree was as it is committed."""
    tree = ["status", "--porcelain", "--untracked-files=no", "--", ":!benchmarks/results"]
    return {"commit": _git("rev-parse", "HEAD"), "clean_tree": not _git(*tree)}


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def versions() -> dict[str, str]:
    """Return the versions of what was measured and of what it stands on."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = {"kgraft": project["version"], "python": platform.python_version()}
    return own | {name: _version(name) for name in PACKAGES}


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
