"""Few-shot relation classification: which of N relations a text states, given K examples of each.

A text is what a joint model reads at its two marked entities; a relation is the mean of its
examples (prototype), and the nearest one by cosine is the answer. What the graph says of the two
entities together is hidden from the model: it would give the relation away.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from kgraft.arrays import rank_within
from kgraft.errors import BadInput
from kgraft.joint import FineTuning, FineTuningTask, language_parameters
from kgraft.tasks.interfaces import JointEvaluation
from kgraft.tasks.joint import JOINT_TASKS
from kgraft.tasks.relation_texts import RelationReader, RelationTexts
from kgraft.tasks.settings import FewShotSettings
from kgraft.training import Purpose, seeded, stream, torch_stream, train_in_memory

EPISODES = 10_000  # of a test
WAYS = 5  # relations of an episode of a test
LEAST_RELATIONS = 4  # that fine-tuning needs
VALID_RELATIONS = 8  # that are held out to validate
VALID_TEXTS = 100  # of each of them


def _rows_by_relation(relation: np.ndarray, ways: int, shots: int) -> list[np.ndarray]:
    """Return the rows of each relation, if there are enough for episodes."""
    rows = [np.flatnonzero(relation == index) for index in np.unique(relation)]
    enough = sum(len(own) > shots for own in rows)
    if len(rows) < ways or enough < len(rows):
        raise BadInput(
            f"{ways}-way {shots}-shot needs at least {ways} relations with {shots + 1} texts each; "
            f"got {enough} of {len(rows)}",
            remedy="give more texts, or fewer ways or shots",
        )
    return rows


def episodes(
    vectors: np.ndarray, relation: np.ndarray, ways: int, shots: int, count: int, *, seed: int = 0
) -> np.ndarray:
    """Return which of `count` episodes are answered right, (count,).

    Each draws `ways` relations, `shots` examples of each, and a text of one of them.
    """
    random = np.random.default_rng(seed)
    rows = _rows_by_relation(relation, ways, shots)
    right = np.zeros(count, bool)
    for episode in range(count):
        chosen = random.choice(len(rows), ways, replace=False)
        drawn = [
            random.choice(rows[index], shots + (way == 0), replace=False)
            for way, index in enumerate(chosen)
        ]
        support = np.stack([own[:shots] for own in drawn])  # (ways, shots)
        prototypes = vectors[support].mean(1)
        prototypes /= np.linalg.norm(prototypes, axis=-1, keepdims=True)
        cosines = prototypes @ vectors[drawn[0][-1]]
        right[episode] = cosines[0] > cosines[1:].max()
    return right


def first_of_each(relation: np.ndarray, most: int) -> np.ndarray:
    """Return the first texts of each relation, at most `most`, as rows in order.

    >>> first_of_each(np.array([7, 7, 5, 7, 5]), 2)
    array([0, 1, 2, 4])
    """
    order = np.argsort(relation, kind="stable")
    return np.sort(order[rank_within(relation[order]) < most])


class FewShotTask(FineTuningTask[np.ndarray]):
    """A joint model in fine-tuning; a batch is texts of some relations, (ways, texts).

    Each text is to be nearest to the mean of the others of its relation.
    """

    watch = "accuracy"
    remedy = "lower the learning rates"

    def __init__(
        self,
        tuning: FineTuning,
        texts: RelationTexts,
        valid: RelationTexts,
        settings: FewShotSettings,
    ) -> None:
        rows = [np.flatnonzero(texts.relation == index) for index in np.unique(texts.relation)]
        self.rows = [own for own in rows if len(own) >= settings.texts]
        if len(self.rows) < 2:
            raise BadInput(
                f"fine-tuning needs at least 2 relations with {settings.texts} texts each; got "
                f"{len(self.rows)}",
                remedy="give more texts",
            )
        self.settings, self.valid = settings, valid
        self.reader = RelationReader.of(tuning, texts)
        self.valid_reader = RelationReader.of(tuning, valid)
        model = tuning.model
        language = language_parameters(model, train_lower=settings.train_lower)
        super().__init__(
            model,
            [
                (settings.language_rate, language),
                (settings.knowledge_rate, model.knowledge.parameters()),
            ],
            seed=settings.seed,
            graph_losses=tuning.graph_losses,
            graph_rate=settings.knowledge_rate,
        )
        self.steps = settings.epochs * settings.steps

    def batches(self, epoch: int) -> list[np.ndarray]:
        """Return the texts of some steps, (ways, texts) each."""
        random, batches = stream(self.settings.seed, Purpose.ORDER, epoch), []
        count = min(self.settings.ways, len(self.rows))
        for _ in range(self.settings.steps):
            ways = random.choice(len(self.rows), count, replace=False)
            texts = self.settings.texts
            batches.append(
                np.stack([random.choice(self.rows[way], texts, replace=False) for way in ways])
            )
        return batches

    def step(self, batch: np.ndarray, step: int) -> dict[str, float]:
        """Update the parameters once."""
        self.module.train()
        seed = torch_stream(self.settings.seed, Purpose.STEP, step).initial_seed()
        with seeded(seed):
            vectors = self.reader(batch.ravel(), seed=seed % (1 << 31))
            vectors = normalize(vectors, dim=-1).view(*batch.shape, -1)
            loss = prototype_loss(vectors, self.settings.sharpness)
        return self.update(loss, step)

    def validate(self) -> dict[str, float]:
        """Return how often the right one of some relations is told, by one example of each."""
        relation = self.valid.relation
        ways = min(self.settings.valid_ways, len(np.unique(relation)))
        count = self.settings.valid_episodes
        right = episodes(self.valid_reader.all(), relation, ways, 1, count)
        return {"accuracy": float(right.mean())}


def prototype_loss(vectors: Tensor, sharpness: float) -> Tensor:
    """Return the loss of telling each text's relation by the others, (ways, texts, D) of length 1.

    The prototype of a text's own relation is made without the text.
    """
    ways, texts, _ = vectors.shape
    total = vectors.sum(1)  # (ways, D)
    prototypes = normalize(total, dim=-1)
    own = normalize(total[:, None] - vectors, dim=-1)  # (ways, texts, D)
    scores = torch.einsum("wtd,vd->wtv", vectors, prototypes)
    is_own = torch.eye(ways, dtype=torch.bool, device=vectors.device)[:, None]
    scores = torch.where(is_own, (vectors * own).sum(-1)[..., None], scores)
    gold = torch.arange(ways, device=vectors.device)[:, None].expand(ways, texts)
    return cross_entropy(sharpness * scores.flatten(0, 1), gold.flatten())


def fine_tune_relations(
    tuning: FineTuning, texts: RelationTexts, settings: FewShotSettings | None = None
) -> None:
    """Fine-tune a joint model on texts of relations, some of which are held out to validate."""
    settings = (settings or FewShotSettings()).replace(seed=tuning.seed)
    if len(texts.names) < LEAST_RELATIONS:
        reason = f"fine-tuning needs at least {LEAST_RELATIONS} relations; got {len(texts.names)}"
        raise BadInput(reason, remedy="give texts of more relations")
    order = np.random.default_rng(0).permutation(len(texts.names))
    is_apart = np.isin(texts.relation, order[: min(VALID_RELATIONS, len(order) // 2)])
    train, valid = (texts.select(np.flatnonzero(rows)) for rows in (~is_apart, is_apart))
    valid = valid.select(first_of_each(valid.relation, VALID_TEXTS))
    task = FewShotTask(tuning, train, valid, settings)
    train_in_memory(task, settings, progress=tuning.progress)


class FewShotEvaluation(JointEvaluation):
    """Texts that state relations; those of the test are not trained on."""

    def __init__(
        self, settings: FewShotSettings | None = None, *, test_episodes: int = EPISODES
    ) -> None:
        self.settings = settings or FewShotSettings()
        self.test_episodes = test_episodes

    def measure(self, tuning: FineTuning, data: Path | None) -> np.ndarray:
        """Return which of many 5-way 1-shot episodes are answered right, (N,)."""
        assert data is not None
        test = RelationTexts.read(data / "test.jsonl", tuning.graph)
        train = RelationTexts.read(data / "train.jsonl", tuning.graph, without=test.names)
        fine_tune_relations(tuning, train, self.settings)
        vectors = RelationReader.of(tuning, test).all()
        ways = min(WAYS, len(test.names))
        return episodes(vectors, test.relation, ways, 1, self.test_episodes)


JOINT_TASKS.register("relations")(FewShotEvaluation())
