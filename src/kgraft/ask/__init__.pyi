from .answerer import Answer, AnsweredQuestion, Answerer
from .questions import Questions
from .settings import AnswererConfig, AnswererSettings
from .task import AnswererTask
from .train import fine_tune_answerer, measure_answers, train_answerer

__all__ = [
    "Answer",
    "AnsweredQuestion",
    "Answerer",
    "AnswererConfig",
    "AnswererSettings",
    "AnswererTask",
    "Questions",
    "fine_tune_answerer",
    "measure_answers",
    "train_answerer",
]
