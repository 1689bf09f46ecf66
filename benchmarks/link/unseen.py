"""How well the shipped linker works as it is, on graphs and texts it was not trained on.

make bench-link.unseen
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.data import texts
from benchmarks.harness import ROOT, Benchmark, Goal, Run, shared_data
from benchmarks.link.baselines import alias_links, capitalised_links
from benchmarks.link.reliability import Judged, draw_reliability
from kgraft.corpus import AnnotatedTexts
from kgraft.graph import Mentions
from kgraft.link import LinkModel, LinkOptions, load_model
from kgraft.link.decode import choose_links
from kgraft.link.evaluate import score_texts
from kgraft.link.knowledge import Knowledge
from kgraft.link.reporting import calibration_error
from kgraft.link.score import compare, figures
from kgraft.storage import sha256

BENCHMARK = Benchmark(
    name="link_unseen",
    measures="the shipped linker on graphs and texts it was not trained on",
    minutes=9,
    data=(
        "corpus/wikipedia_linked.jsonl.gz",
        "extract",
        "fuse/dbp15k_fr_en",
        "graphs/hpo",
        "graphs/medic",
        "graphs/wikidata",
        "linking",
        "wordnet-3.0",
        "wsd",
    ),
)

PROTOCOL = """
The shipped linker as it is, no index, its default threshold; strong F1 (span and entity) unless a
name says otherwise. ncbi, bc5cdr: abstracts (dev) over MEDIC; hpo: 22 abstracts over the Human
Phenotype Ontology; neither graph nor texts were seen in training. Spans that are annotated without
an entity of the graph count neither as right nor as wrong. news: paragraphs of Re-DocRED that were
not in training, over the built-in graph; mentions are locations that are names of countries and
capitals; recall over them, precision over all links that touch no other location or nationality.
documents: REBEL openings (cased) and ten-sentence pieces of Wikipedia articles (lower-cased) that
were not in training, over graphs/wikidata; hyperlinks only are annotated, so that precision is
understated for all. wordnet: nouns of Senseval-2 over WordNet's nouns. dbpedia: hyperlinks of REBEL
openings whose entity has just this label in DBpedia; others do not count. alias: the longest names
without regard to case, likeliest entity; capitalised: the same, of names with capitals.
least_gain_over_alias: the worst difference to the alias baseline over these graphs. ece: expected
calibration error of the scores of all links above 0.2, ten bins; where only some mentions are
annotated (rebel, wikipedia, dbpedia), of links that touch an annotated mention, as nobody has
judged the others. coherence_gain: strong F1 with minus without the second pass, mean over ncbi,
bc5cdr, hpo, rebel, wikipedia and dbpedia, documents of more than 100 words; interval: 95 %, 1,000
resamples of the texts of each set. Noise, epochs and threshold of the link head were chosen on
other parts of these collections (REBEL, Wikipedia, DBpedia, news: choice splits; Senseval-3;
SimpleQuestions dev) and on training abstracts of ncbi and bc5cdr, never on hpo. Two linkers before
this one were measured on the test sets too; after that the second pass was limited to a choice
among namesakes, because it had lost F1 there, and the rule for the threshold went from the best
mean to the least regret: the figures are a little kind.
"""
GOALS: dict[str, Goal] = {
    "ncbi_f1": {"at_least": 0.65},
    "bc5cdr_f1": {"at_least": 0.70},
    "hpo_f1": {"at_least": 0.55},
    "news_country_recall": {"at_least": 0.95},
    "news_precision": {"at_least": 0.9},
    "documents_f1_gain": {"at_least": 0.15},
    "least_gain_over_alias": {"at_least": 0.0},
    "coherence_gain": {"at_least": 0.0},
}
SETS: dict[str, tuple[str, Callable[[Path], AnnotatedTexts]]] = {
    "ncbi": ("medic", lambda data: texts.abstracts(data, "ncbi-disease", "dev")),
    "bc5cdr": ("medic", lambda data: texts.abstracts(data, "bc5cdr-disease", "dev")),
    "hpo": ("hpo", lambda data: texts.abstracts(data, "gsc-hpo", "dev")),
    "news": ("world", lambda data: texts.news(data, "test")),
    "rebel": ("wikidata", lambda data: texts.rebel(data, "test")),
    "wikipedia": ("wikidata", lambda data: texts.wikipedia_documents(data, "test")),
    "wordnet": ("wordnet-nouns", lambda data: texts.senses(data, "senseval2")),
    "dbpedia": ("dbpedia", lambda data: texts.dbpedia(data, "test")),
}
PARTIAL = ("rebel", "wikipedia", "dbpedia")  # only some mentions are annotated
DOCUMENTS = ("ncbi", "bc5cdr", "hpo", "rebel", "wikipedia", "dbpedia")
LONG = 100  # words of a document
RESAMPLES = 1000
LEAST_SCORE = 0.2  # of a link whose calibration is judged
PICTURE = ROOT / "docs" / "link-calibration.svg"


def main() -> None:
    """Link all sets and record."""
    data = shared_data()
    if data is None:
        return
    model = load_model(sys.argv[1] if len(sys.argv) > 1 else None)
    judged: dict[str, Judged] = {}
    with BENCHMARK.run(
        protocol=PROTOCOL,
        data={"name": "linking", "sha256": sha256(data / "linking/ncbi-disease/dev.jsonl")},
        seeds=[0],
        goals=GOALS,
    ) as run:
        gains = [_record(run, name, model, data, judged) for name in SETS]
        run.figure("least_gain_over_alias", round(min(gains), 4))
        wikidata = ("rebel", "wikipedia")
        documents = np.mean([run.figures[f"{name}_f1"] for name in wikidata])
        baseline = np.mean([run.figures[f"{name}_capitalised_f1"] for name in wikidata])
        run.figure("documents_f1_gain", round(float(documents - baseline), 4))
        _record_coherence(run, model, data)
    draw_reliability(judged, PICTURE)  # when the state of the tree is recorded


def _record(run: Run, name: str, model: LinkModel, data: Path, judged: dict[str, Judged]) -> float:
    """Record the figures of one set, and return what the linker is ahead of the alias baseline.

    The scores that can be judged are put into `judged`.
    """
    graph_name, read = SETS[name]
    graph, gold = texts.open_graph(graph_name, data), read(data)
    knowledge = Knowledge.of(graph, model)
    knowledge.index = None
    scored = score_texts(model, knowledge, gold.texts)
    links = scored.select(choose_links(scored, model.config.threshold))
    values = judge(links, gold)
    run.figure(f"{name}_precision", round(values["strong_precision"], 4))
    run.figure(f"{name}_recall", round(values["strong_recall"], 4))
    run.figure(f"{name}_f1", round(values["strong_f1"], 4))
    run.figure(f"{name}_weak_f1", round(values["weak_f1"], 4))
    if name == "news":
        run.figure("news_country_recall", round(values["strong_recall"], 4))
    alias = judge(alias_links(graph, gold.texts), gold)["strong_f1"]
    capitalised = judge(capitalised_links(graph, gold.texts), gold)["strong_f1"]
    run.figure(f"{name}_alias_f1", round(alias, 4))
    run.figure(f"{name}_capitalised_f1", round(capitalised, 4))
    likely = scored.select(choose_links(scored, LEAST_SCORE))
    judged[name] = judge_scores(likely, gold, partial=name in PARTIAL)
    run.figure(f"{name}_ece", round(calibration_error(*judged[name]), 4))
    return values["strong_f1"] - alias


def judge(links: Mentions, gold: AnnotatedTexts) -> dict[str, float]:
    """Return precision, recall and F1 of links."""
    return figures(compare(links, gold), np.ones(len(links), bool))


def judge_scores(links: Mentions, gold: AnnotatedTexts, *, partial: bool) -> Judged:
    """Return the scores of the links that the annotation can judge, and which are right."""
    comparison = compare(links, gold)
    counted = ~comparison.ignored
    if partial:
        counted &= comparison.touches
    return links.score[links.best][counted], comparison.strong[counted]


def _record_coherence(run: Run, model: LinkModel, data: Path) -> None:
    """Record strong F1 with minus without the second pass, over documents of 100 words or more."""
    gains, resampled = [], []
    for name in DOCUMENTS:
        counts = _counts_by_pass(model, data, name)  # (2, N, 3)
        draw = np.random.default_rng(0)
        rows = draw.integers(counts.shape[1], size=(RESAMPLES, counts.shape[1]))
        drawn = [[_f1(one[row].sum(0)) for one in counts] for row in rows]
        resampled.append([with_pass - without for with_pass, without in drawn])
        gains.append(_f1(counts[0].sum(0)) - _f1(counts[1].sum(0)))
        run.figure(f"coherence_gain_{name}", round(gains[-1], 4))
    low, high = np.quantile(np.mean(resampled, axis=0), [0.025, 0.975])
    run.figure("coherence_gain", round(float(np.mean(gains)), 4))
    run.figure("coherence_gain_low", round(float(low), 4))
    run.figure("coherence_gain_high", round(float(high), 4))


def _counts_by_pass(model: LinkModel, data: Path, name: str) -> np.ndarray:
    """Return right links, links and mentions of each document, with and without the second pass."""
    graph_name, read = SETS[name]
    gold = read(data)
    gold = gold.select(np.flatnonzero([text.count(" ") >= LONG for text in gold.texts]))
    knowledge = Knowledge.of(texts.open_graph(graph_name, data), model)
    knowledge.index = None
    counts = []
    for coherence in (True, False):
        options = LinkOptions(coherence=coherence)
        scored = score_texts(model, knowledge, gold.texts, options=options)
        links = scored.select(choose_links(scored, model.config.threshold))
        counts.append(_counts_by_text(links, gold))
    return np.stack(counts)


def _counts_by_text(links: Mentions, gold: AnnotatedTexts) -> np.ndarray:
    """Return right links, links and mentions of each text, (N, 3)."""
    right = compare(links, gold).strong
    columns = [
        np.bincount(links.text, weights=right, minlength=len(gold)),
        np.bincount(links.text, minlength=len(gold)),
        np.bincount(gold.mentions.text, minlength=len(gold)),
    ]
    return np.stack(columns, axis=1)


def _f1(counts: np.ndarray) -> float:
    right, links, mentions = counts.tolist()
    return 2 * right / max(links + mentions, 1)


if __name__ == "__main__":
    main()
