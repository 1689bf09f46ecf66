"""The exported model reads nearly like the model itself, and is used where it costs little."""

import logging
import shutil
import sys

import numpy as np
import pytest
from tests.link.tiny import disturbed, link_model

from kgraft.errors import BadInput
from kgraft.link.linker import Linker
from kgraft.link.onnx import (
    AFFORDABLE,
    COST,
    FILE,
    OnnxReader,
    fast_reader,
    record_cost,
)

pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

TEXTS = [
    "Paris is in Texas.",
    "who rules 東京?",
    "",
    "We went from New York City to Zürich by train.",
]


@pytest.fixture(scope="module")
def loaded(encoder_folder):
    return disturbed(link_model(encoder_folder))


@pytest.fixture
def priced(exported, tmp_path):
    """The folder with a recorded cost: `priced(cost)`."""

    def priced(cost):
        shutil.copytree(exported, tmp_path, dirs_exist_ok=True)
        assert record_cost(tmp_path, plain=0.9, fast=0.9 - cost) == pytest.approx(cost)
        return tmp_path

    return priced


@pytest.mark.slow
@pytest.mark.parametrize("spoil", [b"", b"another model"])
def test_a_file_that_was_swapped_is_not_opened(priced, loaded, monkeypatch, spoil):
    folder = priced(0.0)
    monkeypatch.setattr("kgraft.link.onnx.OnnxReader", lambda *_: pytest.fail("it was opened"))
    (folder / FILE).write_bytes(spoil)
    with pytest.raises(BadInput, match=COST):
        fast_reader(folder, loaded.longest)


@pytest.mark.slow
def test_a_file_without_a_checksum_is_not_opened(priced, loaded):
    folder = priced(0.0)
    (folder / COST).write_text('{"cost": 0.0}')
    assert fast_reader(folder, loaded.longest) is None


def apart(values, expected, mask):
    """Return how far values are apart, in standard deviations of the expected ones."""
    values, expected = values.numpy()[mask], expected.numpy()[mask]
    return np.abs(values - expected).max() / expected.std()


@pytest.mark.slow
@pytest.mark.parametrize("texts", [TEXTS, TEXTS[1:2], TEXTS[2:3], [" ".join(TEXTS * 5)]])
def test_marks_and_vectors_are_nearly_those_of_the_model(exported, loaded, texts):
    reader = OnnxReader(exported / FILE, loaded.longest)
    windows = loaded.encoder.windows(texts)
    ids, mask = windows.padded(np.arange(len(windows)))
    output, expected = reader.read(ids, mask), loaded.read(ids, mask)
    assert output.marks.shape == expected.marks.shape
    assert apart(output.marks, expected.marks, mask) < 0.1
    assert apart(output.vectors, expected.vectors, mask) < 0.1


@pytest.mark.slow
def test_the_exported_file_takes_one_byte_per_weight(exported, encoder_folder):
    size = (encoder_folder / "model.safetensors").stat().st_size
    assert (exported / FILE).stat().st_size < size / 2
    assert not list(exported.glob("*partial*"))


@pytest.mark.slow
def test_exporting_leaves_the_logs_as_they_were(exported):
    assert logging.root.manager.disable == 0


@pytest.mark.slow
def test_the_fast_form_is_used_where_it_costs_little(priced, graph):
    folder = priced(AFFORDABLE / 2)
    assert isinstance(fast_reader(folder, 10), OnnxReader)
    linker = Linker(graph, folder)
    assert isinstance(linker.reader, OnnxReader)
    text = "Paris pays in euro, not in Texas."
    links = linker(text, threshold=0)
    assert links
    assert all(text[link.start : link.end] == link.surface for link in links)


@pytest.mark.slow
def test_the_fast_form_is_left_alone_where_it_costs_much(priced, graph):
    folder = priced(AFFORDABLE * 2)
    assert fast_reader(folder, 10) is None
    linker = Linker(graph, folder)
    assert linker.reader is linker.model


@pytest.mark.slow
def test_a_form_that_is_better_than_the_model_is_used(priced):
    assert isinstance(fast_reader(priced(-0.1), 10), OnnxReader)


@pytest.mark.slow
@pytest.mark.parametrize(
    "content", [None, "", "{", "[]", "{}", '{"cost": null}', '{"cost": "low"}']
)
def test_without_a_recorded_cost_it_is_left_alone(priced, content):
    folder = priced(0.0)
    (folder / COST).unlink()
    if content is not None:
        (folder / COST).write_text(content)
    assert fast_reader(folder, 10) is None


@pytest.mark.slow
def test_without_an_exported_file_there_is_no_fast_form(priced):
    folder = priced(0.0)
    (folder / FILE).unlink()
    assert fast_reader(folder, 10) is None


@pytest.mark.slow
def test_without_onnx_runtime_the_model_itself_is_used(priced, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert fast_reader(priced(0.0), 10) is None


@pytest.mark.slow
def test_a_damaged_exported_file_is_one_clear_line(priced):
    folder = priced(0.0)
    (folder / FILE).write_bytes(b"half")
    with pytest.raises(BadInput, match="is not an exported link model") as error:
        OnnxReader(folder / FILE, 10)
    assert error.value.file == str(folder / FILE)
    assert "\n" not in str(error.value)
