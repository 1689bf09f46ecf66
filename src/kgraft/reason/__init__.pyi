from .complete import complete_graph
from .completer import Completer, Prediction
from .explanation import Explanation
from .memory.fact_memory import FactMemory
from .memory.fact_source import FactSource
from .memory.recalled import RecalledAnswer, RecalledFact
from .memory.settings import RecallSettings
from .open import open_completer
from .paths.reasoner import Reasoner
from .paths.source import PathSource
from .paths.train import train_reasoner
from .reasons import Reason
from .rules.aggregation import choose_aggregation
from .rules.anyburl import read_anyburl, write_anyburl
from .rules.conclusions import apply_rules
from .rules.folder import Rules, mine_and_save
from .rules.listing import ShownRule, list_rules
from .rules.mine import MinedRules, mine_rules
from .rules.rule_set import RuleSet
from .rules.rule_source import RuleSource
from .rules.settings import MiningSettings
from .score_source import ScoreSource
from .settings import CompleterConfig, ReasonerConfig, ReasonerSettings
from .source import Source
from .text.completer import TextCompleter
from .text.settings import TextConfig, TextSettings
from .text.source import TextSource
from .text.train import train_text_completer
from .weights import SourceWeights

__all__ = [
    "Completer",
    "CompleterConfig",
    "Explanation",
    "FactMemory",
    "FactSource",
    "MinedRules",
    "MiningSettings",
    "PathSource",
    "Prediction",
    "Reason",
    "Reasoner",
    "ReasonerConfig",
    "ReasonerSettings",
    "RecallSettings",
    "RecalledAnswer",
    "RecalledFact",
    "RuleSet",
    "RuleSource",
    "Rules",
    "ScoreSource",
    "ShownRule",
    "Source",
    "SourceWeights",
    "TextCompleter",
    "TextConfig",
    "TextSettings",
    "TextSource",
    "apply_rules",
    "choose_aggregation",
    "complete_graph",
    "list_rules",
    "mine_and_save",
    "mine_rules",
    "open_completer",
    "read_anyburl",
    "train_reasoner",
    "train_text_completer",
    "write_anyburl",
]
