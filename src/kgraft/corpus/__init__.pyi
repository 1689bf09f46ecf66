from .annotated import AnnotatedTexts, annotate, read_annotated, read_links
from .document_names import document_name, read_document_names
from .documents import Document, process_documents, read_documents
from .graph_texts import graph_texts, verbalise_graph
from .json_lines import has_field, read_json_lines, read_records
from .splits import hold_out
from .verbalise import Phrase, bare_phrase, relation_phrases, relation_templates, verbalise

__all__ = [
    "AnnotatedTexts",
    "Document",
    "Phrase",
    "annotate",
    "bare_phrase",
    "document_name",
    "graph_texts",
    "has_field",
    "hold_out",
    "process_documents",
    "read_annotated",
    "read_document_names",
    "read_documents",
    "read_json_lines",
    "read_links",
    "read_records",
    "relation_phrases",
    "relation_templates",
    "verbalise",
    "verbalise_graph",
]
