"""Put a trained linker into the package: its threshold, its figures, its card.

    python -m tools.ship_linker build/linker

The threshold is one of little regret: a graph of a user may be like any of those at hand, so the
largest loss of F1 against the best threshold of each set is to be as small as it can. Of those that
are as good, it is the lowest: what is linked can be left out by its score, what is not is not seen.
The sets are neither for training nor for judging: documents, questions, news and sense-tagged text.
MEDIC and HPO have no part in it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from benchmarks.harness import shared_data

from benchmarks.data import texts
from kgraft.corpus import AnnotatedTexts
from kgraft.link import LinkModel
from kgraft.link.evaluate import THRESHOLDS, evaluate, score_texts
from kgraft.link.knowledge import Knowledge
from kgraft.link.model import WEIGHTS
from kgraft.link.shipped import SHIPPED
from tools.train_linker import SETTINGS

CARD = Path(__file__).with_name("linker_card.md")
MOST = 120  # texts of a set
AS_GOOD = 0.005  # of F1
SETS: dict[str, tuple[str, bool, Callable[[Path], AnnotatedTexts]]] = {
    "documents": ("wikidata", True, lambda data: texts.rebel(data, "choice")),
    "questions": ("wikidata", True, lambda data: texts.simple_questions(data, "dev")),
    "news": ("world", False, lambda data: texts.news(data, "choice")),
    "senses": ("wordnet-nouns", False, lambda data: texts.senses(data, "senseval3")),
    "titles": ("dbpedia", True, lambda data: texts.dbpedia(data, "choice")),
}


def main() -> None:
    """Choose the threshold and write the linker into the package."""
    data, model = shared_data(), LinkModel.from_pretrained(sys.argv[1])
    if data is None:
        return
    curves = {name: _curve(model, data, name) for name in SETS}
    row = _little_regret(np.array(list(curves.values())))
    threshold = float(THRESHOLDS[row])
    model.config = model.config.replace(threshold=round(threshold, 2))
    chosen = {name: round(float(curve[row]), 3) for name, curve in curves.items()}
    shipped_card = SHIPPED / "README.md"
    shipped_card.unlink(missing_ok=True)  # it may be edited: the manifest holds no checksum of it
    model.save_pretrained(SHIPPED, facts={"settings": SETTINGS.to_dict(), "figures": chosen})
    print(json.dumps({"threshold": model.config.threshold, **chosen}))
    shown = ", ".join(f"{name} {value:.3f}" for name, value in chosen.items())
    size = (SHIPPED / WEIGHTS).stat().st_size / 1e6
    card = CARD.read_text(encoding="utf-8").format(
        settings=SETTINGS, threshold=threshold, figures=shown, size=size
    )
    shipped_card.write_text(card, encoding="utf-8")


def _little_regret(curves: np.ndarray) -> int:
    """Return the first column of sets × thresholds whose largest loss is as good as the least.

    The loss is that against the best threshold of a set.
    """
    regret = (curves.max(axis=1, keepdims=True) - curves).max(axis=0)
    return int(np.argmax(regret <= regret.min() + AS_GOOD))


def _curve(model: LinkModel, data: Path, name: str) -> np.ndarray:
    """Return strong F1 at each threshold."""
    graph_name, partial, read = SETS[name]
    gold = read(data)
    gold = gold.select(np.arange(min(MOST, len(gold))))
    knowledge = Knowledge.of(texts.open_graph(graph_name, data), model)
    knowledge.index = None
    scored = score_texts(model, knowledge, gold.texts)
    values = (evaluate(scored, gold, float(t), partial=partial) for t in THRESHOLDS)
    return np.array([value["strong_f1"] for value in values])


if __name__ == "__main__":
    main()
