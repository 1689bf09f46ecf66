"""Event files, read by TensorBoard's own reader."""

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgraft.training.events import Events, _varint, crc32c


@pytest.fixture(scope="module")
def accumulator():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")


def scalars(accumulator, folder):
    """Return what TensorBoard shows: (step, value) by tag."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = accumulator.EventAccumulator(str(folder)).Reload()
        tags = read.Tags()["scalars"]
        return {tag: [(e.step, e.value) for e in read.Scalars(tag)] for tag in tags}


def test_tensorboard_reads_the_figures(tmp_path, accumulator):
    events = Events(tmp_path, 0)
    events.add(4, {"train/loss": 1.5, "valid/mrr": 0.25})
    events.add(300_000, {"train/loss": -0.125, "größe": 1e300})
    found = scalars(accumulator, tmp_path)
    assert found["train/loss"] == [(4, 1.5), (300_000, -0.125)]
    assert found["valid/mrr"] == [(4, 0.25)]
    assert found["größe"] == [(300_000, pytest.approx(3.4028e38, rel=1e-4))]


def test_figures_that_come_again_replace_the_old_ones(tmp_path, accumulator):
    killed = Events(tmp_path, 1)
    for step in (4, 8, 12):
        killed.add(step, {"loss": 1.0})
    with killed.path.open("ab") as file:
        file.write(b"\x10\0\0")
    resumed = Events(tmp_path, 9)
    resumed.add(12, {"loss": 2.0})
    assert scalars(accumulator, tmp_path) == {"loss": [(4, 1.0), (8, 1.0), (12, 2.0)]}


@settings(deadline=None)
@given(st.binary(max_size=300), st.integers(0, 2**63 - 1))
def test_encodings_agree_with_tensorboard(data, number):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        crc = pytest.importorskip("tensorboard.compat.tensorflow_stub.pywrap_tensorflow")
    assert crc32c(data) == crc.crc32c(data)
    assert sum((byte & 0x7F) << 7 * i for i, byte in enumerate(_varint(number))) == number
    assert [byte >> 7 for byte in _varint(number)] == [1] * (len(_varint(number)) - 1) + [0]
