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
        "FORMATS",
        "SPLITS",
        "WRITERS",
        "Adjacency",
        "Aliases",
        "Candidate",
        "Card",
        "Entity",
        "Found",
        "Graph",
        "GraphDiff",
        "GraphPath",
        "GraphProfile",
        "Hop",
        "Literal",
        "Manifest",
        "Matches",
        "Mention",
        "Neighbour",
        "Refusals",
        "Relation",
        "Solutions",
        "Source",
        "Split",
        "Subgraph",
        "TablesSource",
        "TripleArrays",
        "Walks",
        "add_fact",
        "build_graph",
        "check_graph",
        "diff_graphs",
        "export_graph",
        "from_networkx",
        "merge_graphs",
        "migrate_graph",
        "mirrored_relations",
        "open_source",
        "profile_graph",
        "profile_svg",
        "query_sparql",
        "random_walks",
        "remove_parts",
        "sample_neighbourhood",
        "split_graph",
        "to_edge_index",
        "to_labelled_triples",
        "to_networkx",
    ],
    "kgraft.text": [
        "Encoder",
        "ExtraInputs",
        "Masked",
        "MaskedHead",
        "MaskedSettings",
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
        "train_masked",
    ],
    "kgraft.training": [
        "Diverged",
        "Epoch",
        "Processes",
        "Schedule",
        "Trainee",
        "stream",
        "torch_stream",
        "train",
        "train_in_passing",
    ],
    "kgraft.measure": [
        "Difference",
        "Logistic",
        "brier",
        "calibration_error",
        "f1",
        "filtered_ranks",
        "fit_logistic",
        "macro_f1",
        "paired_difference",
        "perplexity",
        "rank_figures",
        "share",
    ],
    "kgraft.vectors": [
        "VECTORS",
        "AncestorVectors",
        "AttentionVectors",
        "CombinedVectors",
        "EntityVectors",
        "Filled",
        "FromNeighbours",
        "FromText",
        "GraphAttention",
        "GraphAttentionSettings",
        "InOrder",
        "Memory",
        "MemoryVectors",
        "Near",
        "NeighbourVectors",
        "Refreshing",
        "StoredVectors",
        "TableVectors",
        "TextVectors",
        "TrainedRows",
        "Unseen",
        "VectorsManifest",
        "WordVectors",
        "read_vectors",
        "write_table_vectors",
    ],
    "kgraft.embed": [
        "MODELS",
        "PRESETS",
        "Embedded",
        "Embedding",
        "Model",
        "Prediction",
        "Queries",
        "Ranking",
        "Settings",
        "choose_entities",
        "export_vectors",
        "plot_vectors",
        "preset_settings",
        "rank_queries",
        "relation_categories",
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
        "KINDS",
        "AttentionSettings",
        "EntityInjection",
        "ExpectingKnowledge",
        "Explanation",
        "GraftSettings",
        "GraftedEncoder",
        "GraphKnowledge",
        "InjectionSettings",
        "Knowledge",
        "KnowledgeAttention",
        "Looked",
        "Mentions",
        "Noticed",
        "NoticedWindows",
        "PartOfSpeech",
        "RelationInjection",
        "WordNetKnowledge",
        "attach",
        "detach",
        "explain",
        "grafts_of",
        "knowledge_off",
        "looking",
        "notice",
        "open_knowledge",
        "picture",
        "train_graft",
    ],
    "kgraft.tasks": [
        "CLASS_TASKS",
        "JOINT_TASKS",
        "SEMEVAL",
        "STRATEGIES",
        "TASKS",
        "TYPING",
        "WIC",
        "ClassSettings",
        "ClassTask",
        "ClassTrainee",
        "Classifier",
        "Clozes",
        "Examples",
        "Ready",
        "SenseTexts",
        "choose_senses",
        "clozes",
        "compare_strategies",
        "evaluate",
        "evaluate_joint",
        "evaluate_plain",
        "first_senses",
        "noticed_clozes",
        "noticed_senses",
        "perplexity_counts",
        "read_senses",
        "reciprocal_ranks",
        "sense_counts",
    ],
    "kgraft.link": [
        "Adaptation",
        "Annotated",
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
        "annotate",
        "calibrate_threshold",
        "export_linker",
        "graph_texts",
        "link_file",
        "read_adaptation",
        "read_annotated",
        "read_texts",
        "report",
        "split_texts",
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


@pytest.mark.parametrize("code", ["import kgraft.graph", "from kgraft import Graph"])
def test_a_graph_needs_no_torch(code):
    modules = loaded(code)
    assert "torch" not in modules
    assert "transformers" not in modules


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


def test_help_answers_at_once():
    """Ours costs little more than the help of a program that does nothing, on any machine."""
    ours = [sys.executable, "-c", "from kgraft.cli import main; main()", "--help"]
    least = [sys.executable, "-c", HELP_OF_ANY_TYPER_APP, "--help"]
    assert min(map(cpu_seconds, [ours] * 3)) < 2 * min(map(cpu_seconds, [least] * 3))
