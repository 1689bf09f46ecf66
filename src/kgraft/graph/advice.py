"""Advice: what a graph lacks for linking and for asking, each with the command that helps."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kgraft.graph.folder import BUILT_IN
from kgraft.graph.graph import Graph

if TYPE_CHECKING:
    from kgraft.graph.profile import GraphProfile

ENOUGH_LABELS, ENOUGH_TEXTS, ENOUGH_ALIASES = 0.9, 0.5, 0.1  # shares of the entities
TOO_ISOLATED, TOO_LEAKY = 0.1, 0.01


def advise(graph: Graph, profile: GraphProfile) -> Iterator[str]:
    """Yield sentences on what would help, most basic first."""
    built_in = graph.folder.parent == BUILT_IN
    name = graph.folder.name if built_in else shlex.quote(str(graph.folder))
    yield from _on_texts(graph, profile, f"kgraft graph add {name} --from entities.jsonl --out NEW")
    yield from _on_triples(graph, profile, name)


def _on_texts(graph: Graph, profile: GraphProfile, add: str) -> Iterator[str]:
    shares = profile.shares
    if shares["label"] < ENOUGH_LABELS:
        yield (
            f"{1 - shares['label']:.0%} of the entities have no label but their id, so texts "
            f"cannot name them; add labels: {add}"
        )
    if shares["description"] < ENOUGH_TEXTS:
        yield (
            f"Only {shares['description']:.0%} of the entities have a description, by which "
            f"linking tells namesakes apart; add descriptions: {add}"
        )
    if shares["aliases"] < ENOUGH_ALIASES:
        yield (
            f"Only {shares['aliases']:.0%} of the entities have an alias, so other names for "
            f"them are not found in texts; add aliases: {add}"
        )
    if shares["types"] < ENOUGH_TEXTS:
        yield (
            f"Only {shares['types']:.0%} of the entities have a type, which questions such as "
            f"“which city …” need; add types: {add}"
        )
    if profile.names.ambiguous and graph.manifest.priors == "degree":
        yield (
            f"{profile.names.ambiguous:,} names mean several entities and none comes with "
            f"counts, so priors are guessed from degrees; add name_counts: {add}"
        )


def _on_triples(graph: Graph, profile: GraphProfile, name: str) -> Iterator[str]:
    add, split = f"kgraft graph add {name}", f"kgraft graph split {name} --out NEW"
    isolated = profile.degrees.isolated / max(profile.entities, 1)
    if isolated > TOO_ISOLATED:
        yield (
            f"{isolated:.0%} of the entities stand in no triple, so no question leads to them; "
            f"add facts: {add} --from triples.tsv --out NEW"
        )
    elif profile.largest_component < 0.5:
        yield (
            f"The largest connected part has {profile.largest_component:.0%} of the entities, so "
            "paths often end; join the graph with another: "
            f"kgraft graph merge {name} OTHER --match labels --out NEW"
        )
    if any(not relation.template for relation in graph.all_relations):
        yield (
            "Some relations have no template, so their facts are not said as sentences; add the "
            f"column template: {add} --from relations.jsonl --out NEW"
        )
    if profile.triples and profile.splits["train"] == profile.triples:
        yield (
            "No triples are held out, so a trained embedding cannot be measured; hold some out: "
            f"{split}"
        )
    if profile.leaking > TOO_LEAKY:
        yield (
            f"{profile.leaking:.0%} of the held-out triples are in train in other words, so "
            f"measured embeddings look too good; split again: {split}"
        )
