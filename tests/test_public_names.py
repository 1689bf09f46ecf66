"""The public names, and what they cost: importing kgraft or asking for help loads nothing heavy."""

import importlib
import inspect
import os
import subprocess
import sys

import pytest

import kgraft

NAMES = {
    "kgraft": ["Encoder", "EntityVectors", "Graph", "KgraftError", "Linker", "__version__"],
    "kgraft.graph": [
        "EntityLike",
        "FORMATS",
        "IGNORED",
        "SPLITS",
        "UNKNOWN",
        "WRITERS",
        "Adjacency",
        "Candidate",
        "Card",
        "Entity",
        "EntityLike",
        "Fact",
        "Found",
        "Graph",
        "GraphDiff",
        "GraphPath",
        "GraphProfile",
        "Hop",
        "Literal",
        "Manifest",
        "Match",
        "Mention",
        "Mentions",
        "Neighbour",
        "Refusals",
        "Relation",
        "Solutions",
        "Source",
        "TablesSource",
        "TripleArrays",
        "add_fact",
        "build_graph",
        "check_graph",
        "diff_graphs",
        "examples",
        "export_graph",
        "fill_pattern",
        "from_networkx",
        "is_current",
        "merge_graphs",
        "migrate_graph",
        "open_source",
        "placeholders",
        "profile_graph",
        "profile_svg",
        "query_sparql",
        "random_walks",
        "read_triples",
        "remove_parts",
        "sample_neighbourhood",
        "says_both_ends",
        "split_graph",
        "to_edge_index",
        "to_labelled_triples",
        "to_networkx",
        "write_example",
    ],
    "kgraft.graph.io": [
        "FORMATS",
        "WRITERS",
        "Format",
        "Sign",
        "SourceOptions",
        "TablesSource",
        "Writer",
        "export_graph",
        "find_format",
        "from_networkx",
        "open_source",
        "to_edge_index",
        "to_labelled_triples",
        "to_networkx",
    ],
    "kgraft.graph.names": [
        "FUNCTION_WORDS",
        "SEPARATOR",
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
    ],
    "kgraft.corpus": [
        "AnnotatedTexts",
        "Document",
        "Phrase",
        "annotate",
        "bare_phrase",
        "document_name",
        "fact_texts",
        "graph_texts",
        "has_field",
        "hold_out",
        "process_documents",
        "read_annotated",
        "read_document_names",
        "read_documents",
        "read_json_lines",
        "read_links",
        "relation_phrases",
        "relation_templates",
        "verbalise",
        "verbalise_graph",
    ],
    "kgraft.text": [
        "Encoder",
        "ExtraInputs",
        "MASKED",
        "Masked",
        "MaskedHead",
        "MaskedSettings",
        "MaskedTask",
        "MentionBatch",
        "NIL",
        "PADDING",
        "Pooling",
        "StaticEncoder",
        "TokenMask",
        "TokenSpans",
        "TokenVectors",
        "Windows",
        "adapt",
        "adapter_rank",
        "adapter_state",
        "changed_after",
        "find_encoder",
        "freeze_bottom",
        "hook_after",
        "join_sentences",
        "layers_of",
        "length_batches",
        "load_adapters",
        "masked_losses",
        "masked_perplexity",
        "packaged_folder",
        "passages",
        "quantise",
        "token_spans",
    ],
    "kgraft.training": [
        "AdamWTask",
        "Diverged",
        "Epoch",
        "MANIFEST",
        "ModelManifest",
        "ParameterGroups",
        "Pretrained",
        "Processes",
        "Purpose",
        "Schedule",
        "TrainingSettings",
        "TrainingTask",
        "differences",
        "fit",
        "lr_scale",
        "read_manifest",
        "seeded",
        "shuffled_batches",
        "stream",
        "torch_stream",
        "train_in_memory",
        "without_prefix",
    ],
    "kgraft.measure": [
        "Difference",
        "Logistic",
        "PROTOCOL",
        "SCORES",
        "Queries",
        "QueryBatch",
        "Ranking",
        "brier",
        "calibration_error",
        "f1",
        "filtered_ranks",
        "fit_logistic",
        "macro_f1",
        "paired_difference",
        "perplexity",
        "query_chunks",
        "rank",
        "rank_figures",
        "ratio",
        "relation_categories",
    ],
    "kgraft.vectors": [
        "AncestorVectors",
        "AttentionVectors",
        "ColdStart",
        "ColdStartVectors",
        "CombinedVectors",
        "ENTITY_FIELDS",
        "EntityIndex",
        "EntityVectors",
        "FallbackChain",
        "GraphAttention",
        "GraphAttentionSettings",
        "Memory",
        "MemoryVectors",
        "NeighbourFallback",
        "NeighbourVectors",
        "Neighbourhood",
        "Part",
        "RefreshSettings",
        "SimilarEntity",
        "StoredVectors",
        "TableVectors",
        "TextFallback",
        "TextVectors",
        "TrainedRows",
        "VectorStore",
        "VectorsConfig",
        "WordVectors",
        "cache_folder",
        "entity_texts",
        "neighbourhoods",
        "read_vectors",
        "same_graph",
        "softmax_by",
        "text_keys",
        "write_table_vectors",
    ],
    "kgraft.embed": [
        "EmbedSettings",
        "EmbeddingTables",
        "LinkPredictor",
        "MODELS",
        "Model",
        "PRESETS",
        "Prediction",
        "choose_entities",
        "export_vectors",
        "plot_vectors",
        "preset_settings",
        "rank_queries",
        "train_embedding",
    ],
    "kgraft.joint": [
        "Descriptions",
        "Heads",
        "JointConfig",
        "JointModel",
        "Language",
        "LinkedBatch",
        "LinkedWindows",
        "PretrainSettings",
        "Weights",
        "begin_alike",
        "fresh_joint",
        "load_joint",
        "new_heads",
        "open_memory",
        "pretrain",
    ],
    "kgraft.graft": [
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
    ],
    "kgraft.tasks": [
        "CLASS_TASKS",
        "JOINT_TASKS",
        "SEMEVAL",
        "TASKS",
        "TYPING",
        "WIC",
        "ClassSettings",
        "ClassTask",
        "ClassTrainee",
        "Classifier",
        "Examples",
        "Ready",
        "choose_senses",
        "evaluate",
        "evaluate_joint",
        "evaluate_plain",
        "first_senses",
        "perplexity_counts",
        "reciprocal_ranks",
        "sense_counts",
    ],
    "kgraft.link": [
        "Adaptation",
        "Link",
        "LinkConfig",
        "LinkModel",
        "LinkOptions",
        "LinkSettings",
        "Linker",
        "Report",
        "ScoredCandidate",
        "TrainingTexts",
        "adapt_linker",
        "calibrate_threshold",
        "export_linker",
        "link_file",
        "load_model",
        "new_model",
        "read_adaptation",
        "read_or_link",
        "report",
        "train_linker",
    ],
}
HEAVY = ("torch", "transformers", "pyarrow", "numpy", "pandas")


@pytest.mark.parametrize("package", NAMES)
def test_public_names_are_pinned(package):
    assert sorted(importlib.import_module(package).__all__) == sorted(NAMES[package])


@pytest.mark.parametrize(("package", "name"), [(p, n) for p in NAMES for n in NAMES[p]])
def test_public_names_are_there_and_have_a_docstring(package, name):
    found = getattr(importlib.import_module(package), name)
    assert found.__doc__ or not (inspect.isclass(found) or inspect.isfunction(found))


@pytest.mark.parametrize("package", ["kgraft", "kgraft.text"])
def test_other_names_are_not(package):
    with pytest.raises(AttributeError, match="Grahp"):
        importlib.import_module(package).Grahp  # noqa: B018


def test_the_nouns_are_listed():
    shown = {name for name in dir(kgraft) if not name.startswith("_")}
    assert shown == {name for name in NAMES["kgraft"] if not name.startswith("_")}


def test_the_version_is_that_of_the_package():
    from importlib.metadata import version

    assert kgraft.__version__ == version("kgraft")


def loaded(code):
    """Return which heavy packages are loaded after some code in a fresh process."""
    report = f"{code}\nimport sys\nprint([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "import kgraft",
        "import kgraft.cli",
        "import kgraft.errors, kgraft.progress",
        "from typer.testing import CliRunner; from kgraft.cli import app; "
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0",
        "from typer.testing import CliRunner; from kgraft.cli import app; "
        "assert CliRunner().invoke(app, ['graph', 'import', '--help']).exit_code == 0",
    ],
)
def test_nothing_heavy_is_loaded(code):
    assert loaded(code) == "[]"


@pytest.mark.parametrize(
    "code",
    [
        "import kgraft.graph",
        "from kgraft import Graph",
        "from kgraft.corpus import process_documents, read_annotated, verbalise_graph",
    ],
)
def test_a_graph_and_a_corpus_need_no_torch(code):
    modules = loaded(code)
    assert "torch" not in modules
    assert "transformers" not in modules


@pytest.mark.slow
def test_a_graph_is_looked_up_without_torch():
    code = "from kgraft import Graph; Graph.open('world').mentions('from Paris to Berlin')"
    modules = loaded(code)
    assert "torch" not in modules
    assert "transformers" not in modules


def cpu_seconds(command):
    """Return the processor time of a command."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    return usage.ru_utime + usage.ru_stime


HELP_OF_ANY_TYPER_APP = """
import typer
app = typer.Typer()
@app.command()
def nothing(): ...
app()
"""


@pytest.mark.slow
def test_help_answers_at_once():
    """Ours costs little more than the help of a program that does nothing, on any machine."""
    ours = [sys.executable, "-c", "from kgraft.cli import main; main()", "--help"]
    least = [sys.executable, "-c", HELP_OF_ANY_TYPER_APP, "--help"]
    assert min(map(cpu_seconds, [ours] * 3)) < 2 * min(map(cpu_seconds, [least] * 3))
