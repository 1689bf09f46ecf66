"""What annotated texts, or the graph alone, add to the shipped linker: diseases over MEDIC.

make bench-link.adapt
"""

from __future__ import annotations

import numpy as np

from benchmarks.data import texts
from benchmarks.harness import WORK, Benchmark, Goal, shared_data
from benchmarks.link.unseen import judge
from kgraft.corpus import AnnotatedTexts
from kgraft.graph import Graph
from kgraft.link import LinkModel, LinkSettings, adapt_linker, load_model, read_adaptation
from kgraft.link.decode import choose_links
from kgraft.link.evaluate import score_texts
from kgraft.link.knowledge import Knowledge
from kgraft.storage import sha256

BENCHMARK = Benchmark(
    name="link_adapt",
    measures="what annotated texts, or the graph alone, add to the shipped linker",
    minutes=65,
    data=("graphs/medic", "linking/ncbi-disease"),
)

EPOCHS = {20: 8, 100: 8, 592: 6}  # by the number of abstracts
SETTINGS = LinkSettings(patience=3, fully_annotated=True)
UNANNOTATED = LinkSettings(epochs=1)
PROTOCOL = """
kgraft link train on MEDIC with 20, 100 and all 592 annotated abstracts of the NCBI disease corpus
(train), at most 8, 8 and 6 epochs, with the index of MEDIC; a tenth of them is held out to choose
state and threshold; strong F1 on its dev split, which is looked at once per model. What the
abstracts call a disease is a name of it from then on. ncbi_f1_tuned is that of all 592.
graph_alone: no annotated text, 4,000 sentences made from the graph's own facts and descriptions, a
tenth of which is held out; weak F1 on those before and after, and strong F1 on dev; trained weights
are kept only if they help there by more than two standard errors.
"""
GOALS: dict[str, Goal] = {"ncbi_f1_tuned": {"at_least": 0.85}}


def main() -> None:
    """Train with more and more abstracts, and record."""
    data = shared_data()
    if data is None:
        return
    graph = texts.open_graph("medic", data)
    train, dev = (texts.abstracts(data, "ncbi-disease", split) for split in ("train", "dev"))
    path = data / "linking" / "ncbi-disease" / "dev.jsonl"
    with BENCHMARK.run(
        protocol=PROTOCOL,
        data={"name": "ncbi-disease", "sha256": sha256(path)},
        seeds=[SETTINGS.seed],
        goals=GOALS,
    ) as run:
        run.figure("ncbi_f1_shipped", round(_strong_f1(load_model(), graph, dev), 4))
        for size, epochs in EPOCHS.items():
            part = train.select(np.arange(size))
            model = _adapted(f"ncbi-{size}", graph, part, SETTINGS.replace(epochs=epochs))[0]
            name = "ncbi_f1_tuned" if size == len(train) else f"ncbi_f1_{size}"
            run.figure(name, round(_strong_f1(model, graph, dev), 4))
        model, before, after = _adapted("medic-alone", graph, None, UNANNOTATED)
        run.figure("graph_alone_before", round(before, 4))
        run.figure("graph_alone_after", round(after, 4))
        run.figure("ncbi_f1_graph_alone", round(_strong_f1(model, graph, dev), 4))


def _adapted(
    name: str, graph: Graph, data: AnnotatedTexts | None, settings: LinkSettings
) -> tuple[LinkModel, float, float]:
    """Return the adapted model, trained now if it is not there, and its F1 before and after."""
    base = load_model()
    out = WORK / f"linker-{name}-{base.digest()}"
    if not out.exists():
        learnt, valid = (None, None) if data is None else data.hold_out()
        for epoch in adapt_linker(graph, base, out, texts=learnt, valid=valid, settings=settings):
            shown = {name: round(value, 4) for name, value in epoch.figures.items()}
            print(f"{name}, part {epoch.number}, {epoch.seconds / 60:.1f} min: {shown}", flush=True)
    outcome = read_adaptation(out)
    return load_model(out), outcome.before["weak_f1"], outcome.after["weak_f1"]


def _strong_f1(model: LinkModel, graph: Graph, gold: AnnotatedTexts) -> float:
    knowledge = Knowledge.of(graph, model)
    if knowledge.index is None:
        knowledge.build_index()
    scored = score_texts(model, knowledge, gold.texts)
    return judge(scored.select(choose_links(scored, model.config.threshold)), gold)["strong_f1"]


if __name__ == "__main__":
    main()
