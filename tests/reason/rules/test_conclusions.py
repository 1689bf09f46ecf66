import json

import pyarrow.parquet as pq
import pytest
from tests.reason.rules.naive import as_dict, both_ways, make_graph, rule_pairs

from kgraft.errors import BadInput
from kgraft.reason import MiningSettings, apply_rules, mine_rules

TRIPLES = [(0, 0, 1), (1, 1, 2), (0, 2, 2), (3, 0, 4), (4, 1, 5), (3, 2, 5), (2, 0, 1), (1, 1, 3)]


@pytest.fixture
def graph(tmp_path):
    return make_graph(tmp_path / "g", TRIPLES)


@pytest.fixture
def rules(graph):
    loose = MiningSettings(
        rounds=1, min_support=1, constant_support=1, constant_confidence=0.0, pessimism=1.0
    )
    return mine_rules(graph, loose).rules


def test_conclusions_are_what_rules_give_and_the_graph_lacks(tmp_path, graph, rules):
    least = 0.25
    count = apply_rules(graph, rules, tmp_path / "new.jsonl", least)
    records = [json.loads(line) for line in (tmp_path / "new.jsonl").read_text().splitlines()]
    assert len(records) == count > 0
    edges = both_ways(TRIPLES, 3)
    expected = {}
    for row, (head, constant, body, end) in enumerate(as_dict(rules)):
        if body and rules.confidence[row] >= least:
            for x, y in rule_pairs(edges, constant, body, end, 6):
                fact = (x, head, y) if head < 3 else (y, head - 3, x)
                if fact not in edges:
                    expected[fact] = max(expected.get(fact, 0), rules.confidence[row])
    facts = {
        (int(r["head"][1:]), int(r["relation"][1:]), int(r["tail"][1:])): r["confidence"]
        for r in records
    }
    assert facts == {fact: pytest.approx(c, abs=1e-6) for fact, c in expected.items()}
    for record in records:
        for head, relation, tail in record["facts"]:
            assert (int(head[1:]), int(relation[1:]), int(tail[1:])) in edges
        assert record["facts"]


def test_all_formats_hold_the_same(tmp_path, graph, rules):
    counts = [apply_rules(graph, rules, tmp_path / f"new.{s}", 0.25) for s in ("tsv", "parquet")]
    lines = (tmp_path / "new.tsv").read_text().splitlines()
    table = pq.read_table(tmp_path / "new.parquet")
    assert len(lines) - 1 == len(table) == counts[0] == counts[1]
    heads = [line.split("\t")[0] for line in lines[1:]]
    assert heads == table["head"].to_pylist()


def test_an_unknown_format_is_refused(tmp_path, graph, rules):
    with pytest.raises(BadInput, match=r"new\.csv"):
        apply_rules(graph, rules, tmp_path / "new.csv")
