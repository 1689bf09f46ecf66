"""Knowledge of paths: what it changes, what it leaves alone, and that only it tells some things."""

import numpy as np
import pytest
import torch
from tests.graft.annotated import examples
from tests.graft.drawn_paths import ALL_COUNT, DrawnPaths
from tests.graph.tiny import RELATIONS, TRIPLES, build
from tests.threads import results_of_threads

from kgraft.corpus import annotate
from kgraft.errors import BadInput
from kgraft.graft import (
    GRAFTS,
    GraftedEncoder,
    GraftSettings,
    GraphKnowledge,
    PathKnowledge,
    attach,
    knowledge_off,
    locate_mentions,
    open_knowledge,
    record_grafts,
    train_graft,
)
from kgraft.graft.kinds.attention import KnowledgeAttention
from kgraft.text import Encoder

RELATED = ["Paris lies in France.", "Berlin borders France and Texas."]
UNRELATED = ["Paris is old.", "Tokyo and York", "nothing", ""]


@pytest.fixture(scope="module")
def paths(graph):
    return DrawnPaths(graph)


def grafted(host_folder, knowledge, kind="attention"):
    settings = {2: ALL_COUNT} if kind == "attention" else None
    host = Encoder.load(host_folder, device="cpu", max_length=64)
    return GraftedEncoder(host, {2: knowledge}, kind=kind, settings=settings)


@pytest.mark.parametrize("kind", ["attention", "entity"])
def test_without_paths_all_is_as_without_their_knowledge(host_folder, paths, knowledge, kind):
    plain, pathed = (grafted(host_folder, source, kind) for source in (knowledge, paths))
    for text in UNRELATED:
        assert np.array_equal(plain.encode([text]), pathed.encode([text]))
    for text in RELATED:
        assert not np.array_equal(plain.encode([text]), pathed.encode([text]))


@pytest.mark.parametrize("kind", ["attention", "entity", "relation"])
def test_the_off_switch_gives_the_host(host_folder, paths, kind):
    encoder, host = grafted(host_folder, paths, kind), Encoder.load(host_folder, device="cpu")
    host.model.eval()
    with knowledge_off(encoder.model):
        assert np.array_equal(encoder.encode(RELATED), host.encode(RELATED))
    assert not np.array_equal(encoder.encode(RELATED), host.encode(RELATED))


@pytest.mark.parametrize("kind", ["attention", "entity"])
def test_a_saved_graft_reads_paths_as_before(host_folder, paths, knowledge, kind, tmp_path):
    encoder = grafted(host_folder, paths, kind)
    encoder.save_pretrained(tmp_path)
    again = GraftedEncoder.from_pretrained(tmp_path, {2: paths})
    assert np.array_equal(again.encode(RELATED), encoder.encode(RELATED))
    with pytest.raises(BadInput):
        GraftedEncoder.from_pretrained(tmp_path, {2: knowledge})


@pytest.mark.slow
def test_an_opened_graft_opens_its_paths_again(graph, host_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAFT_CACHE", str(tmp_path / "cache"))
    knowledge = open_knowledge(graph.folder, kind="paths")
    assert type(knowledge) is PathKnowledge
    encoder = GraftedEncoder(Encoder.load(host_folder, device="cpu"), {2: knowledge})
    encoder.save_pretrained(tmp_path / "graft")
    again = GraftedEncoder.from_pretrained(tmp_path / "graft")
    assert np.array_equal(again.encode(RELATED), encoder.encode(RELATED))


@pytest.mark.slow
def test_a_stopped_training_resumes_to_the_same_bits(host_folder, paths, graph, tmp_path):
    short = GraftSettings(linker_epochs=1, epochs=2, batch_tokens=64, graft_rate=1e-2)
    data = annotate(graph, examples())

    def run(out, stop=None):
        encoder = grafted(host_folder, paths)
        before = encoder.grafts.at(2).paths.out.weight.clone()
        texts = locate_mentions(encoder, data, 2)
        for epoch in train_graft(encoder, texts, tmp_path / out, valid=texts, settings=short):
            if epoch.number == stop:
                return
        assert not torch.equal(before, encoder.grafts.at(2).paths.out.weight)

    run("whole")
    run("parts", stop=2)
    run("parts")
    files = [(tmp_path / name / "graft.safetensors").read_bytes() for name in ("whole", "parts")]
    assert files[0] == files[1]


def test_threads_read_paths_at_once(host_folder, graph):
    encoder = grafted(host_folder, DrawnPaths(graph))
    texts = [f"{name} is in France. " * (n + 1) for n, name in enumerate(["Paris", "Berlin"] * 4)]
    results = results_of_threads(lambda index: encoder.encode([texts[index]]))
    for text, vector in zip(texts, results, strict=True):
        assert np.array_equal(encoder.encode([text]), vector)


def test_held_out_facts_stay_hidden(tmp_path):
    split = [(*triple, "test" if triple[0] == "fr-paris" else "train") for triple in TRIPLES]
    graph = build_with_splits(tmp_path / "split", split)
    paths = DrawnPaths(graph)
    near, far = (np.array([graph.index(name)]) for name in ("fr-paris", "france"))
    assert len(paths.paths_between(near, far).pair) == 0
    near = np.array([graph.index("berlin")])
    assert len(paths.paths_between(near, far).pair) > 0


def build_with_splits(folder, rows):
    from kgraft.graph import Graph, build_graph, open_source

    source = folder.with_suffix(".source")
    source.mkdir()
    for name in ("train", "test"):
        lines = ["\t".join(row[:3]) for row in rows if row[3] == name]
        (source / f"{name}.tsv").write_text("\n".join(["head\trelation\ttail", *lines]) + "\n")
    build_graph(open_source(source), folder)
    return Graph.open(folder)


def test_a_kind_of_graft_that_reads_no_paths_is_refused(host_folder, paths, monkeypatch):
    class Blind(KnowledgeAttention):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            self.paths = None

    monkeypatch.setitem(GRAFTS._registered, "blind", Blind)
    with pytest.raises(BadInput, match="kind blind"):
        attach(Encoder.load(host_folder, device="cpu").model, {2: paths}, kind="blind")


# A task in which nothing but a path tells the class

PAIRS = 60
TEXT = "P{0} met Q{0} ."


@pytest.fixture(scope="module")
def chained(tmp_path_factory):
    """Pairs of entities; by which of two relations one gets to the other first is their class."""
    entities = [{"id": f"{kind}{n}", "label": f"{kind}{n}"} for kind in "PMQ" for n in range(PAIRS)]
    triples = []
    for n in range(PAIRS):
        first, second = ("borders", "lies in")[:: 1 if n % 2 else -1]
        triples += [(f"P{n}", first, f"M{n}"), (f"M{n}", second, f"Q{n}")]
    return build(tmp_path_factory.mktemp("chained") / "graph", triples, entities, RELATIONS)


def accuracy_on_new_pairs(host_folder, knowledge, kind):
    """Train the graft and a classifier of mentions on 40 pairs, and ask of the other 20."""
    encoder = grafted(host_folder, knowledge, kind)
    windows = locate_mentions(encoder, [TEXT.format(n) for n in range(PAIRS)], 2)
    classes = torch.arange(PAIRS) % 2
    torch.manual_seed(0)
    graft = encoder.grafts.at(2)
    head = torch.nn.Linear(2 * graft.mention_size, 2)
    optimiser = torch.optim.AdamW([*graft.parameters(), *head.parameters()], 5e-3)

    def logits(rows):
        ids, mask = map(torch.from_numpy, windows.padded(rows))
        with record_grafts() as record:
            encoder.read(ids, mask, knowledge=windows.mentions(rows))
        return head(record[2].mention_vectors.flatten(1))

    train, test = np.arange(40), np.arange(40, PAIRS)
    encoder.model.train()
    for _ in range(60):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(logits(train), classes[train]).backward()
        optimiser.step()
    encoder.model.eval()
    with torch.no_grad():
        return (logits(test).argmax(1) == classes[test]).float().mean().item()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["attention", "entity"])
def test_only_paths_tell_how_two_entities_are_related(chained, host_folder, kind):
    paths = DrawnPaths(chained)
    plain = GraphKnowledge(chained, paths.vectors)
    assert accuracy_on_new_pairs(host_folder, paths, kind) > 0.9
    assert accuracy_on_new_pairs(host_folder, plain, kind) < 0.75
