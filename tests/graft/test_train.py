"""A graft learns: first its linker alone, then all; and goes on where it was killed."""

import numpy as np
import pytest
import torch
from tests.graft.conftest import SETTINGS

from kgraft.errors import BadInput
from kgraft.graft import GraftedEncoder, GraftSettings, notice, train_graft
from kgraft.graft.next_sentence import pair_texts
from kgraft.graft.trainee import GraftTrainee, read_batch
from kgraft.graph.annotated import annotate
from kgraft.text import Encoder
from kgraft.text.masked import MaskedHead

SENTENCES = {
    "fr-paris": ["{} lies in France.", "the Seine flows through {}", "{} rules France"],
    "tx-paris": ["{} lies in Texas.", "a small city in Texas is {}", "{} has few people"],
    "myth": ["{} took Helen away.", "prince {} came to Troy", "{} shot Achilles"],
}
QUICK = GraftSettings(
    linker_epochs=30, epochs=2, linker_rate=1e-2, graft_rate=1e-3, batch_tokens=64, patience=50,
    loss="likelihood",
)  # fmt: skip


def examples():
    for entity, sentences in SENTENCES.items():
        for sentence in sentences:
            start = sentence.index("{}")
            mention = {"start": start, "end": start + 5, "entity": entity}
            yield sentence.format("Paris"), [mention]


@pytest.fixture
def data(graph):
    return annotate(graph, examples())


def trainee(encoder, data, settings=QUICK, **options):
    texts = notice(encoder, data, 2)
    torch.manual_seed(1)
    return GraftTrainee(encoder, MaskedHead.of(encoder), texts, texts, settings, **options)


def test_the_marks_of_texts_become_gold(encoder, data, graph):
    texts = notice(encoder, data, 2)
    batch = texts.mentions(np.arange(len(texts)))[2]
    named = batch.known >= 0
    meant = batch.entity.gather(-1, batch.known.clamp_min(0)[..., None])[..., 0][named]
    expected = graph.numbers_of([e for e, sentences in SENTENCES.items() for _ in sentences])
    assert meant.tolist() == expected.tolist()


def test_a_mark_that_is_no_name_is_a_mention_of_its_own(encoder, graph):
    mark = {"start": 4, "end": 8, "entity": next(iter(SENTENCES))}
    data = annotate(graph, [("the town of lights", [mark])])
    assert not notice(encoder, data, 2).mentions(np.arange(1))[2].there.any()
    texts = notice(encoder, data, 2, linked=True)
    batch = texts.mentions(np.arange(1))[2]
    assert batch.known.tolist() == [[0]]
    assert batch.entity.tolist() == [[graph.numbers_of([mark["entity"]]).tolist()]]


@pytest.mark.slow
def test_the_linker_learns_alone_while_the_host_stays(encoder, data):
    made = trainee(encoder, data)
    before = {n: p.clone() for n, p in encoder.model.named_parameters()}
    first = made.validate()["accuracy"]
    for place in range(made.bounds[1]):
        epoch_batches = made.batches(0)
        made.step(epoch_batches[place % len(epoch_batches)], place)
    changed = {n for n, p in encoder.model.named_parameters() if not torch.equal(p, before[n])}
    assert changed
    parts = {name.split(".")[2] for name in changed}
    assert all(name.startswith("grafts.2.") for name in changed)
    assert parts <= {"down", "pool", "entity", "spans", "score"}
    assert made.validate()["accuracy"] > max(first, 0.8)


def test_then_all_learns_but_the_entity_vectors(encoder, data, knowledge):
    made = trainee(encoder, data, QUICK.changed(linker_epochs=0, masked=0.5, epochs=4))
    table = knowledge._matrix.clone()
    before = {n: p.clone() for n, p in made.module.named_parameters()}
    kinds = set()
    for epoch in range(4):
        for batch in made.batches(epoch):
            losses = made.step(batch, 0)
            kinds |= losses.keys()
    assert kinds == {"loss", "words", "links.2"}
    still = [n for n, p in made.module.named_parameters() if torch.equal(p, before[n])]
    assert not [n for n in still if "pooler" not in n and "token_type" not in n]
    assert torch.equal(knowledge._matrix, table)


def test_without_knowledge_the_same_is_trained_as_a_plain_encoder(encoder, data):
    made = trainee(encoder, data, QUICK.changed(linker_epochs=0, masked=1.0), knowing=False)
    before = {n: p.clone() for n, p in encoder.model.grafts.named_parameters()}
    losses = [made.step(batch, place)["words"] for place, batch in enumerate(made.batches(0))]
    assert max(losses) > 0
    assert all(torch.equal(p, before[n]) for n, p in encoder.model.grafts.named_parameters())


def run(encoder, data, out, settings, stop=None):
    texts = notice(encoder, data, 2)
    done = []
    for epoch in train_graft(encoder, texts, out, valid=texts, settings=settings):
        done.append(epoch.number)
        if epoch.number == stop:
            break
    return done


def new(host_folder, knowledge):
    host = Encoder.load(host_folder, device="cpu", max_length=64)
    return GraftedEncoder(host, {2: knowledge}, settings={2: SETTINGS})


@pytest.mark.slow
@pytest.mark.parametrize("rank", [None, 2])
def test_a_training_that_is_stopped_goes_on_to_the_same_bits(
    host_folder, knowledge, data, tmp_path, rank
):
    short = QUICK.changed(linker_epochs=1, epochs=2, rank=rank)
    one, other = new(host_folder, knowledge), new(host_folder, knowledge)
    assert run(one, data, tmp_path / "whole", short) == [1, 2, 3]
    run(other, data, tmp_path / "parts", short, stop=2)
    again = new(host_folder, knowledge)
    assert run(again, data, tmp_path / "parts", short) == [3]
    files = [(tmp_path / name / "graft.safetensors").read_bytes() for name in ("whole", "parts")]
    assert files[0] == files[1]
    loaded = GraftedEncoder.from_pretrained(tmp_path / "whole", {2: knowledge})
    assert np.array_equal(loaded.encode(data.texts), one.encode(data.texts))
    MaskedHead.load(tmp_path / "whole", loaded)


def test_a_folder_that_is_there_is_not_overwritten(encoder, data, tmp_path):
    short = QUICK.changed(linker_epochs=0, epochs=1)
    run(encoder, data, tmp_path / "graft", short)
    with pytest.raises(BadInput, match="--overwrite"):
        run(encoder, data, tmp_path / "graft", short)


@pytest.mark.parametrize(
    ("name", "value"), [("epochs", -1), ("rank", 0), ("masked", 2.0), ("loss", "magic")]
)
def test_settings_that_make_no_sense_are_refused(name, value):
    with pytest.raises(BadInput):
        GraftSettings(**{name: value})


def test_which_text_follows_is_learned_where_documents_allow(encoder, data):
    documents = [str(number // 4) for number in range(len(data))]
    texts = notice(encoder, pair_texts(data, documents), 2)
    assert set(texts.follows.tolist()) <= {-1, 0, 1}
    assert (texts.follows >= 0).any()
    torch.manual_seed(1)
    settings = QUICK.changed(linker_epochs=0, masked=1.0)
    made = GraftTrainee(encoder, MaskedHead.of(encoder), texts, None, settings)
    before = made.module["next"].out.weight.clone()
    losses = [made.step(batch, place) for place, batch in enumerate(made.batches(0))]
    assert all(loss["loss"] == pytest.approx(loss["words"] + loss["next"]) for loss in losses)
    assert not torch.equal(made.module["next"].out.weight, before)


@pytest.mark.parametrize(("closed", "other"), [(False, "likelihood"), (True, "margin")])
def test_what_the_linker_learns_by_depends_on_the_knowledge(
    encoder, data, knowledge, monkeypatch, closed, other
):
    monkeypatch.setattr(knowledge, "closed", closed)
    losses = []
    for loss in (None, "margin", "likelihood"):
        made = trainee(encoder, data, GraftSettings(loss=loss, batch_tokens=64))
        drawn = torch.Generator().manual_seed(0)
        encoder.model.eval()
        losses.append(made._losses(made.batches(0)[0], drawn)["links.2"].item())
    assert losses[0] == (losses[2] if closed else losses[1])
    assert losses[0] != losses[("margin", "likelihood").index(other) + 1]


def test_names_that_only_one_entity_bears_may_count_as_marked(encoder, graph):
    data = annotate(graph, [("Paris, Texas and France", [])])
    batch = notice(encoder, data, 2, sure=True).mentions(np.arange(1))[2]
    known = {"Texas": "texas", "France": "france"}
    meant = batch.entity.gather(-1, batch.known.clamp_min(0)[..., None])[..., 0][batch.known >= 0]
    assert sorted(meant.tolist()) == sorted(graph.numbers_of(list(known.values())).tolist())
    assert (notice(encoder, data, 2).mentions(np.arange(1))[2].known < 0).all()


def test_where_marked_mentions_stay_known_they_are_masked_often(encoder, data):
    settings = QUICK.changed(linker_epochs=0, masked=1.0, told=1.0)
    made = trainee(encoder, data, settings)
    ids, _, mentions = read_batch(made.texts, np.arange(len(made.texts)))
    columns = made._often(ids, mentions) == 0.5
    tokenizer = encoder.tokenizer
    assert set(tokenizer.convert_ids_to_tokens(ids[columns].tolist())) == {"paris"}
    losses = [made.step(batch, place)["words"] for place, batch in enumerate(made.batches(0))]
    assert max(losses) > 0


def test_the_bottom_of_the_host_may_stay_as_it_is(encoder, data, tmp_path):
    before = {n: p.clone() for n, p in encoder.model.named_parameters()}
    run(encoder, data, tmp_path / "graft", QUICK.changed(linker_epochs=0, epochs=1, frozen=2))
    moved = {n for n, p in encoder.model.named_parameters() if not torch.equal(p, before[n])}
    assert all("layer.2." in n or n.startswith("grafts.") for n in moved)
    assert any("layer.2." in n for n in moved)


def test_texts_without_a_mention_teach_the_linker_nothing(encoder):
    texts = notice(encoder, ["nothing is mentioned here"] * 3, 2)
    made = GraftTrainee(encoder, MaskedHead.of(encoder), texts, None, QUICK)
    assert made.step(made.batches(0)[0], 0)["loss"] == 0


def test_without_knowledge_all_steps_are_on_masked_words(encoder, data):
    made = trainee(encoder, data, QUICK.changed(linker_epochs=1, epochs=2), knowing=False)
    assert made.bounds[1] == 0
    assert all(batch.masked for epoch in range(3) for batch in made.batches(epoch))


def test_nothing_to_learn_from_and_nothing_to_choose_by(encoder, data, tmp_path):
    with pytest.raises(BadInput, match="no text to learn from"):
        list(train_graft(encoder, notice(encoder, [], 2), tmp_path / "none"))
    texts, empty = notice(encoder, data, 2), notice(encoder, [], 2)
    short = QUICK.changed(linker_epochs=1, epochs=1)
    epochs = list(train_graft(encoder, texts, tmp_path / "one", valid=empty, settings=short))
    assert [epoch.figures for epoch in epochs] == [{}, {}]


def test_a_graft_may_be_written_as_it_begins(encoder, data, knowledge, tmp_path):
    texts = notice(encoder, data, 2)
    untrained = GraftSettings(linker_epochs=0, epochs=0)
    assert list(train_graft(encoder, texts, tmp_path / "graft", settings=untrained)) == []
    again = GraftedEncoder.from_pretrained(tmp_path / "graft", {2: knowledge})
    assert not (tmp_path / "graft" / "log.jsonl").exists()
    assert np.array_equal(again.encode(["Paris"]), encoder.encode(["Paris"]))


def test_a_head_that_was_begun_otherwise_makes_way(encoder, data, tmp_path):
    texts = notice(encoder, data, 2)
    short = QUICK.changed(linker_epochs=0, epochs=1)
    head = tmp_path / "graft.training" / "head"
    next(train_graft(encoder, texts, tmp_path / "graft", settings=short))
    (tmp_path / "graft.training" / "checkpoint.safetensors").unlink(missing_ok=True)
    assert (head / "checkpoint.safetensors").exists()
    other = short.changed(seed=1)
    with pytest.raises(BadInput, match="other settings"):
        list(train_graft(encoder, texts, tmp_path / "graft", settings=other))
    list(train_graft(encoder, texts, tmp_path / "graft", settings=other, overwrite=True))
    assert (tmp_path / "graft").exists()


def test_marks_outside_their_text_are_no_mentions(encoder, graph):
    marks = [{"start": s, "end": e, "entity": "texas"} for s, e in ((-3, 2), (4, 90), (3, 3))]
    found = notice(encoder, annotate(graph, [("so be it", marks), ("", [])]), 2, linked=True)
    assert (found.mentions(np.arange(len(found)))[2].known < 0).all()
