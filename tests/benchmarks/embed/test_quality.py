"""The benchmark of graph embeddings: each model trained once, ranked on test, recorded."""

import json

import pytest
from benchmarks.embed.quality import MODELS, measure
from benchmarks.harness import Benchmark

from benchmarks.embed import quality
from kgraft.embed.presets import PRESETS

LEAST = dict.fromkeys(MODELS, (0.1, 0.2))
RING = Benchmark(name="embed_ring", measures="a ring of towns", minutes=1)


@pytest.fixture
def ring(tmp_path, monkeypatch):
    """Put a graph of towns on a ring where the shared data is, with presets for it."""
    folder = tmp_path / "data" / "graphs" / "ring"
    folder.mkdir(parents=True)
    triples = [f"t{n}\t{r}\tt{(n + s) % 9}" for n in range(9) for r, s in (("on", 1), ("off", 8))]
    for name, part in (("train", triples[2:-2]), ("valid", triples[:2]), ("test", triples[-2:])):
        (folder / f"{name}.tsv").write_text("\n".join(["head\trelation\ttail", *part, ""]))
    monkeypatch.setenv("KGRAFT_DATA", str(tmp_path / "data"))
    for model in MODELS:
        preset = PRESETS[model] | {"dimension": 8, "epochs": 2, "chunk": 4, "negatives": 4}
        monkeypatch.setitem(PRESETS, f"{model}-ring", preset)
    return tmp_path


def run(folder):
    measure(RING, "ring", LEAST, work=folder / "work", results=folder / "results")
    return json.loads((folder / "results" / "embed_ring.json").read_text())


def test_all_models_are_measured_against_their_goals(ring):
    result = run(ring)
    assert result["goals"]["rotate_mrr"] == {"at_least": 0.1}
    assert result["goals"]["rotate_minutes"] == {"at_most": 60}
    for model in MODELS:
        assert 0 < result["figures"][f"{model}_mrr"] <= 1
        assert result["figures"][f"{model}_epochs"] == 2
        assert result["figures"][f"{model}_dimension"] == 8


@pytest.mark.slow
def test_a_model_is_trained_once_and_anew_when_its_preset_changes(ring, monkeypatch, capsys):
    first = run(ring)["figures"]
    capsys.readouterr()
    assert run(ring)["figures"] == first
    assert "epoch" not in capsys.readouterr().out.replace("_epochs", "")
    monkeypatch.setitem(PRESETS, "transe-ring", PRESETS["transe-ring"] | {"dimension": 4})
    assert run(ring)["figures"]["transe_dimension"] == 4
    assert "ring.transe epoch 2" in capsys.readouterr().out


def test_without_data_nothing_is_measured(ring, monkeypatch, capsys):
    monkeypatch.setenv("KGRAFT_DATA", str(ring / "elsewhere"))
    measure(RING, "ring", LEAST, results=ring / "results")
    assert "no data at" in capsys.readouterr().err
    assert not (ring / "results").exists()
    assert quality.WORK.name == "benchmarks"
