"""KnowBERT: knowledge attention, plugged into any encoder between two of its layers."""

from kgraft.graft.attach import attach, detach, grafts_of, knowledge_off, looking
from kgraft.graft.attention import AttentionSettings, KnowledgeAttention
from kgraft.graft.encoder import GraftedEncoder, NoticedWindows
from kgraft.graft.expecting import ExpectingKnowledge
from kgraft.graft.explain import Explanation, explain
from kgraft.graft.injection import EntityInjection, InjectionSettings, RelationInjection
from kgraft.graft.kinds import KINDS
from kgraft.graft.knowledge import GraphKnowledge, Knowledge
from kgraft.graft.noticed import Noticed
from kgraft.graft.output import GraftOutput
from kgraft.graft.picture import picture
from kgraft.graft.recipe import open_knowledge
from kgraft.graft.settings import GraftSettings
from kgraft.graft.train import notice, train_graft
from kgraft.graft.wordnet import PartOfSpeech, WordNetKnowledge
from kgraft.text.mention_batch import MentionBatch

__all__ = [
    "KINDS",
    "AttentionSettings",
    "EntityInjection",
    "ExpectingKnowledge",
    "Explanation",
    "GraftOutput",
    "GraftSettings",
    "GraftedEncoder",
    "GraphKnowledge",
    "InjectionSettings",
    "Knowledge",
    "KnowledgeAttention",
    "MentionBatch",
    "Noticed",
    "NoticedWindows",
    "PartOfSpeech",
    "RelationInjection",
    "WordNetKnowledge",
    "attach",
    "detach",
    "explain",
    "grafts_of",
    "knowledge_off",
    "looking",
    "notice",
    "open_knowledge",
    "picture",
    "train_graft",
]
