"""Few-shot relations: prototypes, episodes, and nothing that gives the answer away."""

import json

import numpy as np
import pytest
import torch

from kgraft.errors import BadInput
from kgraft.joint import FineTuning, open_memory
from kgraft.joint import model as joint_model
from kgraft.tasks import FewShotSettings, RelationReader, RelationTexts, relation_texts
from kgraft.tasks.joint.relations import FewShotTask, episodes, prototype_loss

QUICK = FewShotSettings(
    epochs=2, steps=20, ways=2, texts=3, valid_ways=2, valid_episodes=50,
    language_rate=1e-3, knowledge_rate=1e-3,
)  # fmt: skip


def line(text, head, tail, relation, ids):
    ends = [
        {"start": text.index(name), "end": text.index(name) + len(name), "entity": number}
        for name, number in zip((head, tail), ids, strict=True)
    ]
    return {"text": text, "head": ends[0], "tail": ends[1], "relation": relation}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    lines = []
    for number in range(6):
        capital = f"number {number} : Paris is the capital of France"
        lines.append(line(capital, "Paris", "France", "capital", ("fr-paris", "france")))
        pays = f"Germany pays , {number} , in euro"
        lines.append(line(pays, "Germany", "euro", "pays in", ("germany", "unknown")))
    path = tmp_path_factory.mktemp("few") / "texts.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


@pytest.fixture
def data(path, graph):
    return RelationTexts.read(path, graph)


@pytest.fixture
def reader(data, graph, model, tmp_path):
    memory = open_memory(model, graph, folder=tmp_path)
    return lambda **options: RelationReader(model, graph, memory, data, **options)


@pytest.fixture
def tuning(model, graph, tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "cache"))
    return FineTuning(model, graph)


def test_texts(data, graph, path):
    assert data.names == ["capital", "pays in"]
    assert data.texts[0] == "number 0 : @ Paris @ is the capital of # France #"
    starts, ends = data.span[0].T
    assert [data.texts[0][a:b] for a, b in zip(starts, ends, strict=True)] == ["Paris", "France"]
    assert data.entity[1].tolist() == [*graph.indices_of(["germany"]), -1]
    assert RelationTexts.read(path, graph, without=["pays in"]).names == ["capital"]


def test_ends_without_an_id_are_looked_up_by_their_name(tmp_path, graph):
    told = line("Germany pays in gold", "Germany", "gold", "pays in", ("x", "x"))
    for end in ("head", "tail"):
        del told[end]["entity"]
    path = tmp_path / "names.jsonl"
    path.write_text(json.dumps(told))
    found = RelationTexts.read(path, graph)
    assert found.entity.tolist() == [[graph.indices_of(["germany"])[0], -1]]


def test_what_the_graph_says_of_both_is_hidden(reader, graph, monkeypatch):
    asked = []
    sampled = joint_model.neighbourhoods

    def spy(*given, **named):
        around = sampled(*given, **named)
        asked.append((given[1], around, named["hidden"]))
        return around

    monkeypatch.setattr(joint_model, "neighbourhoods", spy)
    reader()(np.arange(12), seed=1)
    ((roots, around, hidden),) = asked
    paris, france = graph.indices_of(["fr-paris", "france"])
    assert hidden[roots == paris].ravel().tolist() == [france] * 6
    assert hidden[roots == france].ravel().tolist() == [paris] * 6
    near = around.entity[around.bounds[1] : around.bounds[2]].numpy()
    assert france not in near[roots[around.source[0].numpy()] == paris]
    assert paris not in near[roots[around.source[0].numpy()] == france]


def test_with_and_without_knowledge(reader):
    on, off = reader().all(), reader(use_knowledge=False).all()
    assert on.shape == off.shape == (12, 48)
    assert np.allclose(np.linalg.norm(on, axis=1), 1, atol=1e-5)
    assert not np.allclose(on, off, atol=1e-3)


def test_texts_read_together_are_those_read_alone(reader, monkeypatch):
    read = reader(use_knowledge=False)
    read.model.eval()
    rows = np.array([3, 8, 1, 0])
    monkeypatch.setattr(relation_texts, "TOKENS", 24)  # two groups or more
    with torch.no_grad():
        together = read(rows, seed=0)
        alone = torch.cat([read(rows[n : n + 1], seed=0) for n in range(4)])
    assert torch.allclose(together, alone, atol=1e-5)
    assert not torch.allclose(together[0], together[1], atol=1e-2)


def test_episodes():
    random = np.random.default_rng(0)
    relation = np.repeat(np.arange(6), 10)
    apart = np.eye(6, dtype=np.float32)[relation]
    assert episodes(apart, relation, 5, 1, 200).all()
    noise = random.normal(size=(60, 8)).astype(np.float32)
    assert 0.1 < episodes(noise, relation, 5, 1, 2000).mean() < 0.3
    assert (episodes(noise, relation, 3, 2, 99) == episodes(noise, relation, 3, 2, 99)).all()
    with pytest.raises(BadInput, match="7-way 1-shot"):
        episodes(noise, relation, 7, 1, 9)
    with pytest.raises(BadInput, match="2-way 10-shot"):
        episodes(noise, relation, 2, 10, 9)


def test_the_loss_follows_its_words():
    torch.manual_seed(0)
    vectors = torch.nn.functional.normalize(torch.randn(3, 4, 5), dim=-1)
    found = prototype_loss(vectors, 7.0)
    losses = []
    for way in range(3):
        for text in range(4):
            scores = []
            for other in range(3):
                held = [vectors[other, n] for n in range(4) if (other, n) != (way, text)]
                mean = torch.stack(held).mean(0)
                scores.append(7.0 * vectors[way, text] @ mean / mean.norm())
            losses.append(-torch.stack(scores).log_softmax(0)[way])
    assert found.item() == pytest.approx(torch.stack(losses).mean().item(), rel=1e-5)


@pytest.mark.slow
def test_it_learns(tuning, data):
    task = FewShotTask(tuning, data, data, QUICK)
    losses = [task.step(batch, step)["loss"] for step, batch in enumerate(task.batches(0))]
    assert losses[-1] < losses[0] / 2
    assert task.validate()["accuracy"] > 0.9


def test_a_bad_line(tmp_path, graph):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": "a b", "head": {"start": 0}}\n')
    with pytest.raises(BadInput, match=r"bad\.jsonl:1"):
        RelationTexts.read(path, graph)
    path.write_text("")
    with pytest.raises(BadInput, match=r"bad\.jsonl"):
        RelationTexts.read(path, graph)


def test_a_model_that_tells_nothing_apart_is_right_nowhere():
    vectors, relation = np.ones((20, 4), np.float32) / 2, np.repeat(np.arange(4), 5)
    assert not episodes(vectors, relation, 3, 1, 50).any()


def test_too_few_texts_to_learn_from(tuning, data):
    with pytest.raises(BadInput, match="50 texts"):
        FewShotTask(tuning, data, data, QUICK.replace(texts=50))
