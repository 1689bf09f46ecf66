"""The table of mentions does what lists of mentions with lists of candidates would."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgraft.graph.mentions import Match, Mentions

# Small ranges, so that spans, entities, weights and scores are often equal.
SPAN = st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(4, 6))
WEIGHT = st.sampled_from([1.0, 2.0, 3.0, 5.0])
ROW = st.tuples(SPAN, st.integers(0, 3), WEIGHT, st.integers(0, len(Match) - 1), st.integers(0, 31))
CANDIDATE = st.tuples(st.integers(0, 5), WEIGHT, st.integers(0, 4), st.integers(0, 31), WEIGHT)
LINES = st.lists(st.tuples(SPAN, st.lists(CANDIDATE, max_size=4)), max_size=6).map(
    lambda lines: sorted(lines, key=lambda line: line[0])
)
DTYPES = (np.int64, np.float32, np.uint8, np.uint8, np.float32)
NAMES = ("entity", "prior", "match", "forms", "score")


def columns(rows, dtypes):
    """Return rows as one array per column, also if there are none."""
    made = [*zip(*rows, strict=True)] or [()] * len(dtypes)
    return [np.array(column, dtype) for column, dtype in zip(made, dtypes, strict=True)]


def table(lines):
    """Return a table of (span, candidates)."""
    spans = columns([span for span, _ in lines], [np.int64] * 3)
    bounds = np.cumsum([0, *(len(candidates) for _, candidates in lines)])
    return Mentions(*spans, bounds, *columns([c for _, part in lines for c in part], DTYPES))


def lines_of(mentions):
    """Return (span, candidates) of a table, whose columns have the types they should."""
    assert [getattr(mentions, name).dtype for name in NAMES] == [np.dtype(d) for d in DTYPES]
    assert mentions.bounds.dtype == mentions.text.dtype == mentions.start.dtype == np.int64
    spans = zip(*(a.tolist() for a in (mentions.text, mentions.start, mentions.end)), strict=True)
    candidates = [*zip(*(getattr(mentions, name).tolist() for name in NAMES), strict=True)]
    bounds = mentions.bounds.tolist()
    assert (bounds[0], bounds[-1]) == (0, len(candidates))
    return [(s, candidates[bounds[n] : bounds[n + 1]]) for n, s in enumerate(spans)]


def naive_group(rows):
    """Take one span after the other, and of its rows those of the surest kind, heaviest first."""
    grouped = []
    for span in sorted({row[0] for row in rows}):
        own = [row for row in rows if row[0] == span]
        kind = min(row[3] for row in own)
        own = sorted((row for row in own if row[3] == kind), key=lambda row: (-row[2], row[1]))
        first = {entity: (weight, forms) for _, entity, weight, _, forms in reversed(own)}
        total = sum(weight for weight, _ in first.values())
        ordered = sorted(first.items(), key=lambda item: (-item[1][0], item[0]))
        candidates = [
            (entity, pytest.approx(weight / total), kind, forms, 0.0)
            for entity, (weight, forms) in ordered
        ]
        grouped.append((span, candidates))
    return grouped


@given(st.lists(ROW, max_size=20))
def test_rows_are_grouped_as_by_a_plain_loop(rows):
    flat = [(*span, *others) for span, *others in rows]
    dtypes = [np.int64] * 4 + [np.float32, np.uint8, np.uint8]
    assert lines_of(Mentions.group(*columns(flat, dtypes))) == naive_group(rows)


def test_a_span_has_candidates_of_its_surest_kind_by_hand():
    rows = [
        (0, 0, 2, 7, 1.0, Match.VARIANT, 1),
        (0, 0, 2, 8, 3.0, Match.NAME, 2),
        (0, 0, 2, 9, 1.0, Match.NAME, 4),
        (0, 0, 2, 9, 1.0, Match.NAME, 8),
        (0, 3, 5, 7, 2.0, Match.VARIANT, 1),
    ]
    dtypes = [np.int64] * 4 + [np.float32, np.uint8, np.uint8]
    assert lines_of(Mentions.group(*columns(rows, dtypes))) == [
        ((0, 0, 2), [(8, 0.75, Match.NAME, 2, 0), (9, 0.25, Match.NAME, 4, 0)]),
        ((0, 3, 5), [(7, 1, Match.VARIANT, 1, 0)]),
    ]


@given(LINES)
def test_sizes_owners_and_ranks(lines):
    mentions = table(lines)
    sizes = [len(candidates) for _, candidates in lines]
    assert len(mentions) == len(lines)
    assert mentions.sizes.tolist() == sizes
    assert mentions.owner.tolist() == [n for n, size in enumerate(sizes) for _ in range(size)]
    assert mentions.rank.tolist() == [rank for size in sizes for rank in range(size)]
    assert mentions.best.tolist() == [sum(sizes[:n]) for n in range(len(sizes))]


@given(LINES, st.data())
def test_rows_are_selected_in_the_order_given(lines, data):
    rows = data.draw(st.lists(st.integers(0, len(lines) - 1), max_size=8)) if lines else []
    selected = table(lines).select(np.array(rows, np.int64))
    assert lines_of(selected) == [lines[row] for row in rows]
    mask = np.array([data.draw(st.booleans()) for _ in lines], bool)
    expected = [line for line, is_kept in zip(lines, mask, strict=True) if is_kept]
    assert lines_of(table(lines).select(mask)) == expected


@pytest.mark.slow
@given(LINES, st.data())
def test_candidates_are_kept_by_a_mask(lines, data):
    masks = [[data.draw(st.booleans()) for _ in candidates] for _, candidates in lines]
    expected = [
        (span, [c for c, is_kept in zip(candidates, mask, strict=True) if is_kept])
        for (span, candidates), mask in zip(lines, masks, strict=True)
    ]
    kept = np.array([flag for mask in masks for flag in mask], bool)
    assert lines_of(table(lines).keep_candidates(kept)) == expected


@given(LINES, st.data())
def test_candidates_are_added_behind_the_others_of_their_mention(lines, data):
    mentions = table(lines)
    owners = data.draw(st.lists(st.integers(0, len(lines) - 1), max_size=5)) if lines else []
    added = [data.draw(CANDIDATE) for _ in owners]
    owner = np.append(mentions.owner, np.array(owners, np.int64))
    more = mentions.with_candidates(owner, tuple(columns(added, DTYPES)))
    assert lines_of(more) == [
        (span, candidates + [c for c, o in zip(added, owners, strict=True) if o == row])
        for row, (span, candidates) in enumerate(lines)
    ]


@given(LINES, st.data())
def test_scores_put_the_best_candidate_first(lines, data):
    scores = [[data.draw(WEIGHT) for _ in candidates] for _, candidates in lines]
    expected = []
    for (span, candidates), own in zip(lines, scores, strict=True):
        scored = [(*c[:4], score) for c, score in zip(candidates, own, strict=True)]
        expected.append((span, sorted(scored, key=lambda c: (-c[4], -c[1]))))
    flat = np.array([score for own in scores for score in own], np.float64)
    assert lines_of(table(lines).with_scores(flat)) == expected


@given(st.lists(LINES, min_size=1, max_size=4))
def test_tables_are_merged_in_order_of_their_spans(parts):
    merged, order = Mentions.merge(*map(table, parts))
    laid = [line for part in parts for line in part]
    rows = sorted(range(len(laid)), key=lambda row: laid[row][0])
    assert order.tolist() == rows
    assert lines_of(merged) == [laid[row] for row in rows]


@given(LINES, st.integers(0, 5))
def test_the_texts_are_moved_up(lines, texts):
    moved = lines_of(table(lines).shifted(texts))
    assert moved == [((text + texts, *span), c) for (text, *span), c in lines]


@given(LINES)
def test_mentions_may_have_no_candidates(lines):
    spans = columns([span for span, _ in lines], [np.int64] * 3)
    assert lines_of(Mentions.without_candidates(*spans)) == [(span, []) for span, _ in lines]


def test_the_surest_kind_of_match_has_the_lowest_value():
    kinds = ["PINNED", "ABBREVIATION", "NAME", "VARIANT"]
    kinds += ["REWORDED", "SHORTENED", "PARTIAL", "NEIGHBOUR"]
    assert [kind.name for kind in sorted(Match)] == kinds


def with_gold(lines):
    """Return a table whose gold entities tell the rows apart."""
    return replace(table(lines), gold=np.arange(len(lines)) + 100)


@given(LINES, st.data())
def test_gold_entities_follow_their_mentions(lines, data):
    mentions = with_gold(lines)
    rows = data.draw(st.lists(st.integers(0, len(lines) - 1), max_size=8)) if lines else []
    assert mentions.select(np.array(rows, np.int64)).gold.tolist() == [row + 100 for row in rows]
    mask = np.array([data.draw(st.booleans()) for _ in lines], bool)
    assert mentions.select(mask).gold.tolist() == (np.flatnonzero(mask) + 100).tolist()
    assert table(lines).select(mask).gold is None


@given(LINES)
def test_gold_entities_stay_when_candidates_change(lines):
    mentions = with_gold(lines)
    count = len(mentions.entity)
    changed = [
        mentions.keep_candidates(np.arange(count) % 2 == 0),
        mentions.with_candidates(mentions.owner, tuple(columns([], DTYPES))),
        mentions.with_scores(np.arange(count) / 7),
        mentions.shifted(3),
    ]
    assert all(other.gold.tolist() == mentions.gold.tolist() for other in changed)


@given(st.lists(LINES, min_size=1, max_size=4))
def test_tables_are_laid_one_after_the_other(parts):
    laid = Mentions.concat([*map(table, parts)])
    assert lines_of(laid) == [line for part in parts for line in part]
    assert laid.gold is None
    gold = Mentions.concat([*map(with_gold, parts)]).gold
    assert gold.tolist() == [100 + row for part in parts for row in range(len(part))]


@given(st.lists(LINES, min_size=1, max_size=4))
def test_gold_entities_are_merged_with_their_mentions(parts):
    merged, order = Mentions.merge(*map(with_gold, parts))
    gold = np.concatenate([with_gold(part).gold for part in parts])
    assert merged.gold.tolist() == gold[order].tolist()


def test_no_tables_are_an_empty_one():
    assert lines_of(Mentions.concat([])) == []


def test_tables_with_and_without_gold_entities_are_not_mixed():
    lines = [((0, 0, 4), [])]
    with pytest.raises(ValueError, match="1 of 2"):
        Mentions.concat([table(lines), with_gold(lines)])


@given(lines=LINES, asked=st.lists(SPAN, max_size=8))
def test_rows_of_spans(lines, asked):
    lines = list({line[0]: line for line in lines}.values())
    spans = [span for span, _ in lines]
    wanted = asked + spans
    expected = [spans.index(span) if span in spans else -1 for span in wanted]
    assert table(lines).rows_of(*columns(wanted, [np.int64] * 3)).tolist() == expected
