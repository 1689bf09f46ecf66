from .annotated import AnnotatedTexts, annotate, read_annotated
from .documents import document_name, read_document_names
from .json_lines import read_json_lines
from .splits import hold_out
from .verbalise import OBJECT, SUBJECT, fact_texts, relation_templates

__all__ = [
    "OBJECT",
    "SUBJECT",
    "AnnotatedTexts",
    "annotate",
    "document_name",
    "fact_texts",
    "hold_out",
    "read_annotated",
    "read_document_names",
    "read_json_lines",
    "relation_templates",
]
