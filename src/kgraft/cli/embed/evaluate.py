"""`kgraft embed eval`: how well vectors rank the true answers of held-out triples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgraft.cli.embed.vectors import Vectors, open_vectors
from kgraft.cli.given import choose
from kgraft.cli.output import MOST, AsJson, GraphName, Quiet, console, escape, print_json
from kgraft.progress import progress_bar

if TYPE_CHECKING:
    from kgraft.embed import LinkPredictor
    from kgraft.measure import Ranking


def eval_(
    graph: GraphName,
    vectors: Vectors,
    split: Annotated[str, typer.Option(help="The triples to rank: train, valid or test.")] = "test",
    relations: Annotated[
        int, typer.Option(min=0, max=MOST, help="Relations to show, the most frequent first.")
    ] = 10,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Rank the true answers of held-out triples among all entities: MRR and Hits.

    Example:  kgraft embed eval fb15k237 fb15k237.complex --relations 20
    """
    choose("split", split, ("train", "valid", "test"))
    predictor = open_vectors(graph, vectors)
    from kgraft.measure import Queries, relation_categories

    with progress_bar(quiet) as progress:
        ranking = predictor.rank(split, progress=progress)
    train = predictor.graph.split("train").triples
    categories = relation_categories(Queries.of(train, predictor.graph.manifest.relations))
    rows = _rows(predictor, ranking, ranking.by_category(categories))
    if as_json:
        print_json({"split": split, "protocol": ranking.protocol, **rows})
    else:
        _print_ranking(rows, ranking, split, relations)


def _rows(
    predictor: LinkPredictor, ranking: Ranking, categories: dict[str, dict[str, float]]
) -> dict[str, Any]:
    """Return all figures of a ranking, relations by their id, the most frequent first."""
    ids = predictor.graph.relations["id"].to_pylist()
    by_relation = sorted(ranking.by_relation().items(), key=lambda row: -row[1]["count"])
    return {
        "all": ranking.figures(),
        "sides": ranking.by_side(),
        "categories": categories,
        "relations": {ids[number]: figures for number, figures in by_relation},
    }


def _print_ranking(rows: dict[str, Any], ranking: Ranking, split: str, relations: int) -> None:
    from rich.table import Table

    table = Table("", "queries", "MRR", "Hits@1", "Hits@3", "Hits@10", box=None, header_style="dim")
    for column in table.columns[1:]:
        column.justify = "right"
    shown = dict(list(rows["relations"].items())[:relations])
    for group in ({f"all of {split}": rows["all"]}, rows["sides"], rows["categories"], shown):
        for name, figures in group.items():
            numbers = (f"{figures[n]:.4f}" for n in ("mrr", "hits1", "hits3", "hits10"))
            table.add_row(escape(name), f"{figures['count']:,}", *numbers)
        table.add_section()
    console().print(table)
    console().print(f"[dim]{escape(ranking.protocol)}[/]")
