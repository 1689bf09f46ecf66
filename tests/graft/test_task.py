"""A graft learns: first its linker alone, then all; and resumes where it was stopped."""

import numpy as np
import pytest
import torch
from tests.graft.annotated import examples
from tests.graft.conftest import SETTINGS

from kgraft.corpus import AnnotatedTexts, annotate
from kgraft.errors import BadInput
from kgraft.graft import GraftedEncoder, GraftSettings, locate_mentions, train_graft
from kgraft.graft.next_sentence import pair_texts
from kgraft.graft.task import GraftTask, read_batch
from kgraft.progress import Silent
from kgraft.text import Encoder, MaskedHead, MaskedTask

QUICK = GraftSettings(
    linker_epochs=30, epochs=2, linker_rate=1e-2, graft_rate=1e-3, batch_tokens=64, patience=50,
    linker_loss="likelihood",
)  # fmt: skip


@pytest.fixture
def data(graph):
    return annotate(graph, examples())


def new_task(encoder, data, settings=QUICK, **options):
    texts = locate_mentions(encoder, data, 2)
    torch.manual_seed(1)
    head = MaskedHead.of(encoder)
    return GraftTask(encoder, texts, texts, settings, head=head, **options)


@pytest.mark.slow
def test_the_linker_learns_alone_while_the_host_stays(encoder, data):
    made = new_task(encoder, data)
    before = {n: p.clone() for n, p in encoder.model.named_parameters()}
    first = made.validate()["accuracy"]
    for place in range(made.phases[0].last):
        epoch_batches = made.batches(0)
        made.step(epoch_batches[place % len(epoch_batches)], place)
    changed = {n for n, p in encoder.model.named_parameters() if not torch.equal(p, before[n])}
    assert changed
    parts = {name.split(".")[2] for name in changed}
    assert all(name.startswith("grafts.2.") for name in changed)
    assert parts <= {"down", "pool", "entity", "spans", "score"}
    assert made.validate()["accuracy"] > max(first, 0.8)


def test_then_all_learns_but_the_entity_vectors(encoder, data, knowledge):
    made = new_task(encoder, data, QUICK.replace(linker_epochs=0, masked_fraction=0.5, epochs=4))
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
    made = new_task(
        encoder, data, QUICK.replace(linker_epochs=0, masked_fraction=1.0), use_knowledge=False
    )
    before = {n: p.clone() for n, p in encoder.model.grafts.named_parameters()}
    losses = [made.step(batch, place)["words"] for place, batch in enumerate(made.batches(0))]
    assert max(losses) > 0
    assert all(torch.equal(p, before[n]) for n, p in encoder.model.grafts.named_parameters())


def run(encoder, data, out, settings, stop=None):
    texts = locate_mentions(encoder, data, 2)
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
def test_a_stopped_training_resumes_to_the_same_bits(host_folder, knowledge, data, tmp_path, rank):
    short = QUICK.replace(linker_epochs=1, epochs=2, rank=rank)
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
    short = QUICK.replace(linker_epochs=0, epochs=1)
    run(encoder, data, tmp_path / "graft", short)
    with pytest.raises(BadInput, match="--overwrite"):
        run(encoder, data, tmp_path / "graft", short)


@pytest.mark.parametrize(
    ("name", "value"),
    [("epochs", -1), ("rank", 0), ("masked_fraction", 2.0), ("linker_loss", "magic")],
)
def test_settings_that_make_no_sense_are_refused(name, value):
    with pytest.raises(BadInput):
        GraftSettings(**{name: value})


def test_which_text_follows_is_learned_where_documents_allow(encoder, data):
    documents = [str(number // 4) for number in range(len(data))]
    texts = locate_mentions(encoder, pair_texts(data, documents), 2)
    assert set(texts.follows.tolist()) <= {-1, 0, 1}
    assert (texts.follows >= 0).any()
    torch.manual_seed(1)
    settings = QUICK.replace(linker_epochs=0, masked_fraction=1.0)
    made = GraftTask(encoder, texts, None, settings, head=MaskedHead.of(encoder))
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
        made = new_task(encoder, data, GraftSettings(linker_loss=loss, batch_tokens=64))
        drawn = torch.Generator().manual_seed(0)
        encoder.model.eval()
        losses.append(made._losses(made.batches(0)[0], drawn)["links.2"].item())
    assert losses[0] == (losses[2] if closed else losses[1])
    assert losses[0] != losses[("margin", "likelihood").index(other) + 1]


def test_where_marked_mentions_stay_known_they_are_masked_often(encoder, data):
    settings = QUICK.replace(linker_epochs=0, masked_fraction=1.0, gold_fraction=1.0)
    made = new_task(encoder, data, settings)
    ids, _, mentions = read_batch(made.texts, np.arange(len(made.texts)))
    columns = made._mask_shares(ids, mentions) == 0.5
    tokenizer = encoder.tokenizer
    assert set(tokenizer.convert_ids_to_tokens(ids[columns].tolist())) == {"paris"}
    losses = [made.step(batch, place)["words"] for place, batch in enumerate(made.batches(0))]
    assert max(losses) > 0


def test_the_bottom_of_the_host_may_stay_as_it_is(encoder, data, tmp_path):
    before = {n: p.clone() for n, p in encoder.model.named_parameters()}
    run(
        encoder, data, tmp_path / "graft", QUICK.replace(linker_epochs=0, epochs=1, frozen_layers=2)
    )
    moved = {n for n, p in encoder.model.named_parameters() if not torch.equal(p, before[n])}
    assert all("layer.2." in n or n.startswith("grafts.") for n in moved)
    assert any("layer.2." in n for n in moved)


def test_texts_without_a_mention_teach_the_linker_nothing(encoder):
    texts = locate_mentions(encoder, ["nothing is mentioned here"] * 3, 2)
    made = GraftTask(encoder, texts, None, QUICK, head=MaskedHead.of(encoder))
    assert made.step(made.batches(0)[0], 0)["loss"] == 0


def test_without_knowledge_all_steps_are_on_masked_words(encoder, data):
    made = new_task(encoder, data, QUICK.replace(linker_epochs=1, epochs=2), use_knowledge=False)
    assert made.phases[0].last == 0
    assert all(batch.masked for epoch in range(3) for batch in made.batches(epoch))


def test_nothing_to_learn_from_and_nothing_to_choose_by(encoder, data, tmp_path):
    with pytest.raises(BadInput, match="no text to train on"):
        list(train_graft(encoder, locate_mentions(encoder, [], 2), tmp_path / "none"))
    texts, empty = locate_mentions(encoder, data, 2), locate_mentions(encoder, [], 2)
    short = QUICK.replace(linker_epochs=1, epochs=1)
    epochs = list(train_graft(encoder, texts, tmp_path / "one", valid=empty, settings=short))
    assert [epoch.figures for epoch in epochs] == [{}, {}]


def test_a_graft_may_be_written_as_it_begins(encoder, data, knowledge, tmp_path):
    texts = locate_mentions(encoder, data, 2)
    untrained = GraftSettings(linker_epochs=0, epochs=0)
    assert list(train_graft(encoder, texts, tmp_path / "graft", settings=untrained)) == []
    again = GraftedEncoder.from_pretrained(tmp_path / "graft", {2: knowledge})
    assert not (tmp_path / "graft" / "log.jsonl").exists()
    assert np.array_equal(again.encode(["Paris"]), encoder.encode(["Paris"]))


@pytest.mark.slow
def test_the_head_is_trained_first_and_resumes_to_the_same_bits(
    host_folder, knowledge, data, tmp_path, monkeypatch
):
    short = QUICK.replace(linker_epochs=0, epochs=1, masked_fraction=1.0, batch_tokens=2048)
    many = AnnotatedTexts.concat([data] * 40)  # of two batches

    def train(name):
        encoder = new(host_folder, knowledge)
        texts = locate_mentions(encoder, many, 2)
        epochs = train_graft(encoder, texts, tmp_path / name, settings=short)
        return [epoch.number for epoch in epochs]

    assert train("whole") == [1]
    step = MaskedTask.step

    def interrupted(task, batch, index):
        if index == 1:
            raise KeyboardInterrupt
        return step(task, batch, index)

    with monkeypatch.context() as patch:
        patch.setattr(MaskedTask, "step", interrupted)
        with pytest.raises(KeyboardInterrupt):
            train("parts")
    assert len(list((tmp_path / "parts.training").glob("head-*.training"))) == 1
    assert train("parts") == [1]
    for file in ("graft.safetensors", "head.safetensors"):
        assert (tmp_path / "whole" / file).read_bytes() == (tmp_path / "parts" / file).read_bytes()
    assert not (tmp_path / "parts.training").exists()


def test_a_head_of_other_settings_is_not_used(encoder, data, tmp_path):
    texts = locate_mentions(encoder, data, 2)
    settings = QUICK.replace(linker_epochs=0, epochs=1)
    folders = []
    for changed in (settings, settings.replace(seed=1)):
        task = GraftTask(encoder, texts, None, changed)
        task.set_up(tmp_path, Silent())
        folders.append({path.name for path in tmp_path.glob("head-*")})
    assert len(folders[0]) == 1
    assert len(folders[1]) == 2
