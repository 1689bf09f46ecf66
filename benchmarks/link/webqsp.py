"""How well questions are linked: WebQSP over 110,992 entities of Wikidata.

make bench-link.webqsp
"""

from __future__ import annotations

import numpy as np

from benchmarks.data import texts
from benchmarks.harness import WORK, Benchmark, Goal, Run, shared_data
from benchmarks.link.baselines import alias_links, capitalised_links
from benchmarks.link.unseen import judge
from benchmarks.peers.spacy import spacy_links
from kgraft.corpus import AnnotatedTexts
from kgraft.graph import Graph
from kgraft.link import LinkModel, LinkOptions, LinkSettings, adapt_linker, load_model
from kgraft.link.decode import choose_links
from kgraft.link.evaluate import best_threshold, score_texts
from kgraft.link.knowledge import Knowledge
from kgraft.storage import sha256

BENCHMARK = Benchmark(
    name="link_webqsp",
    measures="linking questions of WebQSP, shipped and fine-tuned, against spaCy and others",
    minutes=20,
    data=("graphs/wikidata", "linking/webqsp"),
)

SETTINGS = LinkSettings(epochs=10, patience=3, learning_rate=3e-4)
PROTOCOL = """
Test questions of WebQSP against graphs/wikidata. Weak: the right entity and overlapping spans;
strong: the same span. Mentions whose entity the graph lacks count as missed. zero_shot: the shipped
linker, which saw no question of WebQSP and no text made from graphs/wikidata (its questions are
those of SimpleQuestions, none of which is in WebQSP), at its default threshold. Fine-tuned: the
shipped linker trained on the train split, state and threshold chosen on dev, whose annotation is
partial: links of proper names that touch no annotated mention do not count there. Both with the
index of the encoder; names_only: fine-tuned without it. elq: ELQ's own decoding, log p(entity |
mention) + log p(mention) above a threshold chosen on dev, of the fine-tuned model. alias,
capitalised: see benchmarks/link/baselines.py. spacy: its named-entity recogniser and EntityLinker
trained on the same split, with the same names and entity vectors.
"""
GOALS: dict[str, Goal] = {
    "webqsp_weak_f1": {"at_least": 0.91},
    "webqsp_strong_f1": {"at_least": 0.88},
    "webqsp_zero_shot_weak_f1": {"at_least": 0.84},
}


def main() -> None:
    """Train, link and record."""
    data = shared_data()
    if data is None:
        return
    graph = texts.open_graph("wikidata", data)
    train, dev, test = (texts.webqsp(data, split) for split in ("train", "dev", "test"))
    path = data / "linking" / "webqsp" / "test.jsonl"
    with BENCHMARK.run(
        protocol=PROTOCOL,
        data={"name": "webqsp", "sha256": sha256(path)},
        seeds=[SETTINGS.seed],
        goals=GOALS,
    ) as run:
        shipped = load_model()
        knowledge = Knowledge.of(graph, shipped)
        if knowledge.index is None:
            knowledge.build_index()
        _record(run, "webqsp_zero_shot", shipped, knowledge, test)
        tuned = fine_tuned(graph, train, dev)
        knowledge = Knowledge.of(graph, tuned)
        _record(run, "webqsp", tuned, knowledge, test)
        without = LinkOptions(by_meaning=False)
        _record(run, "webqsp_names_only", tuned, knowledge, test, without)
        _record_elq(run, tuned, knowledge, dev, test)
        for name, baseline in (("alias", alias_links), ("capitalised", capitalised_links)):
            values = judge(baseline(graph, test.texts), test)
            run.figure(f"webqsp_{name}_weak_f1", round(values["weak_f1"], 4))
        peer = judge(spacy_links(graph, train, dev, test), test)
        run.figure("webqsp_spacy_weak_f1", round(peer["weak_f1"], 4))


def fine_tuned(graph: Graph, train: AnnotatedTexts, dev: AnnotatedTexts) -> LinkModel:
    """Return the model trained on the train split, trained now if it is not there."""
    base = load_model()
    out = WORK / f"linker-webqsp-{base.digest()}"
    if not out.exists():
        for epoch in adapt_linker(graph, base, out, texts=train, valid=dev, settings=SETTINGS):
            shown = {name: round(value, 4) for name, value in epoch.figures.items()}
            print(f"part {epoch.number}, {epoch.seconds / 60:.1f} min: {shown}", flush=True)
    return load_model(out)


def _record(
    run: Run,
    name: str,
    model: LinkModel,
    knowledge: Knowledge,
    test: AnnotatedTexts,
    options: LinkOptions | None = None,
) -> None:
    scored = score_texts(model, knowledge, test.texts, options=options)
    links = scored.select(choose_links(scored, model.config.threshold))
    for figure, value in judge(links, test).items():
        run.figure(f"{name}_{figure}", round(value, 4))
    run.figure(f"{name}_threshold", model.config.threshold)


def _record_elq(
    run: Run, model: LinkModel, knowledge: Knowledge, dev: AnnotatedTexts, test: AnnotatedTexts
) -> None:
    options = LinkOptions(decoding="elq")
    chosen = best_threshold(
        score_texts(model, knowledge, dev.texts, options=options), dev, partial=True
    )
    scored = score_texts(model, knowledge, test.texts, options=options)
    links = scored.select(choose_links(scored, chosen["threshold"]))
    run.figure("webqsp_elq_weak_f1", round(judge(links, test)["weak_f1"], 4))
    run.figure("webqsp_elq_log_threshold", round(float(np.log(chosen["threshold"])), 4))


if __name__ == "__main__":
    main()
