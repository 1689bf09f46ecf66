from .clozes import Clozes, locate_clozes, make_clozes
from .encoder import GraftedEncoder
from .explanation import Explanation, explain
from .explanation_page import render_html
from .graft_texts import GraftTexts
from .grafting import attach, detach, knowledge_off, record_grafts
from .interfaces import Graft, Knowledge
from .kinds import GRAFTS
from .knowledge import KNOWLEDGE
from .knowledge.fact_recall import FactRecallKnowledge
from .knowledge.graph import GraphKnowledge
from .knowledge.paths import PathKnowledge
from .knowledge.rules import RuleKnowledge
from .knowledge.wordnet import WordNetKnowledge
from .opening import open_knowledge
from .output import GraftOutput
from .senses import SenseTexts, locate_senses, look_up_senses, sense_sentences
from .settings import AttentionSettings, GraftSettings, InjectionSettings, TextSettings
from .train import train_graft
from .windows import MentionWindows, locate_mentions

__all__ = [
    "GRAFTS",
    "KNOWLEDGE",
    "AttentionSettings",
    "Clozes",
    "Explanation",
    "FactRecallKnowledge",
    "Graft",
    "GraftOutput",
    "GraftSettings",
    "GraftTexts",
    "GraftedEncoder",
    "GraphKnowledge",
    "InjectionSettings",
    "Knowledge",
    "MentionWindows",
    "PathKnowledge",
    "RuleKnowledge",
    "SenseTexts",
    "TextSettings",
    "WordNetKnowledge",
    "attach",
    "detach",
    "explain",
    "knowledge_off",
    "locate_clozes",
    "locate_mentions",
    "locate_senses",
    "look_up_senses",
    "make_clozes",
    "open_knowledge",
    "record_grafts",
    "render_html",
    "sense_sentences",
    "train_graft",
]
