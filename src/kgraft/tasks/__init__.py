"""What a model is fine-tuned and measured on; each with knowledge on, off, and the difference."""

from kgraft.tasks.classify import Classifier, ClassSettings, ClassTrainee, Ready
from kgraft.tasks.evaluate import CLASS_TASKS, TASKS, evaluate, evaluate_plain
from kgraft.tasks.examples import ClassTask, Examples
from kgraft.tasks.facts import reciprocal_ranks
from kgraft.tasks.joint_tasks import JOINT_TASKS, evaluate_joint
from kgraft.tasks.perplexity import perplexity_counts
from kgraft.tasks.relations import SEMEVAL
from kgraft.tasks.senses import choose_senses, first_senses, sense_counts
from kgraft.tasks.typing import TYPING
from kgraft.tasks.wic import WIC

__all__ = [
    "CLASS_TASKS",
    "JOINT_TASKS",
    "SEMEVAL",
    "TASKS",
    "TYPING",
    "WIC",
    "ClassSettings",
    "ClassTask",
    "ClassTrainee",
    "Classifier",
    "Examples",
    "Ready",
    "choose_senses",
    "evaluate",
    "evaluate_joint",
    "evaluate_plain",
    "first_senses",
    "perplexity_counts",
    "reciprocal_ranks",
    "sense_counts",
]
