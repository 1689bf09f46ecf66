"""Mentions are put where they are, with all their candidates, batch by batch."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.graft.tiny import few

from kgraft.corpus import annotate
from kgraft.graft import locate_mentions
from kgraft.graft.windows import LocatedMentions
from kgraft.graph import IGNORED, UNKNOWN
from kgraft.text import NIL, Encoder, MentionBatch, packaged_folder
from kgraft.text.mention_batch import PADDING

WORDS = ["Paris", "New", "York", "City", "in", "Texas", "東京", "😀", "La", "France", "the", "."]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join), min_size=1, max_size=5)
ENCODER = Encoder.load(packaged_folder(), device="cpu", max_length=8)


def batch_of(located, indices):
    return MentionBatch.of(located.mentions, located.spans, np.asarray(indices))


def entities_of(mentions, row):
    return mentions.entity[slice(*mentions.bounds[row : row + 2])].tolist()


@given(texts=TEXTS, max_tokens=st.sampled_from([1, 2, 9]), max_candidates=st.integers(1, 3))
@few
def test_a_batch_has_every_name_of_its_windows_once(knowledge, texts, max_tokens, max_candidates):
    mentions = knowledge.find(texts)
    mentions = replace(mentions, gold=mentions.entity[mentions.best])  # the likeliest is meant
    windows = ENCODER.windows(texts)
    located = LocatedMentions.of(
        mentions, windows, max_candidates=max_candidates, max_tokens=max_tokens
    )
    indices = np.arange(len(windows))[::-1]
    batch = batch_of(located, indices)
    found = []
    for row, index in enumerate(indices.tolist()):
        for m in np.flatnonzero(batch.present[row].numpy()).tolist():
            first, last = int(batch.first[row, m]), int(batch.last[row, m])
            (start,), (end,) = windows.characters([index], [first], [last])
            own = batch.entity[row, m][batch.is_candidate[row, m]].tolist()
            found.append((int(windows.text[index]), int(start), int(end), own))
            assert batch.gold[row, m] == 0
            assert len(own) <= max_candidates
            assert last - first <= max_tokens
    spans = windows.locate(mentions.text, mentions.start, mentions.end)
    columns = (mentions.text, mentions.start, mentions.end)
    expected = [
        (t, a, b, entities_of(mentions, row)[:max_candidates])
        for row, (t, a, b) in enumerate(zip(*(c.tolist() for c in columns), strict=True))
        if spans.window[row] >= 0 and spans.last[row] - spans.first[row] <= max_tokens
    ]
    assert sorted(found) == sorted(expected)


def test_the_rank_of_the_gold_entity(knowledge, graph):
    texts = ["Paris is in Texas", "Paris", "Berlin", "Paris"]
    texan, berlin = graph.indices_of(["tx-paris", "berlin"])
    gold = np.array([texan, UNKNOWN, NIL, texan, IGNORED])
    mentions = replace(knowledge.find(texts), gold=gold)
    batch = batch_of(LocatedMentions.of(mentions, ENCODER.windows(texts)), range(4))
    assert batch.entity[0, 0, int(batch.gold[0, 0])] == texan
    assert batch.gold[0, 1] == UNKNOWN
    assert batch.gold[1, 0] == NIL
    assert batch.gold[2, 0] == UNKNOWN  # the one in Texas is not a candidate for Berlin
    assert batch.entity[2, 0, 0] == berlin
    assert batch.gold[3, 0] == UNKNOWN


def test_texts_without_mentions(knowledge):
    located = LocatedMentions.of(knowledge.find(["so", ""]), ENCODER.windows(["so", ""]))
    batch = batch_of(located, range(2))
    assert batch.present.shape == (2, 0)
    assert not batch.present.any()


# Annotated texts


def mentions_of(encoder, data, **options):
    windows = locate_mentions(encoder, data, 2, **options)
    return windows.mentions(np.arange(len(windows)))[2]


def gold_entities(batch):
    """Return the gold entity of each mention that has one among its candidates."""
    rank = batch.gold_rank
    return batch.entity.gather(-1, rank.clamp_min(0)[..., None])[..., 0][rank >= 0].tolist()


def test_annotations_become_gold(encoder, graph):
    texts = [("Paris lies in France.", "fr-paris"), ("Paris rules", "myth")]
    data = annotate(
        graph, [(text, [{"start": 0, "end": 5, "entity": entity}]) for text, entity in texts]
    )
    batch = mentions_of(encoder, data)
    assert gold_entities(batch) == graph.indices_of(["fr-paris", "myth"]).tolist()
    assert int((batch.gold_rank >= 0).sum()) == 2  # France is not annotated


def test_an_annotation_that_is_no_name_may_be_added(encoder, graph):
    annotation = {"start": 4, "end": 8, "entity": "fr-paris"}
    data = annotate(graph, [("the town of lights", [annotation])])
    assert not mentions_of(encoder, data).present.any()
    batch = mentions_of(encoder, data, add_annotated=True)
    assert batch.gold_rank.tolist() == [[0]]
    assert batch.entity.tolist() == [[graph.indices_of(["fr-paris"]).tolist()]]


def test_names_that_only_one_entity_has_may_count_as_annotated(encoder, graph):
    data = annotate(graph, [("Paris, Texas and France", [])])
    batch = mentions_of(encoder, data, trust_unambiguous=True)
    assert sorted(gold_entities(batch)) == sorted(graph.indices_of(["texas", "france"]).tolist())
    assert gold_entities(mentions_of(encoder, data)) == []


def test_annotations_outside_their_text_are_left_out(encoder, graph):
    spans = ((-3, 2), (4, 90), (3, 3))
    annotations = [{"start": start, "end": end, "entity": "texas"} for start, end in spans]
    data = annotate(graph, [("so be it", annotations), ("", [])])
    assert gold_entities(mentions_of(encoder, data, add_annotated=True)) == []


def test_padding_of_candidates(encoder, graph):
    data = annotate(graph, [("Paris and Texas", [])])
    batch = mentions_of(encoder, data)
    sizes = batch.is_candidate.sum(-1)[0].tolist()
    assert sizes == [3, 1]
    assert (batch.entity[0, 1, 1:] == PADDING).all()
