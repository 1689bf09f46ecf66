"""JAKET: a knowledge module and a language module that feed each other, pre-trained together."""

from kgraft.joint.descriptions import Descriptions
from kgraft.joint.heads import Heads
from kgraft.joint.language import Language
from kgraft.joint.memories import open_memory
from kgraft.joint.model import JointModel
from kgraft.joint.pretrain import begin_alike, fresh_joint, new_heads, pretrain
from kgraft.joint.saving import load_joint
from kgraft.joint.settings import JointConfig, PretrainSettings, Weights
from kgraft.joint.texts import LinkedBatch, LinkedWindows

__all__ = [
    "Descriptions",
    "Heads",
    "JointConfig",
    "JointModel",
    "Language",
    "LinkedBatch",
    "LinkedWindows",
    "PretrainSettings",
    "Weights",
    "begin_alike",
    "fresh_joint",
    "load_joint",
    "new_heads",
    "open_memory",
    "pretrain",
]
