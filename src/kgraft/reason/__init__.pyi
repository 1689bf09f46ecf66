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
from .source import Source

__all__ = [
    "MinedRules",
    "MiningSettings",
    "Reason",
    "RuleSet",
    "RuleSource",
    "Rules",
    "ShownRule",
    "Source",
    "apply_rules",
    "choose_aggregation",
    "list_rules",
    "mine_and_save",
    "mine_rules",
    "read_anyburl",
    "write_anyburl",
]
