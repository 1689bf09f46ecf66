"""Rules as people read them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kgraft.graph import Relation
from kgraft.reason.rules.rule_set import RuleSet

VARIABLES = "XABCDEFGHIJKLMNOPQRSTUVW"  # of a path, from its start on; Y is its end

Atom = tuple[int, str | int, str | int]
"""A relation, a term and a term: variables are letters, entities are indices."""


def rule_atoms(rules: RuleSet, row: int, relations: int) -> tuple[Atom, list[Atom]]:
    """Return the head and the body of a rule as atoms without inverse relations."""
    head, constant = int(rules.head[row]), int(rules.constant[row])
    body = [int(relation) for relation in rules.body[row] if relation >= 0]
    if constant < 0:
        terms = [*VARIABLES[: len(body)], "Y"]
        steps = zip(body, terms, terms[1:], strict=False)
        return _atom(head, "X", "Y", relations), [_atom(*step, relations) for step in steps]
    x = "X" if head < relations else "Y"
    end = int(rules.body_constant[row])
    atoms = [_atom(relation, x, end if end >= 0 else "A", relations) for relation in body]
    return _atom(head, x, constant, relations), atoms


def _atom(relation: int, first: str | int, second: str | int, relations: int) -> Atom:
    if relation < relations:
        return relation, first, second
    return relation - relations, second, first


def verbalise_rule(
    rules: RuleSet, row: int, relations: Sequence[Relation], label: Callable[[int], str]
) -> str:
    """Say a rule in words; `label` gives the words for an entity."""
    head, body = rule_atoms(rules, row, len(relations))

    def say(atom: Atom) -> str:
        ends = (end if isinstance(end, str) else label(end) for end in atom[1:])
        return relations[atom[0]].verbalise(*ends).removesuffix(".")

    return say(head) + ("  if  " + "  and  ".join(map(say, body)) if body else "")


def rule_figures(rules: RuleSet, row: int) -> str:
    """Return confidence and support of a rule in words."""
    sample = ", on a sample" if rules.sampled[row] else ""
    counts = f"holds {rules.support[row]:,} of {rules.body_count[row]:,} times{sample}"
    return f"{rules.confidence[row]:.2f}: {counts}"
