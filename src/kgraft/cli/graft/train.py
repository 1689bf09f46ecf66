"""`kgraft graft train`: an encoder that reads with a graph's knowledge."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgraft.cli.given import need_encoder, need_graft, need_room, need_texts, need_vectors
from kgraft.cli.output import (
    AsJson,
    GraphName,
    Quiet,
    console,
    epoch_line,
    escape,
    print_json,
)
from kgraft.cli.settings_options import Changes, settings_options
from kgraft.errors import BadInput
from kgraft.graft.settings import GraftSettings, TextSettings
from kgraft.progress import Progress, progress_bar

if TYPE_CHECKING:
    from kgraft.graft import GraftedEncoder, GraftTexts, GraphKnowledge
    from kgraft.graph import Graph
    from kgraft.training import Epoch

FIGURES = ("accuracy", "perplexity")  # of an epoch that are printed
FACT_RECALL = "fact-recall"
RULES = "rules"


@settings_options(GraftSettings)
def train(
    graph: GraphName = "world",
    texts: Annotated[
        Path | None,
        typer.Option(
            help="Texts with annotated mentions or senses, JSON Lines; by default the graph's own."
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")] = Path("graft"),
    layer: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1000,
            help="The layer to graft after; by default the last but one, to recall facts the last.",
        ),
    ] = None,
    kind: Annotated[
        str, typer.Option(help="How knowledge comes in: attention, entity or relation.")
    ] = "attention",
    knowledge: Annotated[
        str | None,
        typer.Option(
            help="graph, paths, rules, wordnet or fact-recall; by default what suits the graph."
        ),
    ] = None,
    facts: Annotated[
        Path | None,
        typer.Option(help="Facts that rules predict, a file of 'kgraft reason apply': for rules."),
    ] = None,
    recall_facts: Annotated[
        bool,
        typer.Option(
            "--recall-facts",
            help="Predict a masked word by what the graph says of the others: fact-recall.",
        ),
    ] = False,
    vectors: Annotated[
        list[Path] | None, typer.Option(help="Folders of 'kgraft embed train', to know facts by.")
    ] = None,
    hypernym_relation: Annotated[
        list[str] | None,
        typer.Option(help="Relations that lead to what a thing is a kind of, such as hypernym."),
    ] = None,
    next_sentence: Annotated[
        bool,
        typer.Option(
            "--next-sentence",
            help="Read the texts of a document (ids doc1.1, doc1.2, …) in pairs, and learn which "
            "follow one another.",
        ),
    ] = False,
    open_vocabulary: Annotated[
        bool,
        typer.Option(
            "--open-vocabulary",
            help="Look words up as in any text, not by their annotated lemma and part of speech.",
        ),
    ] = False,
    exclude_own_counts: Annotated[
        bool,
        typer.Option(
            "--exclude-own-counts",
            help="The graph's counts of senses are of these texts, as WordNet's are of SemCor: "
            "leave a document's own out.",
        ),
    ] = False,
    init_from: Annotated[
        Path | None, typer.Option(help="A graft to add this one to, at another layer.")
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(help="The host: a folder or hub name, if not the default.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a graft that is there.")
    ] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    *,
    changes: Changes,
) -> None:
    """Graft a graph's knowledge onto an encoder, and train it.

    First the linker inside the graft learns alone which entities are meant, then everything but the
    entities' vectors learns together, from masked words and from annotated mentions. A tenth of the
    texts is held out to choose the epoch by. Interrupted or killed, the same command resumes where
    it stopped.

    With --knowledge paths, a graft also reads how the entities of a text are related in the graph;
    with --knowledge rules, also the facts that rules predict of them.

    Examples:

      kgraft graft train my-graph --texts annotated.jsonl --out grafted

      kgraft graft train wordnet --texts semcor.jsonl --exclude-own-counts --layer 6 --out senses

      kgraft graft train wordnet --texts semcor.jsonl --open-vocabulary --out reads

      kgraft graft train wordnet --init-from grafted --layer 6 --out both

      kgraft graft train world --recall-facts --out recalls

      kgraft graft train my-graph --knowledge paths --out relates

      kgraft graft train my-graph --knowledge rules --facts predictions.jsonl --out infers
    """
    _check_graph(graph, hypernym_relation, facts)
    knowledge = _knowledge_kind(knowledge, facts, recall_facts=recall_facts)
    _check(kind, texts, init_from, vectors)
    need_encoder(encoder)
    need_room(out, overwrite=overwrite)
    settings = GraftSettings().replace(**changes)
    text_settings = TextSettings(next_sentence, open_vocabulary, exclude_own_counts)
    with progress_bar(quiet) as progress:
        host = _host(init_from, encoder)
        source = _open_knowledge(
            graph, vectors, knowledge, hypernym_relation, facts, host, progress
        )
        after = _attach(host, source, layer, kind, settings.seed)
        data = source.training_texts(host, after, texts, text_settings, seed=settings.seed)
        _print_status(_describe(source, data, after, settings, init_from), quiet=quiet)
        training = _Training(out, settings, text_settings, init_from, overwrite)
        epochs = training.run(host, source.graph, data, progress)
        figures = _report(epochs, quiet=quiet)
    _print_result(out, figures, as_json=as_json)


@dataclass(frozen=True)
class _Training:
    """How a graft is trained and where it is written."""

    out: Path
    settings: GraftSettings
    text_settings: TextSettings
    init_from: Path | None
    overwrite: bool

    def run(
        self, host: GraftedEncoder, graph: Graph, data: GraftTexts, progress: Progress
    ) -> Iterator[Epoch]:
        """Train on texts, with the head of the graft that it is added to, or one trained first."""
        from kgraft.graft import train_graft
        from kgraft.text import MaskedHead

        head = None if self.init_from is None else MaskedHead.load(self.init_from, host).train()
        identity = {**self.text_settings.to_dict(), "graph": graph.manifest.version}
        yield from train_graft(
            host,
            data.train,
            self.out,
            valid=data.valid,
            head=head,
            settings=self.settings,
            identity={**identity, "texts": data.digest},
            overwrite=self.overwrite,
            progress=progress,
        )


def _open_knowledge(
    graph: str,
    vectors: list[Path] | None,
    kind: str | None,
    hypernym_relations: list[str] | None,
    facts: Path | None,
    host: GraftedEncoder,
    progress: Progress,
) -> GraphKnowledge:
    from kgraft.graft import open_knowledge

    return open_knowledge(
        graph,
        vectors or (),
        kind=kind,
        mask_token=host.tokenizer.mask_token,
        hypernym_relations=hypernym_relations or (),
        facts=facts,
        progress=progress,
    )


def _attach(
    host: GraftedEncoder, source: GraphKnowledge, layer: int | None, kind: str, seed: int
) -> int:
    """Graft knowledge onto a host; return the layer that it comes after."""
    from kgraft.graft import attach
    from kgraft.text import layers_of

    after = layer or len(layers_of(host.model)) - source.layers_above
    attach(host.model, {after: source}, kind=kind, seed=seed)
    return after


def _knowledge_kind(knowledge: str | None, facts: Path | None, *, recall_facts: bool) -> str | None:
    """Return the kind of knowledge that the options ask for."""
    from kgraft.graft import KNOWLEDGE

    if knowledge is not None:
        KNOWLEDGE.check(knowledge)
    if knowledge == RULES and facts is None:
        remedy = "give a file of 'kgraft reason apply': --facts"
        raise BadInput("rules need the facts that they predict", remedy=remedy)
    if not recall_facts:
        return knowledge
    if knowledge not in (None, FACT_RECALL):
        raise BadInput(f"{knowledge} knowledge recalls no facts", remedy="leave --knowledge out")
    return FACT_RECALL


def _check_graph(name: str, relations: Sequence[str] | None, facts: Path | None) -> None:
    """Refuse relations that a graph lacks, and facts that cannot be of it."""
    from kgraft.graft.predicted_facts import PredictedFacts
    from kgraft.graph import Graph

    graph = Graph.open(name)
    for relation in relations or ():
        graph.relation(relation)
    if facts is not None:
        PredictedFacts.read(facts, graph)


def _check(
    kind: str, texts: Path | None, init_from: Path | None, vectors: Sequence[Path] | None
) -> None:
    """Refuse what is not there, before anything slow is loaded."""
    from kgraft.graft import GRAFTS

    GRAFTS.check(kind)
    need_texts(texts)
    need_graft(init_from)
    for folder in vectors or ():
        need_vectors(folder)


def _host(init_from: Path | None, encoder: str | None) -> GraftedEncoder:
    from kgraft.graft import GraftedEncoder
    from kgraft.text import Encoder

    if init_from is not None:
        return GraftedEncoder.from_pretrained(init_from)
    return GraftedEncoder(Encoder.load(encoder))


def _describe(
    source: GraphKnowledge,
    data: GraftTexts,
    layer: int,
    settings: GraftSettings,
    init_from: Path | None,
) -> str:
    """Say what is about to be trained."""
    about = f"{source.name} after layer {layer}; {data.description}; seed {settings.seed}"
    if init_from is None and settings.masks_words:
        about += "\na head for masked words is trained first"
    return about


def _print_result(out: Path, figures: dict[str, float], *, as_json: bool) -> None:
    if as_json:
        print_json({"out": str(out), **figures})
    else:
        console().print(
            f"[green]{escape(out)}[/]: look inside with  kgraft graft explain {escape(out)} TEXT"
        )


def _print_status(text: str, *, quiet: bool) -> None:
    if not quiet:
        print(text, file=sys.stderr)


def _report(epochs: Iterable[Epoch], *, quiet: bool) -> dict[str, float]:
    """Print each epoch, and return the figures of the last."""
    figures: dict[str, float] = {}
    for epoch in epochs:
        _print_status(epoch_line(epoch, epoch.losses, FIGURES), quiet=quiet)
        figures = {"epoch": epoch.number, **epoch.figures}
    return figures
