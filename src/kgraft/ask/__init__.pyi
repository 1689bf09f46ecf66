from .answerer import Answer, AnsweredQuestion, Answerer
from .questions import Questions
from .settings import AnswererConfig, AnswererSettings
from .train import fine_tune_answerer, measure_answers, train_answerer

__all__ = [
    "Answer",
    "AnsweredQuestion",
    "Answerer",
    "AnswererConfig",
    "AnswererSettings",
    "Questions",
    "fine_tune_answerer",
    "measure_answers",
    "train_answerer",
]
