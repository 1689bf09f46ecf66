"""`kgraft link export`: a linker with int8 weights, and what they cost."""

import json
import sys

import pytest


@pytest.fixture
def export(run, marked, tmp_path):
    return lambda *arguments: run(
        "export", "--texts", marked, "--out", tmp_path / "fast", "--quiet", *arguments
    )


def test_an_export_says_whether_it_will_be_used(export, monkeypatch):
    outcome = {"weak_f1": 0.9, "int8_weak_f1": 0.8, "used": False}
    monkeypatch.setattr("kgraft.link.export_linker", lambda *given: outcome)
    assert "weak F1 0.9000, int8 0.8000; costs too much" in export().stdout
    assert json.loads(export("--json").stdout) == outcome


def test_without_the_exporter_the_pip_command_is_shown(export, fails, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    fails(export(), "onnxscript is not installed; run: pip install 'kgraft[onnx]'")
    assert not (tmp_path / "fast").exists()
