"""`Rules`: mined rules in a folder, with the graph they came from and how they were mined."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from kgraft.arrow_files import write_table
from kgraft.columns import flat, numbers
from kgraft.errors import BadInput
from kgraft.graph import Graph
from kgraft.progress import Progress
from kgraft.reason.rules.aggregation import choose_aggregation
from kgraft.reason.rules.mine import mine_rules
from kgraft.reason.rules.rule_set import LONGEST, RuleSet
from kgraft.reason.rules.rule_source import RuleSource
from kgraft.reason.rules.settings import MiningSettings
from kgraft.settings import Settings, setting
from kgraft.storage import MODEL_MANIFEST, Kind, new_folder, refuse_existing
from kgraft.training import ModelManifest, Pretrained

logger = logging.getLogger("kgraft.reason")

_RULES, _RELATIONS, _CONSTANTS = "rules", "relations", "constants"
_COLUMNS = [field.name for field in fields(RuleSet) if field.name not in ("body", "pessimism")]


@dataclass(frozen=True)
class RulesConfig(Settings):
    """The graph that rules were mined from, and how many they are."""

    graph: str = setting("", "Name of the graph.")
    version: str = setting("", "Version of the graph.")
    rules: int = setting(0, "Rules.", (0, 1 << 62))
    pessimism: float = setting(5.0, "Added to the groundings of a body.", (0, 1000))


class Rules(Pretrained[RulesConfig]):
    """Rules with the ids of their relations and constants; `on` makes them a source of answers."""

    kind = Kind("rules folder", MODEL_MANIFEST)
    made_by = "kgraft reason mine"
    config_class = RulesConfig

    def __init__(
        self,
        config: RulesConfig,
        rule_set: RuleSet,
        relation_ids: list[str],
        constant_ids: pa.Array,
        *,
        aggregation: np.ndarray,
        cluster: np.ndarray,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        self.config, self.rule_set = config, rule_set  # constants are rows of `constant_ids`
        self.relation_ids, self.constant_ids = relation_ids, constant_ids
        self.aggregation, self.cluster = aggregation, cluster
        self.facts = dict(facts or {})  # how they were mined

    def __len__(self) -> int:
        return len(self.rule_set)

    @classmethod
    def of(cls, source: RuleSource, facts: Mapping[str, Any] | None = None) -> Rules:
        """Return the rules of a source, named by ids."""
        graph, rules = source.graph, source.rules
        manifest = graph.manifest
        used = np.unique(np.concatenate([[-1], rules.constant, rules.body_constant]))[1:]
        ids = flat(graph.entities["id"].take(pa.array(used))).cast(pa.large_string())
        return cls(
            RulesConfig(manifest.name, manifest.version, len(rules), rules.pessimism),
            _with_constants(rules, np.searchsorted(used, np.arange(len(graph) + 1)), -1),
            graph.relations["id"].to_pylist(),
            ids,
            aggregation=source.aggregation,
            cluster=source.cluster,
            facts=facts,
        )

    def on(self, graph: Graph) -> RuleSource:
        """Return the rules as a source for a graph: the one they are from, or a later version.

        Rules with relations or constants that the graph lacks are left out.
        """
        entity = np.append(graph.indices_of(self.constant_ids), -1)
        relation = self._relations_in(graph)
        rules = _with_relations(_with_constants(self.rule_set, entity, -2), relation, -2)
        lost = (rules.head == -2) | (rules.body == -2).any(1)
        lost |= (rules.constant == -2) | (rules.body_constant == -2)
        if lost.any():
            message = "%d of %d rules name relations or entities that %s lacks"
            logger.info(message, lost.sum(), len(rules), graph.manifest.name)
        aggregation = np.zeros(2 * len(graph.relations), np.int8)
        aggregation[relation[relation >= 0]] = self.aggregation[relation[:-1] >= 0]
        cluster = self.cluster[~lost]
        return RuleSource(graph, rules.take(~lost), aggregation=aggregation, cluster=cluster)

    def _relations_in(self, graph: Graph) -> np.ndarray:
        """Return the index of relations and inverses (2R + 1,) in a graph; the last is for none."""
        here = np.array([graph.relation_indices.get(i, -1) for i in self.relation_ids], np.int64)
        inverses = np.where(here < 0, -1, here + len(graph.relations))
        return np.concatenate([here, inverses, [-1]])

    def _write_files(self, folder: Path) -> None:
        columns = {name: getattr(self.rule_set, name) for name in _COLUMNS}
        columns |= {f"body_{i + 1}": self.rule_set.body[:, i] for i in range(LONGEST)}
        write_table(folder, _RULES, pa.table(columns | {"cluster": self.cluster}))
        forward, back = np.split(self.aggregation, 2)
        relations = {"id": pa.array(self.relation_ids, pa.large_string())}
        choices = {"aggregation": pa.array(forward), "aggregation_inverse": pa.array(back)}
        write_table(folder, _RELATIONS, pa.table(relations | choices))
        write_table(folder, _CONSTANTS, pa.table({"id": self.constant_ids}))

    @classmethod
    def _read_files(
        cls, folder: Path, config: RulesConfig, manifest: ModelManifest, **_context: Any
    ) -> Self:
        rules, relations, constants = (
            pa.ipc.open_file(str(folder / f"{name}.arrow")).read_all()
            for name in (_RULES, _RELATIONS, _CONSTANTS)
        )
        body = np.stack([numbers(rules[f"body_{i + 1}"]) for i in range(LONGEST)], axis=1)
        columns = {name: numbers(rules[name]) for name in _COLUMNS}
        rule_set = RuleSet(body=body, pessimism=config.pessimism, **columns)
        if len(rule_set) != config.rules:
            raise BadInput(f"{len(rule_set):,} rules instead of {config.rules:,}")
        both = [numbers(relations[name]) for name in ("aggregation", "aggregation_inverse")]
        return cls(
            config,
            rule_set,
            relations["id"].to_pylist(),
            flat(constants["id"]),
            aggregation=np.concatenate(both),
            cluster=numbers(rules["cluster"]),
            facts=manifest.facts,
        )


def mine_and_save(
    graph: Graph,
    out: str | Path,
    settings: MiningSettings | None = None,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Rules:
    """Mine rules, choose on the valid split how they are put together, and write them."""
    settings = settings or MiningSettings()
    refuse_existing(Path(out), Rules.kind, overwrite=overwrite)
    mined = mine_rules(graph, settings, progress)
    source = choose_aggregation(graph, mined.rules, seed=settings.seed, progress=progress)
    rules = Rules.of(source, {**mined.facts(), "settings": settings.to_dict()})
    with new_folder(Path(out), Rules.kind, overwrite=overwrite) as folder:
        rules.save_pretrained(folder, facts=rules.facts)
    return rules


def _with_constants(rules: RuleSet, index: np.ndarray, lost: int) -> RuleSet:
    """Return the rules with other indices of entities; what has none becomes `lost`."""
    constant = _renumber(rules.constant, index, lost)
    return replace(
        rules, constant=constant, body_constant=_renumber(rules.body_constant, index, lost)
    )


def _with_relations(rules: RuleSet, index: np.ndarray, lost: int) -> RuleSet:
    """Return the rules with other indices of relations; what has none becomes `lost`."""
    head, body = _renumber(rules.head, index, lost), _renumber(rules.body, index, lost)
    return replace(rules, head=head, body=body)


def _renumber(column: np.ndarray, index: np.ndarray, lost: int) -> np.ndarray:
    """Return the new index of each entry; −1 stays, and what has none becomes `lost`."""
    new = index[np.maximum(column, 0)]
    return np.where(column < 0, -1, np.where(new < 0, lost, new)).astype(np.int32)
