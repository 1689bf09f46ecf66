"""Runs a command again and again, each time killed at the next thing it does to the disk.

    python killed.py FOLDER MOMENTS COMMAND...

Of all touches MOMENTS are chosen, evenly; 0 stands for all. Prints, as JSON, what FOLDER held after
each kill and after the same command was run to its end.
"""

import json
import os
import shutil
import signal
import sys
from pathlib import Path

import kgraft.graph
from kgraft.cli import app
from kgraft.graph import FORMATS, WRITERS

TOUCHES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree", "os.truncate"}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
# Everything is loaded before the forks.
LOADED = [getattr(kgraft.graph, name) for name in kgraft.graph.__all__]
LOADED += [FORMATS[name] for name in FORMATS] + [WRITERS[name] for name in WRITERS]


def touches_the_disk(event, arguments):
    if event == "open":
        return bool((arguments[2] or 0) & WRITES)
    return event in TOUCHES


def run(command, last=None, counted=None):
    """Run a command in a fork; with `last`, kill it at that touch of the disk.

    The touches of a command that ends are written to the file `counted`.
    """
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    count = 0

    def watch(event, arguments):
        nonlocal count
        if touches_the_disk(event, arguments):
            count += 1
            if last is not None and count > last:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    code = 1
    try:
        app(command)
        code = 0
    except SystemExit as error:
        code = error.code or 0
    finally:
        sys.stdout.flush()
        if counted is not None:
            counted.write_text(str(count))
        os._exit(code)


def held(folder):
    return sorted(path.name for path in folder.iterdir())


def main():
    folder, moments, command = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    before, counted = Path(f"{folder}-before"), Path(f"{folder}-count")
    shutil.copytree(folder, before)
    run(command, counted=counted)
    touches = int(counted.read_text())
    told = []
    for last in sorted({touches * n // moments for n in range(moments)} or range(touches)):
        shutil.rmtree(folder)
        shutil.copytree(before, folder)
        if os.WIFEXITED(run(command, last)):  # it was over before
            break
        left = held(folder)
        again = run(command)
        told.append({"left": left, "again": os.waitstatus_to_exitcode(again), "held": held(folder)})
    print(json.dumps(told))


if __name__ == "__main__":
    main()
