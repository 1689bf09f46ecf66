"""KnowBERT: knowledge attention, plugged into any encoder between two of its layers."""

from kgraft.graft.attach import attach, detach, grafts_of, knowledge_off, looking
from kgraft.graft.attention import AttentionSettings, KnowledgeAttention
from kgraft.graft.encoder import GraftedEncoder, NoticedWindows
from kgraft.graft.expecting import ExpectingKnowledge
from kgraft.graft.explain import Explanation, explain
from kgraft.graft.injection import EntityInjection, InjectionSettings, RelationInjection
from kgraft.graft.kinds import KINDS
from kgraft.graft.knowledge import GraphKnowledge, Knowledge
from kgraft.graft.mentions import Looked, Mentions
from kgraft.graft.noticed import Noticed
from kgraft.graft.picture import picture
from kgraft.graft.recipe import open_knowledge
from kgraft.graft.settings import GraftSettings
from kgraft.graft.train import notice, train_graft
from kgraft.graft.wordnet import PartOfSpeech, WordNetKnowledge

__all__ = [
    "KINDS",
    "AttentionSettings",
    "EntityInjection",
    "ExpectingKnowledge",
    "Explanation",
    "GraftSettings",
    "GraftedEncoder",
    "GraphKnowledge",
    "InjectionSettings",
    "Knowledge",
    "KnowledgeAttention",
    "Looked",
    "Mentions",
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
