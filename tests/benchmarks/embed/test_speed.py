import sys

import numpy as np
import pytest
import torch
from benchmarks.embed.ours import queries_of, rows_of, sample_rows, settings_of
from benchmarks.embed.speed import compare, query_order, refuse_other_ranks, versus
from benchmarks.harness import Run

from benchmarks.embed import speed
from kgraft.embed import EmbeddingTables, rank_queries
from kgraft.graph import Graph


def drawn_triples(entities=9, relations=3, count=25):
    rows = np.random.default_rng(5).integers([entities, relations, entities], size=(count, 3))
    return np.unique(rows, axis=0)[np.random.default_rng(6).permutation(count - 3)]


def naive_ranks(scores_of, rows, known, relations):
    """Rank the tails, then the heads, of triples by the definition."""
    known = {tuple(row) for row in known.tolist()}
    ranks = []
    for side in (2, 0):
        for row in rows.tolist():
            scores = scores_of(row, side)
            rivals = [
                score
                for entity, score in enumerate(scores)
                if entity == row[side] or (*row[:side], entity, *row[side + 1 :]) not in known
            ]
            own = scores[row[side]]
            equal = sum(score == own for score in rivals) - 1
            ranks.append(1 + sum(score > own for score in rivals) + equal / 2)
    return np.array(ranks)


def test_a_ratio_is_of_medians_and_its_spread_of_turns(tmp_path):
    ratios, ratio = versus([10.0, 40.0, 60.0], [5.0, 1.0, 2.0])
    assert ratios == [2.0, 40.0, 30.0]
    assert ratio == 20.0
    run = Run("speed", protocol="", data={}, folder=tmp_path)
    assert compare(run, "train_vs_peer", [10.0, 40.0, 60.0], [5.0, 1.0, 2.0]) == 20.0
    assert run.figures == {"train_vs_peer": 20.0}
    assert run.spread["train_vs_peer"] == {"min": 2.0, "max": 40.0, "repeats": 3}


def test_turns_that_do_not_pair_are_refused():
    with pytest.raises(ValueError, match="shorter"):
        versus([1.0, 2.0], [1.0])


def test_ranks_in_the_order_of_triples_come_into_the_order_of_queries():
    rows, relations = drawn_triples(), 3
    tables = EmbeddingTables.draw(settings_of("transe", 1), 9, relations)
    queries = queries_of(rows, relations)

    def scores_of(row, side):
        head, relation, tail = (torch.tensor([number]) for number in row)
        if side == 2:
            return tables.score_tails(head, relation)[0].tolist()
        return tables.score_heads(relation, tail)[0].tolist()

    expected = query_order(rows, naive_ranks(scores_of, rows, rows, relations), relations)
    np.testing.assert_array_equal(rank_queries(tables, queries, queries).rank, expected)


def test_ranks_may_differ_by_rounding_only():
    ranks = np.array([1.0, 7.0, 300.0])
    refuse_other_ranks(ranks, ranks + np.array([0, 0, 4]))
    with pytest.raises(ValueError, match="differ by up to 40"):
        refuse_other_ranks(ranks, ranks + np.array([0, 0, 40]))
    with pytest.raises(ValueError, match=r"MRR by 0\.17"):
        refuse_other_ranks(ranks, ranks + np.array([1, 0, 0]))


def test_a_sample_is_the_same_every_time_and_holds_no_row_twice():
    rows = np.arange(30).reshape(10, 3)
    first, again, other = (sample_rows(rows, 6, purpose) for purpose in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert len(np.unique(first, axis=0)) == 6
    assert sample_rows(rows, 10, 0) is rows


def test_triples_of_a_graph_as_rows():
    triples = Graph.open("world").triples
    rows = rows_of(triples)
    assert rows.shape == (len(triples), 3)
    assert rows[4].tolist() == [triples.head[4], triples.relation[4], triples.tail[4]]


@pytest.mark.parametrize("folder", ["absent", "."])
def test_without_data_it_is_skipped_with_a_line(tmp_path, monkeypatch, capsys, folder):
    monkeypatch.setenv("KGRAFT_DATA", str(tmp_path / folder))
    monkeypatch.setattr(sys, "argv", ["embed_speed", "--out", str(tmp_path)])
    speed.main()
    assert "skipped: FB15k-237 is not among the data" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_without_pykeen_it_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "graphs" / "fb15k237").mkdir(parents=True)
    monkeypatch.setenv("KGRAFT_DATA", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["embed_speed", "--out", str(tmp_path / "out")])
    monkeypatch.setitem(sys.modules, "pykeen", None)
    with pytest.raises(SystemExit, match=r"pykeen is not .* pip install 'kgraft\[bench\]'"):
        speed.main()
