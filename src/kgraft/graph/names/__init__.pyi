from .abbreviations import find_definitions, may_stand_for
from .alias_build import Form
from .fold import FoldedNames, fold_name
from .matcher import NameMatcher
from .stems import stem
from .tokenised import TokenisedTexts, covered_words
from .words import english_words, ordinary_frequency, word_languages

__all__ = [
    "FoldedNames",
    "Form",
    "NameMatcher",
    "TokenisedTexts",
    "covered_words",
    "english_words",
    "find_definitions",
    "fold_name",
    "may_stand_for",
    "ordinary_frequency",
    "stem",
    "word_languages",
]
