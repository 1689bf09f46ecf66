"""Blank nodes that are structure, and links to pages: nodes of RDF that are not entities.

A blank node without a name and with one owner is a part of it: what is said about the node is said
about the owner. The items of a list belong to whoever has the list; a restriction (`onProperty p,
someValuesFrom C`) says that its owner is related by p to C.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgraft.columns import flat, numbers
from kgraft.graph.adjacency import TripleArrays
from kgraft.graph.batches import Refusals
from kgraft.graph.iri_names import PREFIXES, short_iri
from kgraft.graph.literals import LINK, LiteralTables, make_tables
from kgraft.graph.write import Content

BlankNodes = Literal["fold", "keep", "drop"]
BLANK_NODES: tuple[BlankNodes, ...] = ("fold", "keep", "drop")

RDF, OWL, RDFS = PREFIXES["rdf"], PREFIXES["owl"], PREFIXES["rdfs"]
FOAF = PREFIXES["foaf"]
_LIST = (f"{RDF}first", f"{RDF}rest")
_ON_PROPERTY = f"{OWL}onProperty"
_FILLERS = tuple(
    f"{OWL}{name}" for name in ("someValuesFrom", "allValuesFrom", "hasValue", "onClass")
)
_MEMBERS = tuple(f"{OWL}{name}" for name in ("unionOf", "intersectionOf", "oneOf"))
_PAGES = frozenset(
    [
        *(f"{FOAF}{name}" for name in ("homepage", "page", "mbox", "weblog", "phone")),
        *(f"{FOAF}{name}" for name in ("workplaceHomepage", "schoolHomepage", "isPrimaryTopicOf")),
        f"{RDFS}seeAlso",
        *(f"{schema}url" for schema in ("http://schema.org/", "https://schema.org/")),
        "http://usefulinc.com/ns/doap#homepage",
        f"{PREFIXES['dcat']}landingPage",
    ]
)
_ADDRESS = r"^(?:mailto|tel):"
_PAGE = r"^https?://"
_DEEPEST = 10_000  # steps from a blank node to its owner, as in the longest list
_NESTED = 100  # class expressions in one another
_NAMED = 8  # kinds that are counted by name


def tidy(
    content: Content, refusals: Refusals, *, blank_nodes: BlankNodes, since: tuple[int, int]
) -> Content:
    """Return the content without structural blank nodes and links among its entities.

    Only entities from number `since[0]` on are looked at; the others were there before.
    """
    used = np.zeros(len(content.relations), bool)
    used[content.triples.relation] = True
    used[: since[1]] = False
    links = _links(content, since[0])
    content = links_as_literals(content, links) if links.any() else content
    if blank_nodes != "keep":
        content = _without_blank_nodes(content, refusals, blank_nodes, since[0])
    return _without_relations(content, used)


def _without_blank_nodes(
    content: Content, refusals: Refusals, blank_nodes: BlankNodes, since: int
) -> Content:
    blank = numbers(pc.starts_with(content.entities["id"], "_:")).copy()
    blank[:since] = False
    if not blank.any():
        return content
    if blank_nodes == "drop":
        _left_out(content, blank, refusals, "blank nodes")
        return _without(content, blank)
    return _folded(content, blank, refusals)


def _without(content: Content, gone: np.ndarray) -> Content:
    """Return the content without some entities."""
    facts = content.triples
    kept = facts.take(~(gone[facts.head] | gone[facts.tail]))
    entity = _new_numbers(gone)
    head, tail = (entity[end].astype(np.int32) for end in (kept.head, kept.tail))
    relations = np.arange(len(content.relations))
    return Content(
        content.entities.filter(pa.array(~gone)),
        content.relations,
        TripleArrays(head, kept.relation, tail, kept.split),
        content.literals.reindexed(entity, relations),
    )


def _without_relations(content: Content, used: np.ndarray) -> Content:
    """Return the content without the relations that were used and are so no longer."""
    facts, literals = content.triples, content.literals
    gone = np.zeros(len(content.relations), bool)
    gone[: len(used)] = used
    gone[facts.relation] = False
    gone[-1 - literals.entity[literals.entity < 0]] = False
    if not gone.any():
        return content
    relation = _new_numbers(gone)
    entities = np.arange(len(content.entities))
    return Content(
        content.entities,
        content.relations.filter(pa.array(~gone)),
        TripleArrays(
            facts.head, relation[facts.relation].astype(np.int32), facts.tail, facts.split
        ),
        literals.reindexed(entities, relation),
    )


def _new_numbers(gone: np.ndarray) -> np.ndarray:
    """Return the new number of each row, -1 for those that are gone."""
    return np.where(gone, -1, np.cumsum(~gone) - 1)


def _left_out(content: Content, gone: np.ndarray, refusals: Refusals, reason: str) -> None:
    """Count what is said about or leads to some nodes, by relation, the most frequent by name."""
    facts = content.triples
    lost = facts.relation[gone[facts.head] | gone[facts.tail]]
    ids = content.relations["id"]
    count_by_name(refusals, reason, np.bincount(lost, minlength=len(ids)), lambda r: ids[r].as_py())
    entity = content.literals.entity
    of = np.flatnonzero(entity >= 0)
    rows = of[gone[entity[of]]]
    properties = content.literals.properties["id"]
    counts = np.bincount(
        numbers(content.literals.literals["property"])[rows], minlength=len(properties)
    )
    count_by_name(refusals, f"values of {reason}", counts, lambda p: properties[p].as_py())


def count_by_name(
    refusals: Refusals, reason: str, counts: np.ndarray, name: Callable[[int], str]
) -> None:
    """Count what is left out by predicate: the most frequent by name, the rest together."""
    order = np.argsort(-counts, kind="stable")
    for row in order[:_NAMED].tolist():
        if counts[row]:
            refusals.leave_out(f"{reason}: {short_iri(name(row))}", int(counts[row]))
    rest = int(counts[order[_NAMED:]].sum())
    if rest:
        refusals.leave_out(f"{reason}: other predicates", rest)


@dataclass(frozen=True)
class _Owners:
    """What leads to each folded node, and the first node above it that is not folded."""

    entity: np.ndarray  # (entities,) itself where it is not folded, -1 in a circle
    parent: np.ndarray  # (entities,) itself where it is not folded
    relation: np.ndarray  # (entities,) from the parent, -1 where it is not folded


def _folded(content: Content, blank: np.ndarray, refusals: Refusals) -> Content:
    """Fold the blank nodes with one owner into it; leave those out that nothing leads to."""
    facts, count = content.triples, len(content.entities)
    named = numbers(pc.not_equal(content.entities["label"], content.entities["id"]))
    blank = blank & ~named
    pairs = np.unique(np.stack([facts.tail, facts.head], axis=1)[blank[facts.tail]], axis=0)
    owners = np.bincount(pairs[:, 0], minlength=count)
    alone = blank & (owners == 0)
    folded = blank & (owners == 1)
    owner = _owners(facts, folded)
    lost = folded & (owner.entity < 0)  # circles of blank nodes
    alone |= lost | (folded & alone[np.maximum(owner.entity, 0)])
    folded &= ~alone
    _left_out(content, alone, refusals, "blank nodes without an owner")
    content = _move(content, folded, alone, owner, refusals)
    return _without(content, folded | alone)


def _owners(facts: TripleArrays, folded: np.ndarray) -> _Owners:
    """Follow each folded node to the first node that is not, by doubling steps."""
    parent = np.arange(len(folded))
    relation = np.full(len(folded), -1, np.int64)
    rows = np.flatnonzero(folded[facts.tail])[::-1]  # of several the first wins
    parent[facts.tail[rows]] = facts.head[rows]
    relation[facts.tail[rows]] = facts.relation[rows]
    owner = _followed(parent, folded)
    return _Owners(np.where(folded[owner], -1, owner), parent, relation)


def _followed(parent: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """Return where each node ends that goes to its parent as long as it moves."""
    end = np.where(moves, parent, np.arange(len(parent)))
    for _ in range(_DEEPEST.bit_length()):
        if not moves[end].any():
            break
        end = end[end]
    return end


def _meanings(owner: _Owners, restricted: np.ndarray, ids: pa.ChunkedArray) -> np.ndarray:
    """Return by which relation the owner of each folded node is related to what it stands for.

    The cells of a list stand for what the whole list does; the fillers of a restriction, and the
    members of a union of such, are related to the owner by the property.
    """
    none = np.append(np.zeros(len(ids), bool), False)  # the last for relation -1
    rest, filler, member = none.copy(), none.copy(), none.copy()
    rest[:-1], filler[:-1] = _is_one_of(ids, _LIST[1:]), _is_one_of(ids, _FILLERS)
    member[:-1] = _is_one_of(ids, _MEMBERS)
    first = _followed(owner.parent, rest[owner.relation])
    parent, meaning = owner.parent[first], owner.relation[first]
    through = filler[meaning] & (restricted[parent] <= -2)
    meaning = np.where(through, restricted[parent], meaning)
    return _through_unions(meaning, parent, member[owner.relation[first]])


def _through_unions(meaning: np.ndarray, parent: np.ndarray, member: np.ndarray) -> np.ndarray:
    """Give the members of unions what the union means, where that is a restricted property."""
    for _ in range(_NESTED):
        inner = member & (meaning[parent] <= -2) & (meaning != meaning[parent])
        if not inner.any():
            break
        meaning = np.where(inner, meaning[parent], meaning)
    return meaning


def _move(
    content: Content, folded: np.ndarray, gone: np.ndarray, owner: _Owners, refusals: Refusals
) -> Content:
    """Return the content with what is said about folded nodes said about their owners."""
    facts = content.triples
    ids = content.relations["id"]
    inside = folded[facts.head]
    restricted, properties = _restrictions(facts, ids, len(folded))
    meaning = _meanings(owner, restricted, ids)
    fillers = inside & _are_fillers(facts, ids, restricted)
    relation = _owner_relations(facts, ids, inside, meaning)
    relation[fillers] = restricted[facts.head[fillers]]
    relations, index = _with_relations(content, properties)
    relation = _resolved(relation, index)
    keep = (relation >= 0) & _are_kept(content, folded, gone, fillers)
    head = np.where(inside, owner.entity[facts.head], facts.head)
    moved = replace(facts, head=head.astype(np.int32), relation=relation.astype(np.int32))
    content = replace(content, relations=relations, triples=moved.take(keep))
    return _moved_literals(content, folded, owner, _resolved(meaning, index), refusals)


def _are_fillers(facts: TripleArrays, ids: pa.ChunkedArray, restricted: np.ndarray) -> np.ndarray:
    """Return which triples say what a restriction restricts its property to."""
    return _is_one_of(ids, _FILLERS)[facts.relation] & (restricted[facts.head] <= -2)


def _are_kept(
    content: Content, folded: np.ndarray, gone: np.ndarray, fillers: np.ndarray
) -> np.ndarray:
    """Return which triples lead to an entity that stays, from one that stays or is folded."""
    facts = content.triples
    ends_stay = ~(folded | gone)[facts.tail] & ~gone[facts.head]
    return ends_stay & ~_is_plumbing(content, folded[facts.head], fillers)


def _owner_relations(
    facts: TripleArrays, ids: pa.ChunkedArray, inside: np.ndarray, meaning: np.ndarray
) -> np.ndarray:
    """Return the relation of each triple; the items of a list get that which led to the list."""
    relation = facts.relation.astype(np.int64)
    of_list = inside & _is_one_of(ids, _LIST)[facts.relation]
    relation[of_list] = meaning[facts.head[of_list]]
    return relation


def _is_plumbing(content: Content, inside: np.ndarray, fillers: np.ndarray) -> np.ndarray:
    """Return which triples of folded nodes only build a restriction, or end a list."""
    facts, ids = content.triples, content.relations["id"]
    of_restriction = _is_one_of(ids, (_ON_PROPERTY, f"{OWL}onClass"))[facts.relation] & ~fillers
    nil = _is_one_of(content.entities["id"], (f"{RDF}nil",))
    return inside & (of_restriction | nil[facts.tail])


def _is_one_of(ids: pa.ChunkedArray, names: tuple[str, ...]) -> np.ndarray:
    return numbers(pc.is_in(ids, pa.array(names, pa.string())))


def _restrictions(
    facts: TripleArrays, ids: pa.ChunkedArray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return for each entity -2 - the place of the property it restricts, and those properties."""
    rows = np.flatnonzero(_is_one_of(ids, (_ON_PROPERTY,))[facts.relation])
    restricted = np.full(count, -1, np.int64)
    properties, position = np.unique(facts.tail[rows], return_inverse=True)
    restricted[facts.head[rows]] = -2 - position
    return restricted, properties


def _resolved(relation: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Return relations with the index of a restricted property in place of -2 - its place."""
    is_property = relation <= -2
    resolved = relation.copy()
    resolved[is_property] = index[-2 - relation[is_property]]
    return resolved


def _with_relations(content: Content, entities: np.ndarray) -> tuple[pa.Table, np.ndarray]:
    """Return the relations with some entities among them, and the number of each of those."""
    relations = content.relations
    if not len(entities):
        return relations, np.zeros(0, np.int64)
    wanted = content.entities.take(pa.array(entities))
    position = pc.index_in(wanted["id"], relations["id"].combine_chunks())
    is_known = numbers(pc.is_valid(position))
    index = numbers(pc.fill_null(position, -1)).astype(np.int64)
    index[~is_known] = len(relations) + np.arange(int((~is_known).sum()))
    new = wanted.filter(pa.array(~is_known))
    names = [name for name in relations.column_names if name in new.column_names]
    return pa.concat_tables([relations, new.select(names)], promote_options="default"), index


def _moved_literals(
    content: Content,
    folded: np.ndarray,
    owner: _Owners,
    meaning: np.ndarray,
    refusals: Refusals,
) -> Content:
    """Give the literals of folded nodes to their owners, but those of restrictions and types."""
    literals = content.literals
    entity = literals.entity.astype(np.int64)
    inside = np.zeros(len(entity), bool)
    inside[entity >= 0] = folded[entity[entity >= 0]]
    if not inside.any():
        return content
    keep = ~_lost_literals(literals, inside, refusals)
    names, datatypes = _owner_keys(content, inside, meaning)
    entity[inside] = owner.entity[entity[inside]]
    mask = pa.array(keep)
    keys = (names.filter(mask), datatypes.filter(mask))
    value = literals.literals["value"].filter(mask)
    labels = _labels(literals.properties)
    return replace(content, literals=make_tables(entity[keep], keys, value, labels.get))


def _owner_keys(
    content: Content, inside: np.ndarray, meaning: np.ndarray
) -> tuple[pa.Array, pa.Array]:
    """Return property and datatype of each literal; items of a list get what led to the list."""
    literals = content.literals
    names, datatypes = literals.keys()
    first = _is_one_of(literals.properties["id"], (_LIST[0],))
    of_list = inside & first[numbers(literals.literals["property"])]
    of_list[of_list] = meaning[literals.entity[of_list]] >= 0  # nothing may lead to a list
    if of_list.any():
        items = flat(content.relations["id"].take(pa.array(meaning[literals.entity[of_list]])))
        names = pc.replace_with_mask(names, pa.array(of_list), items)
    return names, datatypes


def _lost_literals(literals: LiteralTables, inside: np.ndarray, refusals: Refusals) -> np.ndarray:
    """Return which literals of folded nodes are of restrictions and types, and count them."""
    ids = literals.properties["id"]
    of_owl, of_type = pc.starts_with(ids, OWL), pc.equal(ids, f"{RDF}type")
    property_ = numbers(literals.literals["property"])
    lost = inside & (numbers(of_owl) | numbers(of_type))[property_]
    counts = np.bincount(property_[lost], minlength=len(ids))
    count_by_name(refusals, "values of folded blank nodes", counts, ids.to_pylist().__getitem__)
    return lost


def _labels(*tables: pa.Table) -> dict[str, str]:
    """Return the labels of relations or properties by their ids, those of later tables first."""
    rows = (row for table in tables for row in table.select(["id", "label"]).to_pylist())
    return {row["id"]: row["label"] for row in rows}


def _links(content: Content, since: int) -> np.ndarray:
    """Return which entities are pages and addresses that are only ever values."""
    facts, ids = content.triples, content.entities["id"]
    links = numbers(pc.match_substring_regex(ids, _ADDRESS)).copy()
    of_page = np.array([item in _PAGES for item in content.relations["id"].to_pylist()], bool)
    if of_page.any():
        pages = numbers(pc.match_substring_regex(ids, _PAGE)).copy()
        pages[facts.tail[~of_page[facts.relation]]] = False
        links |= pages
    links &= ~numbers(pc.not_equal(content.entities["description"], ""))
    pointed = np.zeros(len(ids), bool)
    pointed[facts.tail] = True
    links &= pointed
    entity = content.literals.entity
    links[entity[entity >= 0]] = False
    links[facts.head] = False
    links[:since] = False
    return links


def links_as_literals(content: Content, links: np.ndarray) -> Content:
    """Return the content with triples to some entities as literals, and without these."""
    facts, old = content.triples, content.literals
    facts = facts.take(links[facts.tail])
    property_ = flat(content.relations["id"].take(pa.array(facts.relation)))
    value = flat(content.entities["id"].take(pa.array(facts.tail))).cast(pa.large_string())
    properties, datatypes = old.keys()
    keys = (
        pa.concat_arrays([properties, property_]),
        pa.concat_arrays([datatypes, pa.repeat(pa.scalar(LINK), len(facts))]),
    )
    labels = _labels(content.relations, old.properties)
    subject = np.concatenate([old.entity, facts.head])
    values = pa.concat_arrays([flat(old.literals["value"]), value])
    literals = make_tables(subject, keys, values, labels.get)
    return _without(replace(content, literals=literals), links)
