"""Exporting a linker: its fast form beside it, and what that costs on annotated texts."""

import json
import shutil

import numpy as np
import pytest

from kgraft.errors import BadInput
from kgraft.link.exporting import export_linker
from kgraft.link.onnx import COST, FILE, fast_reader

pytest.importorskip("onnxruntime")


@pytest.fixture
def export(graph, exported, marked_texts, tmp_path, monkeypatch):
    """Export what was exported before, without the long way through the exporter."""
    plain = shutil.copytree(exported, tmp_path / "plain", ignore=shutil.ignore_patterns(FILE))
    copied = lambda model, folder: shutil.copyfile(exported / FILE, folder / FILE)  # noqa: E731
    monkeypatch.setattr("kgraft.link.exporting.export_model", copied)
    texts = marked_texts.select(np.arange(8))
    return lambda: export_linker(graph, texts, tmp_path / "fast", plain)


@pytest.mark.slow
def test_a_linker_is_written_with_what_it_costs(export, tmp_path):
    cost, fast = export(), tmp_path / "fast"
    stored = json.loads((fast / COST).read_text())
    assert (stored["weak_f1"], stored["int8_weak_f1"]) == (cost["weak_f1"], cost["int8_weak_f1"])
    assert stored["cost"] == pytest.approx(cost["weak_f1"] - cost["int8_weak_f1"])
    assert cost["used"] == (fast_reader(fast, 10) is not None)
    files = {"kgraft.json", "model.safetensors", FILE, COST}
    assert {path.name for path in fast.iterdir()} == files


@pytest.mark.slow
def test_what_is_there_is_kept(export, tmp_path):
    (tmp_path / "fast").mkdir()
    with pytest.raises(BadInput, match="fast exists already"):
        export()
    assert not list((tmp_path / "fast").iterdir())
