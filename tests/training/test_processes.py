"""One process and two: the same training, the same result everywhere."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tests.training.tiny import bits, log_lines
from tests.training.together import run

from kgraft.training import Processes

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_one_process_does_nothing():
    alone = Processes()
    tensor = torch.arange(3.0)
    assert alone.sum_(tensor) is tensor
    assert alone.gather(tensor) is tensor
    assert alone.broadcast({"a": 1}) == {"a": 1}
    assert alone.main
    alone.wait()


@pytest.mark.slow
@pytest.mark.parametrize("size", [None, "", "1"])
def test_there_is_one_process_unless_told(monkeypatch, size):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    if size is not None:
        monkeypatch.setenv("WORLD_SIZE", size)
    assert Processes.here() == Processes()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def launch(script, folder):
    """Run a module in two processes on the CPU."""
    command = [sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu", "-m"]
    command += ["--num_processes=2", "--num_machines=1", "--mixed_precision=no"]
    command += ["--dynamo_backend=no", f"--main_process_port={free_port()}", script, str(folder)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    pytest.importorskip("accelerate")
    folder = tmp_path_factory.mktemp("together")
    launch("tests.training.together", folder)
    return folder


def results(folder):
    return [load_file(folder / f"process{index}.safetensors") for index in (0, 1)]


@pytest.mark.slow
def test_two_processes_end_alike(together):
    first, second = results(together)
    assert bits(first) == bits(second)


@pytest.mark.slow
def test_two_processes_learn_what_one_does(together, tmp_path):
    found, alone = results(together)[0], run(tmp_path, Processes())
    for name, tensor in alone.items():
        torch.testing.assert_close(found[name], tensor)
    for here, there in zip(log_lines(tmp_path / "out"), log_lines(together / "out"), strict=True):
        assert there["losses"] == pytest.approx(here["losses"])
        assert there["figures"] == pytest.approx(here["figures"], abs=1e-4)
        assert there["best"] == here["best"]


@pytest.mark.slow
def test_collective_calls(together):
    found = results(together)[0]
    assert found["sum"].tolist() == [2.0, 1.0]
    assert found["numbers"].tolist() == [[0, 1], [2, 3]]
    assert found["rows"].tolist() == [[0, 0], [1, 1], [1, 1]]


@pytest.mark.slow
def test_only_the_main_process_writes(together):
    assert (together / "out" / "log.jsonl").read_text().count('"epoch"') == 4
    files = {"out", "process0.safetensors", "process1.safetensors"}
    assert {path.name for path in together.iterdir()} == files
