"""Lists all benchmarks, or runs one: python -m benchmarks [NAME [OPTION …]].

NAME is a module (graph.scale) or the name of a result (graph_scale). Minutes are those of a run
with nothing trained yet, on two cores; ? where nobody has measured that.
"""

from __future__ import annotations

import runpy
import sys

from benchmarks.catalogue import catalogue, listing, module_of
from benchmarks.harness import data_folder


def main(arguments: list[str]) -> int:
    """List, or run the benchmark that the first argument names."""
    benchmarks = catalogue()
    if not arguments:
        for line in listing(benchmarks, data_folder()):
            print(line)
        print(f"\nData folder ($KGRAFT_DATA): {data_folder()}\nRun one: make bench-graph.scale")
        return 0
    if arguments[0].startswith("-"):
        print(__doc__)
        return 0
    try:
        module = module_of(arguments[0], benchmarks)
    except LookupError as error:
        print(error, file=sys.stderr)
        return 2
    sys.argv = arguments
    runpy.run_module(f"benchmarks.{module}", run_name="__main__", alter_sys=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
