"""Few-shot relation classification: which of N relations a text states, given K examples of each.

A text is what a joint model reads at its two marked entities; a relation is the mean of its
examples (prototype), and the nearest one by cosine is the answer. What the graph says of the two
entities together is hidden from the model: it would give the relation away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from kgraft.corpus import AnnotatedTexts, read_json_lines
from kgraft.errors import BadInput
from kgraft.graph import Graph, Mentions
from kgraft.graph.adjacency import rank_within
from kgraft.joint import JointModel, LinkedWindows
from kgraft.joint.graph_losses import GraphLosses
from kgraft.json_text import parse_json
from kgraft.tasks.joint_learner import JointLearner, language_parameters
from kgraft.tasks.relations import marked
from kgraft.text import length_batches
from kgraft.training import stream, torch_stream
from kgraft.training.seeds import seeded
from kgraft.vectors.memory import Memory

_ORDER, _STEP = 0, 1  # what a stream of random numbers is for
TOKENS = 2048  # that are read together, padding included
NOBODY = -1  # an entity that the graph lacks


@dataclass(frozen=True)
class RelationTexts:
    """Texts with two marked spans each, the entities they mean, and the relation they state."""

    texts: list[str]  # with signs around the spans
    span: np.ndarray  # (N, 2, 2) start and end of both
    entity: np.ndarray  # (N, 2), NOBODY where the graph lacks it
    relation: np.ndarray  # (N,)
    names: list[str]

    def __len__(self) -> int:
        return len(self.texts)

    @classmethod
    def read(cls, path: Path, graph: Graph, *, without: Sequence[str] = ()) -> RelationTexts:
        """Read JSON Lines of `text`, `head`, `tail` and `relation`, but some of the relations.

        An end that tells no `entity` means the likeliest one of its name.
        """
        texts, spans, relations, ids = [], [], [], list[str]()
        names: dict[int, str] = {}  # by their place among the ids
        for number, line in read_json_lines(path):
            try:
                told = parse_json(line)
                ends = [told[name] for name in ("head", "tail")]
                places = [[end["start"], end["end"]] for end in ends]
                relation = str(told["relation"])
                text, found = marked(told["text"], *places)
            except (ValueError, LookupError, TypeError) as error:
                reason = f"no text with a relation ({type(error).__name__}: {error})"
                raise BadInput(reason, file=str(path), line=number) from error
            if relation not in without:
                texts.append(text)
                spans.append(found)
                for end, place in zip(ends, places, strict=True):
                    if "entity" not in end:
                        names[len(ids)] = told["text"][slice(*place)]
                    ids.append(end.get("entity") or "")
                relations.append(relation)
        if not texts:
            raise BadInput("holds no text with a relation", file=str(path))
        entity, look_up = graph.numbers_of(ids), cache(partial(_likeliest, graph))
        entity[list(names)] = [look_up(name) for name in names.values()]
        labels, which = np.unique(relations, return_inverse=True)
        spans_of = np.array(spans, np.int64)
        return cls(texts, spans_of, entity.reshape(-1, 2), which, labels.tolist())

    def part(self, rows: np.ndarray) -> RelationTexts:
        """Return some of the texts."""
        texts = [self.texts[n] for n in rows.tolist()]
        columns = (self.span[rows], self.entity[rows], self.relation[rows])
        return RelationTexts(texts, *columns, self.names)

    def annotated(self) -> AnnotatedTexts:
        """Return the two spans of each text as mentions."""
        text = np.repeat(np.arange(len(self)), 2)
        start, end = self.span.reshape(-1, 2).T
        mentions = Mentions.without_candidates(text, start, end, gold=self.entity.ravel())
        return AnnotatedTexts(self.texts, mentions)


def _likeliest(graph: Graph, name: str) -> int:
    """Return the entity that a name means most often, NOBODY where it means none."""
    row = graph.aliases.row(name)
    return NOBODY if row is None else int(graph.aliases.candidates(row, 1)[0][0])


class RelationReader:
    """Reads the vectors of texts with a joint model."""

    def __init__(
        self,
        model: JointModel,
        graph: Graph,
        memory: Memory,
        data: RelationTexts,
        *,
        knowing: bool = True,
    ) -> None:
        self.model, self.graph, self.memory, self.knowing = model, graph, memory, knowing
        windows = model.encoder.windows(data.texts).firsts()
        self.windows = LinkedWindows.of(windows, data.annotated())
        places = windows.locate(
            np.repeat(np.arange(len(data)), 2),
            data.span[:, :, 0].ravel(),
            data.span[:, :, 1].ravel(),
        )
        self.column = places.first.reshape(-1, 2)  # 0 where the window ends before the span
        self.entity = data.entity

    def __call__(self, rows: np.ndarray, *, seed: int) -> Tensor:
        """Return what is read at the two spans of some texts, side by side, (n, 2 F).

        Texts of like length are read together, so that little is padded.
        """
        groups = length_batches(self.windows.lengths[rows], TOKENS)
        read = torch.cat([self._read(rows[group], seed) for group in groups])
        return read[torch.from_numpy(np.argsort(np.concatenate(groups)))]

    def _read(self, rows: np.ndarray, seed: int) -> Tensor:
        batch = self.windows.batch(rows)
        hidden = self._others(rows[batch.row.numpy()], batch.entity.numpy())
        read = self.model.read(
            batch, self.graph, self.memory, seed=seed, hidden=hidden, knowing=self.knowing
        )
        ends = torch.from_numpy(self.column[rows])  # (n, 2)
        return read[torch.arange(len(rows))[:, None], ends].flatten(1)

    def _others(self, text: np.ndarray, entity: np.ndarray) -> np.ndarray:
        """Return the entity beside each mentioned one in its text, (S, 1)."""
        pair = self.entity[text]
        other = np.where(pair[:, 0] == entity, pair[:, 1], pair[:, 0])
        return other[:, None]

    @torch.no_grad()
    def all(self) -> np.ndarray:
        """Return the vectors of all texts, each of length 1, (N, 2 F)."""
        self.model.eval()
        found = np.zeros((len(self.windows), 2 * self.model.encoder.dimension), np.float32)
        for number, rows in enumerate(length_batches(self.windows.lengths, TOKENS)):
            found[rows] = normalize(self._read(rows, number), dim=-1).numpy()
        return found


def episodes(
    vectors: np.ndarray, relation: np.ndarray, ways: int, shots: int, count: int, *, seed: int = 0
) -> np.ndarray:
    """Return which of `count` questions are answered right, (count,).

    Each draws `ways` relations, `shots` examples of each, and a text of one of them.
    """
    random = np.random.default_rng(seed)
    rows = [np.flatnonzero(relation == number) for number in np.unique(relation)]
    fewest = min(len(held) for held in rows)
    if len(rows) < ways or fewest <= shots:
        raise BadInput(
            f"{len(rows)} relations with {fewest} texts or more do for no {ways}-way-{shots}-shot",
            remedy="give fewer ways or shots",
        )
    right = np.zeros(count, bool)
    for number in range(count):
        chosen = random.choice(len(rows), ways, replace=False)
        drawn = [random.choice(rows[n], shots + (place == 0), replace=False)
                 for place, n in enumerate(chosen)]  # fmt: skip
        support = np.stack([held[:shots] for held in drawn])  # (ways, shots)
        prototypes = vectors[support].mean(1)
        prototypes /= np.linalg.norm(prototypes, axis=-1, keepdims=True)
        near = prototypes @ vectors[drawn[0][-1]]
        right[number] = near[0] > near[1:].max()
    return right


def first_of_each(relation: np.ndarray, most: int) -> np.ndarray:
    """Return the first texts of each relation, so many at most, as rows in order.

    >>> first_of_each(np.array([7, 7, 5, 7, 5]), 2)
    array([0, 1, 2, 4])
    """
    order = np.argsort(relation, kind="stable")
    held = relation[order]
    return np.sort(order[rank_within(held) < most])


@dataclass(frozen=True)
class EpisodeSettings:
    """How a joint model is fine-tuned for few-shot relations."""

    steps: int = 400
    validate_every: int = 100
    patience: int = 3
    ways: int = 16  # relations of a step
    texts: int = 3  # of each
    sharp: float = 20.0  # how much a cosine counts
    lower: bool = True  # whether LM1 learns too
    language_rate: float = 2e-4
    knowledge_rate: float = 5e-4
    ways_asked: int = 5  # of the questions that decide when to stop
    asked: int = 2000
    seed: int = 0


class EpisodeTrainee(JointLearner):
    """A joint model in fine-tuning; see `kgraft.training.Trainee`.

    A step reads some texts of some relations; each is to be nearest to the mean of the others of
    its relation.
    """

    def __init__(
        self, reader: RelationReader, learnt: RelationTexts, valid: RelationReader,
        asked: RelationTexts, settings: EpisodeSettings, *, beside: GraphLosses | None = None,
    ) -> None:  # fmt: skip
        self.reader, self.learnt, self.valid, self.asked = reader, learnt, valid, asked
        self.settings, model = settings, reader.model
        self.steps = settings.steps
        groups = [
            (settings.language_rate, language_parameters(model, lower=settings.lower)),
            (settings.knowledge_rate, model.knowledge.parameters()),
        ]
        super().__init__(
            model, groups, seed=settings.seed, beside=beside, rate=settings.knowledge_rate
        )
        rows = [np.flatnonzero(learnt.relation == n) for n in np.unique(learnt.relation)]
        self.rows = [held for held in rows if len(held) >= settings.texts]
        if len(self.rows) < 2:
            said = f"fewer than two relations have {settings.texts} texts to learn from"
            raise BadInput(said, remedy="give more texts")

    def batches(self, epoch: int) -> list[np.ndarray]:
        """Return the texts of some steps, (ways, texts) each."""
        random, made = stream(self.settings.seed, _ORDER, epoch), []
        for _ in range(self.settings.validate_every):
            ways = random.choice(len(self.rows), min(self.settings.ways, len(self.rows)), False)
            drawn = [random.choice(self.rows[n], self.settings.texts, replace=False) for n in ways]
            made.append(np.stack(drawn))
        return made

    def step(self, batch: np.ndarray, place: int) -> dict[str, float]:
        """Move the parameters once."""
        self.module.train()
        seed = torch_stream(self.settings.seed, _STEP, place).initial_seed()
        with seeded(seed):
            vectors = self.reader(batch.ravel(), seed=seed % (1 << 31))
            vectors = normalize(vectors, dim=-1).view(*batch.shape, -1)
            loss = prototype_loss(vectors, self.settings.sharp)
        return self.move(loss, place)

    def validate(self) -> dict[str, float]:
        """Return how often the right one of some relations is told, by one example of each."""
        right = episodes(
            self.valid.all(), self.asked.relation, self.settings.ways_asked, 1, self.settings.asked
        )
        return {"accuracy": float(right.mean())}


def prototype_loss(vectors: Tensor, sharp: float) -> Tensor:
    """Return the loss of telling each text's relation by the others, (ways, texts, D) of length 1.

    The prototype of a text's own relation is made without the text.
    """
    ways, texts, _ = vectors.shape
    total = vectors.sum(1)  # (ways, D)
    whole = normalize(total, dim=-1)
    own = normalize(total[:, None] - vectors, dim=-1)  # (ways, texts, D)
    scores = torch.einsum("wtd,vd->wtv", vectors, whole)
    mine = torch.eye(ways, dtype=torch.bool, device=vectors.device)[:, None]
    scores = torch.where(mine, (vectors * own).sum(-1)[..., None], scores)
    gold = torch.arange(ways, device=vectors.device)[:, None].expand(ways, texts)
    return cross_entropy(sharp * scores.flatten(0, 1), gold.flatten())
