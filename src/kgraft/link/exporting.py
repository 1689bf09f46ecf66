"""Exporting a linker: the model with its fast form beside it, and what that costs."""

from __future__ import annotations

import shutil
from pathlib import Path

from kgraft.corpus import AnnotatedTexts
from kgraft.graph import Graph
from kgraft.link.evaluate import evaluate, score_texts
from kgraft.link.knowledge import Knowledge
from kgraft.link.model import LinkModel
from kgraft.link.onnx import AFFORDABLE, FILE, OnnxReader, export_model, record_cost
from kgraft.link.shipped import SHIPPED, load_model
from kgraft.storage import new_folder


def export_linker(
    graph: Graph,
    marked: AnnotatedTexts,
    out: Path,
    model: str | Path | None = None,
) -> dict[str, float | bool]:
    """Copy a model to a folder with its int8 form; return both F1 on annotated texts."""
    loaded = load_model(model)
    knowledge = Knowledge.of(graph, loaded)
    with new_folder(out, LinkModel.kind) as folder:
        shutil.copytree(model or SHIPPED, folder, dirs_exist_ok=True)
        export_model(loaded, folder)
        fast = OnnxReader(folder / FILE, loaded.longest)
        scores = []
        for reader in (loaded, fast):
            mentions = score_texts(loaded, knowledge, marked.texts, reader=reader)
            scores.append(evaluate(mentions, marked, loaded.config.threshold)["weak_f1"])
        cost = record_cost(folder, plain=scores[0], fast=scores[1])
    return {"weak_f1": scores[0], "int8_weak_f1": scores[1], "used": cost <= AFFORDABLE}
