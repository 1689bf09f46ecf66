"""A graph with its vectors: predictions, ranking, new entities, vectors that do not fit."""

import pytest
import torch
from tests.embed.tiny import build, desk_triples, quick

from kgraft.embed.models import MODELS
from kgraft.embed.predictor import LinkPredictor
from kgraft.embed.tables import EmbeddingTables
from kgraft.embed.train import train_embedding
from kgraft.errors import BadInput, NotFound
from kgraft.storage import new_folder
from kgraft.vectors import StoredVectors, write_table_vectors


def ids(predictions):
    return [prediction.entity.id for prediction in predictions]


def test_it_says_what_it_is(embedded):
    model, name = embedded.settings.model, embedded.graph.manifest.name
    assert repr(embedded).startswith(f"<LinkPredictor {model} of {name}: 4")


def test_tails_that_the_graph_lacks(desks, embedded):
    held_out = embedded.tails(desks.entity("person6"), desks.relation("reports to"), limit=3)
    assert ids(held_out)[0] == "team2"
    assert held_out[0].known
    found = embedded.tails(desks.entity("desk4"), desks.relation("reports to"), limit=44)
    assert len(found) == 43  # not itself: nothing reports to itself
    assert not any(prediction.known for prediction in found)


def test_predictions_are_sorted_scores_with_what_is_known(desks, embedded):
    head, relation = desks.entity("person3"), desks.relation("member of")
    found = embedded.tails(head, relation, limit=44)
    batch = torch.tensor([head.index]), torch.tensor([relation.index])
    scores = embedded.embedding.score_tails(*batch)[0]
    plausible = [s for index, s in enumerate(scores.tolist()) if index != head.index]
    assert [p.score for p in found] == sorted(plausible, reverse=True)
    assert [p.score for p in found] == [float(scores[p.entity.index]) for p in found]
    assert [p.entity.id for p in found if p.known] == ["team3"]


def test_heads_ask_back(desks, embedded):
    found = embedded.heads(desks.relation("member of"), desks.entity("team1"), limit=5)
    assert sorted(ids(found)) == sorted(f"person{n}" for n in (1, 5, 9, 13, 17))
    assert all(prediction.known for prediction in found)
    batch = torch.tensor([desks.relation("member of").index]), torch.tensor([found[0].entity.index])
    scores = embedded.embedding.score_heads(batch[0], torch.tensor([desks.entity("team1").index]))
    assert found[0].score == float(scores[0].max())


def test_known_ones_can_be_left_out(desks, embedded):
    relation, team = desks.relation("member of"), desks.entity("team1")
    every = embedded.heads(relation, team, limit=44)
    new = embedded.heads(relation, team, limit=10, new=True)
    assert ids(new) == [p.entity.id for p in every if not p.known][:10]
    assert len(embedded.heads(relation, team, limit=100, new=True)) == 44 - 5 - 1  # nor the team


def test_without_enough_validation_there_is_no_probability(desks, embedded):
    assert embedded.stored.facts["calibration"] is not None  # 24 right answers
    embedded.stored.facts["calibration"] = None
    found = embedded.tails(desks.entity("person3"), desks.relation("member of"))
    assert {prediction.probability for prediction in found} == {None}


def test_probabilities_lie_between_0_and_1_and_fall(desks, embedded):
    found = embedded.tails(
        desks.entity("person3"), desks.relation("reports to"), limit=44, new=True
    )
    share = [prediction.probability for prediction in found]
    assert share == sorted(share, reverse=True)
    assert 0 < share[-1] < share[0] < 1


def test_ranking_a_split(desks, embedded):
    ranking = embedded.rank("test")
    assert len(ranking.rank) == 2 * len(desks.split("test").triples)
    assert ranking.figures()["mrr"] > 0.7
    assert embedded.rank("valid").figures() == embedded.stored.facts["valid"]


def test_a_split_without_triples_is_refused(tmp_path, trained):
    triples = [(h, r, t) for h, r, t, _ in desk_triples()]
    graph = build(tmp_path / "graph", triples)
    with pytest.raises(BadInput, match="'test'"):
        LinkPredictor.from_pretrained(trained, graph).rank("test")


def test_the_same_graph_takes_the_vectors_as_they_are(embedded):
    assert embedded.embedding.entities is embedded.stored.entities
    assert torch.equal(embedded.embedding.relations, embedded.stored.relations)


@pytest.mark.parametrize("reciprocal", [True, False])
def test_another_order_of_the_same_graph_gives_the_same_scores(desks, tmp_path, reciprocal):
    settings = quick("transe", epochs=1, reciprocal=reciprocal, validate_every=1)
    list(train_embedding(desks, settings, tmp_path / "vectors"))
    other = build(tmp_path / "graph", desk_triples()[::-1])
    assert other.entity("person3").index != desks.entity("person3").index
    assert other.relation("sits at").index != desks.relation("sits at").index
    found = [
        {
            p.entity.id: p.score
            for p in LinkPredictor.from_pretrained(tmp_path / "vectors", graph).heads(
                graph.relation("sits at"), graph.entity("desk3"), limit=44
            )
        }
        for graph in (desks, other)
    ]
    assert found[0].keys() == found[1].keys()
    assert found[0] == pytest.approx(found[1], abs=1e-4)


def test_vectors_of_another_graph_are_refused(tmp_path, trained):
    other = build(tmp_path / "towns", [("paris", "in", "france"), ("berlin", "in", "germany")])
    with pytest.raises(BadInput) as refused:
        LinkPredictor.from_pretrained(trained, other)
    assert str(refused.value).startswith("these vectors were trained on graph (version ")
    assert "not on towns: only 0 of 44 entities are known; train again: " in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.fixture(scope="module")
def later(desks, tmp_path_factory):
    """The desks with a newcomer, a desk without anything trained around it, and a relation."""
    added = [
        ("newcomer", "sits at", "desk3"),
        ("newcomer", "member of", "team1"),
        ("lost", "likes", "lamp"),
        ("person3", "likes", "person4"),
    ]
    new = [{"id": name} for name in ("newcomer", "lost", "lamp")]
    target = tmp_path_factory.mktemp("later") / "graph"
    return desks.extend(target, triples=added, entities=new, relations=[{"id": "likes"}])


def test_a_relation_that_was_not_trained_is_refused(later, trained):
    embedded = LinkPredictor.from_pretrained(trained, later)
    likes, person = later.relation("likes"), later.entity("person3")
    for ask in (lambda: embedded.tails(person, likes), lambda: embedded.heads(likes, person)):
        with pytest.raises(NotFound) as refused:
            ask()
        assert str(refused.value) == (
            "the vectors were trained without the relation 'likes'; "
            f"train again: kgraft embed train {later.folder}"
        )
    with pytest.raises(NotFound, match="likes"):
        embedded.rank("train")
    assert embedded.rank("test").figures()["mrr"] > 0.7


@pytest.mark.parametrize("model", MODELS.names())
def test_an_entity_added_later_gets_sensible_predictions(desks, later, tmp_path, model):
    settings = quick(model, epochs=20)
    list(train_embedding(desks, settings, tmp_path / "vectors"))
    embedded = LinkPredictor.from_pretrained(tmp_path / "vectors", later)
    newcomer = later.entity("newcomer")
    assert embedded.vectors.origin([newcomer.index]).tolist() == ["neighbours"]
    assert "desk3" in ids(embedded.tails(newcomer, later.relation("works at"), limit=3))
    assert "team1" in ids(embedded.tails(newcomer, later.relation("reports to"), limit=3))
    works_at = embedded.heads(later.relation("works at"), later.entity("desk3"), limit=4)
    assert "newcomer" in ids(works_at)
    assert not works_at[ids(works_at).index("newcomer")].known
    old = embedded.tails(later.entity("person7"), later.relation("works at"), limit=2)
    assert "desk7" in ids(old)


def test_a_guess_is_what_the_model_says_of_the_neighbour(desks, later, trained):
    """The vector of one edge is the query from the other end, at the usual length."""
    embedded = LinkPredictor.from_pretrained(trained, desks)
    count = embedded.trained.relation_count
    neighbour, relation = torch.tensor([4, 4]), torch.tensor([1, 1])
    vectors = embedded.trained.entities[neighbour]
    found = embedded._guess(vectors, relation, torch.tensor([1, -1], dtype=torch.int8))
    expected = embedded.trained.queries(neighbour, torch.tensor([1, 1 + count]))
    assert torch.equal(found, expected)


@pytest.mark.parametrize("new", [True, False])
def test_an_entity_of_which_nothing_is_known_is_never_an_answer(later, trained, new):
    embedded = LinkPredictor.from_pretrained(trained, later)
    lost = later.entity("lost").index
    assert embedded.vectors.origin([lost]).tolist() == ["none"]
    assert not embedded.embedding.entities[lost].any()
    person, works_at = later.entity("person3"), later.relation("works at")
    found = embedded.tails(person, works_at, limit=100, new=new)
    assert len(found) == 47 - 2 - new - 1  # nor the person
    assert not {"lost", "lamp"} & set(ids(found))
    with pytest.raises(NotFound, match="'lost'"):
        embedded.tails(later.entity("lost"), works_at, new=new)


def write(folder, graph, facts, relations):
    with new_folder(folder, StoredVectors.kind) as partial:
        write_table_vectors(
            partial,
            entities=torch.zeros(graph.manifest.entities, 4),
            entity_ids=graph.entities["id"],
            relations=relations,
            relation_ids=graph.relations["id"],
            graph_name="desks",
            graph_version=graph.manifest.version,
            facts=facts,
        )
    return folder


def test_vectors_without_a_model_or_relations_are_refused(desks, tmp_path):
    relations = torch.zeros(desks.manifest.relations, 4)
    bare = write(tmp_path / "bare", desks, {}, relations)
    with pytest.raises(BadInput, match="kgraft embed train"):
        LinkPredictor.from_pretrained(bare, desks)
    facts = {"settings": quick(dimension=4).to_dict()}
    alone = write(tmp_path / "alone", desks, facts, None)
    with pytest.raises(BadInput, match="relations"):
        LinkPredictor.from_pretrained(alone, desks)


def test_an_embedding_is_in_the_order_of_the_graph(later, trained):
    embedded = LinkPredictor.from_pretrained(trained, later)
    assert isinstance(embedded.embedding, EmbeddingTables)
    assert len(embedded.embedding.entities) == later.manifest.entities
    assert embedded.embedding.relation_count == later.manifest.relations
    unknown = later.relation("likes").index
    assert not embedded.embedding.relations[[unknown, unknown + later.manifest.relations]].any()
