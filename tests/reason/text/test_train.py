"""Training lowers the loss, resumes to the bit, and leaves what is there."""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tests.reason.text.conftest import QUICK

from kgraft.errors import BadInput
from kgraft.measure import QueryBatch
from kgraft.reason import TextCompleter, TextSource, train_text_completer
from kgraft.training import read_manifest


def train(graph, out, host_folder, settings=QUICK, **options):
    return train_text_completer(graph, out, encoder=host_folder, settings=settings, **options)


@pytest.mark.slow
def test_the_loss_falls(graph, tmp_path, host_folder):
    settings = QUICK.replace(epochs=8)
    epochs = list(train(graph, tmp_path / "out", host_folder, settings))
    assert epochs[-1].losses["loss"] < 0.8 * epochs[0].losses["loss"]
    assert "mrr" in epochs[0].figures
    facts = read_manifest(tmp_path / "out", TextCompleter).facts
    assert facts["settings"]["epochs"] == 8
    assert facts["graph"] == graph.manifest.version


@pytest.mark.slow
def test_a_run_that_was_stopped_ends_with_the_same_bits(graph, tmp_path, host_folder):
    list(train(graph, tmp_path / "once", host_folder))
    run = train(graph, tmp_path / "twice", host_folder, checkpoint_minutes=0)
    assert next(run).number == 1
    run.close()
    assert [e.number for e in train(graph, tmp_path / "twice", host_folder)] == [2]
    one, other = (
        load_file(tmp_path / name / "encoder" / "model.safetensors") for name in ("once", "twice")
    )
    assert all(torch.equal(tensor, other[name]) for name, tensor in one.items())


def test_a_completer_that_is_there_stays(graph, tmp_path, host_folder):
    (tmp_path / "out").mkdir()
    with pytest.raises(BadInput, match="out"):
        next(train(graph, tmp_path / "out", host_folder))


@pytest.fixture
def source(graph, host_folder, tmp_path):
    from kgraft.text import Encoder

    encoder = Encoder.load(host_folder, device="cpu", max_length=24)
    return TextSource(TextCompleter(encoder), graph, cache=tmp_path / "cache")


def test_a_source_scores_by_cosine_over_temperature(source, graph):
    batch = QueryBatch(np.array([0, 3, 5]), np.array([0, 1, 2]))
    scores = source.score(batch)
    assert scores.shape == (3, len(graph))
    assert scores.dtype == np.float32
    read, texts = source.completer.encoder.encode, source.texts
    for row, (entity, relation) in enumerate(zip(batch.entity, batch.relation, strict=True)):
        query = read(texts.queries(np.array([entity]), np.array([relation])).to_pylist())[0]
        for other in range(len(graph)):
            vector = read(texts.entities(np.array([other])).to_pylist())[0]
            cosine = float(query @ vector)
            assert scores[row, other] == pytest.approx(cosine * source.completer.scale, abs=1e-3)


def test_a_reason_shows_the_texts(source, graph):
    (reason,) = source.reasons(graph.index("t1"), 0, graph.index("c0"), limit=3)
    assert reason.source == "text"
    assert reason.paths == ()
    assert "Town 1" in reason.words
    assert "Country 0" in reason.words
    assert 0 <= reason.score <= 1
    assert source.reasons(0, 0, 1, limit=0) == []
