import numpy as np
import pytest
from tests.reason.rules.naive import as_dict, make_graph

from kgraft.errors import BadInput
from kgraft.graph import Graph, split_graph
from kgraft.measure import QueryBatch
from kgraft.reason import MiningSettings, Rules, list_rules, mine_and_save

SETTINGS = MiningSettings(rounds=1, min_support=1, constant_support=1, constant_confidence=0.0)


@pytest.fixture
def graph(tmp_path):
    random = np.random.default_rng(7)
    triples = np.unique(random.integers(0, [8, 2, 8], (60, 3)), axis=0).tolist()
    graph = make_graph(tmp_path / "whole", triples, entities=8, relations=2)
    split_graph(graph, tmp_path / "g", valid=0.2, test=0.1, seed=0)
    return Graph.open(tmp_path / "g")


def test_rules_are_saved_with_how_they_were_mined(tmp_path, graph):
    mined = mine_and_save(graph, tmp_path / "rules", SETTINGS)
    stored = Rules.from_pretrained(tmp_path / "rules")
    assert stored.config.version == graph.manifest.version
    assert stored.facts["settings"]["seed"] == SETTINGS.seed
    assert stored.facts["rounds"] == 1
    one, other = mined.on(graph), stored.on(graph)
    assert as_dict(one.rules) == as_dict(other.rules)
    assert (one.aggregation == other.aggregation).all()
    batch = QueryBatch(np.arange(8), np.arange(8) % 4)
    assert (one.score(batch) == other.score(batch)).all()


def test_rules_follow_their_ids_to_another_graph(tmp_path, graph):
    mine_and_save(graph, tmp_path / "rules", SETTINGS)
    stored = Rules.from_pretrained(tmp_path / "rules")
    graph.without(tmp_path / "less", entities=["e0"], relations=["r0"])
    less = Graph.open(tmp_path / "less")
    rules = stored.on(less).rules
    assert 0 < len(rules) < len(stored)
    assert set((rules.head % 1).tolist()) == {0}
    names = {line.words for line in list_rules(stored.on(less), limit=10_000)}
    assert names <= {line.words for line in list_rules(stored.on(graph), limit=10_000)}
    assert not any("entity 0 " in f"{name} " or "relation 0" in name for name in names)


def test_an_existing_folder_is_not_overwritten(tmp_path, graph):
    (tmp_path / "rules").mkdir()
    with pytest.raises(BadInput, match="exists already"):
        mine_and_save(graph, tmp_path / "rules", SETTINGS)


def test_a_changed_file_is_seen(tmp_path, graph):
    mine_and_save(graph, tmp_path / "rules", SETTINGS)
    path = tmp_path / "rules" / "rules.arrow"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(BadInput, match="checksum"):
        Rules.from_pretrained(tmp_path / "rules")


def test_listed_rules_have_an_example(tmp_path, graph):
    source = mine_and_save(graph, tmp_path / "rules", SETTINGS).on(graph)
    rows = list_rules(source, relation="r1", limit=5)
    assert len(rows) == 5
    assert [row.confidence for row in rows] == sorted((r.confidence for r in rows), reverse=True)
    assert all("relation 1" in row.words for row in rows)
    assert any(row.example for row in rows)
