from .annotated import AnnotatedTexts, annotate, read_annotated
from .documents import document_name, read_document_names
from .graph_texts import fact_texts, graph_texts, verbalise_graph
from .json_lines import read_json_lines
from .splits import hold_out
from .verbalise import Phrase, bare_phrase, relation_phrases, relation_templates, verbalise

__all__ = [
    "AnnotatedTexts",
    "Phrase",
    "annotate",
    "bare_phrase",
    "document_name",
    "fact_texts",
    "graph_texts",
    "hold_out",
    "read_annotated",
    "read_document_names",
    "read_json_lines",
    "relation_phrases",
    "relation_templates",
    "verbalise",
    "verbalise_graph",
]
