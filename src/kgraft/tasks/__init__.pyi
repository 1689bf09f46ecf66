from .classification import Classification
from .evaluate import evaluate_encoder, evaluate_joint
from .graft import GRAFT_TASKS
from .graph_reader import GraphReader
from .interfaces import GraftEvaluation, JointEvaluation
from .joint import JOINT_TASKS
from .relation_texts import RelationReader, RelationTexts
from .settings import (
    ClassificationSettings,
    EntityClassSettings,
    FewShotSettings,
    LinkPredictionSettings,
)

__all__ = [
    "GRAFT_TASKS",
    "JOINT_TASKS",
    "Classification",
    "ClassificationSettings",
    "EntityClassSettings",
    "FewShotSettings",
    "GraftEvaluation",
    "GraphReader",
    "JointEvaluation",
    "LinkPredictionSettings",
    "RelationReader",
    "RelationTexts",
    "evaluate_encoder",
    "evaluate_joint",
]
