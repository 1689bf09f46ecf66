"""`kgraft graph`: what each command prints, writes, refuses, and with which exit code."""

import gzip
import json
import os
import subprocess
import sys

import pytest
from tests.cli.refused import assert_refused
from typer.testing import CliRunner

from kgraft.cli import app
from kgraft.graph import FORMATS, Graph, check_graph

ENTITIES = (
    "id\tlabel\tdescription\taliases\ttypes\n"
    "a\tAlpha\tfirst letter\tA|alef\tletter\n"
    "b\tBeta\tsecond letter\tB\tletter\n"
    "c\tGamma [/x] :b:\tthird [red] letter\tC\t[letter]\n"
    "d\tAlpha\tsoftware version\t\t\n"
    "e\tEpsilon\t\t\t\n"
)
RELATIONS = "id\tlabel\ttemplate\nnext\tis before\t[X] comes before [Y] .\n"
TRIPLES = "head\trelation\ttail\na\tnext\tb\nb\tnext\tc\nd\tnext\ta\n"
FILES = {"entities.tsv": ENTITIES, "relations.tsv": RELATIONS, "triples.tsv": TRIPLES}


@pytest.fixture
def run():
    """Run `kgraft graph …`."""
    return lambda *arguments: CliRunner().invoke(app, ["graph", *map(str, arguments)])


@pytest.fixture
def write(tmp_path):
    """Write files into tmp_path/source and return that folder; None leaves a file out."""

    def write(**changed):
        folder = tmp_path / "source"
        folder.mkdir()
        for name, content in {**FILES, **changed}.items():
            if content is not None:
                data = content if isinstance(content, bytes) else content.encode()
                (folder / name).write_bytes(data)
        return folder

    return write


@pytest.fixture
def letters(write, run, tmp_path):
    """An imported graph of five letters."""
    assert run("import", write(), "--out", tmp_path / "letters").exit_code == 0
    return tmp_path / "letters"


def names(place):
    return sorted(path.name for path in place.iterdir())


# import


def test_import_says_what_was_written(run, write, tmp_path):
    result = run("import", write(), "--out", tmp_path / "g")
    assert result.exit_code == 0
    assert result.stdout == f"{tmp_path / 'g'}: 5 entities, 1 relations, 3 triples\n"
    assert result.stderr == ""
    assert names(tmp_path) == ["g", "source"]
    assert check_graph(tmp_path / "g") == []


def test_import_as_json_is_the_manifest(run, write, tmp_path):
    result = run(
        "import", write(), "-o", tmp_path / "g", "--json", "--name", "Greek", "--licence", "CC0"
    )
    shown = json.loads(result.stdout)
    assert shown == json.loads((tmp_path / "g" / "manifest.json").read_text())
    assert (shown["name"], shown["licence"], shown["source"]) == ("Greek", "CC0", "source (tsv)")


def test_import_in_a_named_format_and_language(run, tmp_path):
    text = '<a:1> <a:2> <a:3> .\n<a:1> <http://www.w3.org/2000/01/rdf-schema#label> "{}"@{} .\n'
    lines = text.format("one", "en") + text.format("eins", "de").splitlines(keepends=True)[1]
    (tmp_path / "facts.nt").write_text(lines)
    run("import", tmp_path / "facts.nt", "-o", tmp_path / "g", "--format", "rdf", "--lang", "de")
    assert Graph.open(tmp_path / "g").entity("a:1").label == "eins"


def test_import_counts_what_is_left_out(run, write, tmp_path):
    source = write(**{"triples.tsv": TRIPLES + "a\tnext\tb\n"})
    result = run("import", source, "--out", tmp_path / "g")
    assert result.stdout.splitlines()[1:] == ["  left out: 1 repeated triples"]


BAD = {
    "wrong number of columns": (
        {"entities.tsv": ENTITIES + "f\tZeta\n"},
        ["entities.tsv:7: wrong number of columns: 2 instead of 5", "mend the line, or leave such"],
    ),
    "duplicate id": (
        {"entities.tsv": ENTITIES + "a\tAgain\t\t\t\n"},
        ["entities.tsv:7: duplicate id: 'a', first in line 2", "mend the line"],
    ),
    "empty id": (
        {"entities.tsv": ENTITIES + "\tNobody\t\t\t\n"},
        ["entities.tsv:7: empty id; mend the line"],
    ),
    "empty field": (
        {"triples.tsv": TRIPLES + "a\t\tb\n"},
        ["triples.tsv:5: empty field; mend the line"],
    ),
    "invalid UTF-8": (
        {"entities.tsv": ENTITIES.encode() + b"f\tZ\xe8ta\t\t\t\n"},
        ["entities.tsv:7: invalid UTF-8: byte 0xe8 at column 4", "iconv"],
    ),
    "name_counts are not numbers": (
        {"entities.tsv": "id\tname_counts\na\t1\nb\tx\nc\t1\nd\t1\ne\t1\n"},
        ["entities.tsv:3: name_counts are not numbers: 'x'; mend the line"],
    ),
    "name_counts misfit": (
        {"entities.tsv": "id\taliases\tname_counts\na\t\t\nb\tB\t1\nc\t\t\nd\t\t\ne\t\t\n"},
        ["entities.tsv:3: name_counts misfit: one number is needed for the label and each alias"],
    ),
}
FATAL = {
    "truncated gzip": (
        {"triples.tsv": None, "triples.tsv.gz": gzip.compress(TRIPLES.encode() * 99)[:40]},
        ["triples.tsv.gz: the gzip file is truncated", "check it with `gzip -t`, and download"],
    ),
    "no triples": (
        {"triples.tsv": None},
        ["source: no file of triples in this folder; add train.tsv or triples.tsv"],
    ),
    "empty file": (
        {"entities.tsv": ""},
        ["entities.tsv: the file is empty; give it a header line"],
    ),
    "bad header": (
        {"entities.tsv": "surname\tlabel\n"},
        ["entities.tsv:1: the header is: surname | label; it needs a column named id"],
    ),
    "bad header of triples": (
        {"triples.tsv": "person\trole\tcompany\nann\tboss\tacme\n"},
        ["triples.tsv:1: it is not clear whether the first row is a header: person | role |"],
    ),
    "no entity": (
        {"entities.tsv": "id\n", "triples.tsv": "head\trelation\ttail\n"},
        ["source: no entity was found; is it the right file and format?"],
    ),
}


REFUSE = ("--undeclared", "refuse")


def test_undeclared_parts_are_added_or_refused(run, write, tmp_path):
    more = TRIPLES + "a\tnext\tz\na\tlikes\tb\n"
    source = write(**{"triples.tsv": more})
    lines = run("import", source, "--out", tmp_path / "g").stdout.splitlines()
    assert [line[:14] for line in lines[1:]] == ["  1 entity tha", "  1 relation t"]
    result = run("import", source, "--out", tmp_path / "h", *REFUSE)
    reason = "triples.tsv:5: unknown entity: 'z'"
    assert_refused(result, reason, "declare it, or leave such lines out (--skip-bad)")
    (source / "triples.tsv").write_text(TRIPLES + "a\tlikes\tb\n")
    result = run("import", source, "--out", tmp_path / "h", *REFUSE)
    assert_refused(result, "triples.tsv:5: unknown relation: 'likes'", "declare it")
    assert_refused(run("import", source, "--out", tmp_path / "h", "--undeclared", "x"), "add or")


@pytest.mark.slow
@pytest.mark.parametrize("case", [*BAD, *FATAL])
def test_bad_input_is_refused_and_nothing_is_left(run, write, tmp_path, case):
    files, words = {**BAD, **FATAL}[case]
    result = run("import", write(**files), "--out", tmp_path / "deep" / "g")
    assert_refused(result, *words)
    assert names(tmp_path) == ["source"]


@pytest.mark.parametrize("case", FATAL)
def test_what_concerns_a_whole_file_cannot_be_skipped(run, write, tmp_path, case):
    files, words = FATAL[case]
    assert_refused(run("import", write(**files), "--out", tmp_path / "g", "--skip-bad"), *words)
    assert names(tmp_path) == ["source"]


@pytest.mark.slow
@pytest.mark.parametrize("case", BAD)
def test_bad_lines_are_skipped_counted_and_kept(run, write, tmp_path, case):
    files, words = BAD[case]
    result = run("import", write(**files), "--out", tmp_path / "deep" / "g", "--skip-bad")
    assert result.exit_code == 0
    refused = tmp_path / "deep" / "g.refused.tsv"
    assert f"  refused: 1 × {case}; see {refused}" in result.stdout.splitlines()
    place, reason, _ = refused.read_text().splitlines()[0].split("\t", 2)
    assert place.endswith(words[0].split(": ")[0])
    assert reason.startswith(case)
    graph = Graph.open(tmp_path / "deep" / "g")
    assert graph.manifest.refused.pop(case) == 1
    assert check_graph(graph.folder) == []
    assert names(tmp_path / "deep") == ["g", "g.refused.tsv"]


def test_skipped_lines_are_counted_by_reason(run, write, tmp_path):
    more = TRIPLES + "a\tnext\tz\na\tnext\ny\tnext\tz\na\tlikes\tb\n"
    source = write(**{"triples.tsv": more})
    result = run("import", source, "--out", tmp_path / "g", "--skip-bad", "--json", *REFUSE)
    expected = {"unknown entity": 2, "wrong number of columns": 1, "unknown relation": 1}
    assert json.loads(result.stdout)["refused"] == expected
    lines = (tmp_path / "g.refused.tsv").read_text().splitlines()
    assert len(lines) == 4
    assert f"{tmp_path}/source/triples.tsv:5\tunknown entity: 'z'\ta\tnext\tz" in lines


def test_a_missing_source(run, tmp_path):
    result = run("import", tmp_path / "nowhere", "--out", tmp_path / "g")
    assert_refused(result, "nowhere: no such file or folder; check the path")
    assert names(tmp_path) == []


def test_an_unknown_format(run, write, tmp_path):
    result = run("import", write(), "--out", tmp_path / "g", "--format", "excel")
    assert_refused(result, "'excel'", ", ".join(FORMATS))
    assert names(tmp_path) == ["source"]


def test_an_existing_folder_is_refused(run, letters, tmp_path):
    result = run("import", tmp_path / "source", "--out", letters)
    assert_refused(result, f"{letters} exists already; name another folder or pass --overwrite")
    assert_refused(run("import", tmp_path / "source", "--out", "."), "exists already")


def test_overwriting_takes_graphs_only(run, letters, tmp_path):
    source = tmp_path / "source"
    assert run("import", source, "--out", letters, "--overwrite").exit_code == 0
    before = names(source)
    result = run("import", source, "--out", source, "--overwrite")
    assert_refused(result, f"{source} is not a graph, so it is not overwritten")
    assert names(source) == before
    assert names(tmp_path) == ["letters", "source"]


def test_an_out_that_cannot_be_written(run, write, tmp_path):
    (tmp_path / "file").touch()
    result = run("import", write(), "--out", tmp_path / "file" / "g")
    assert_refused(result, f"{tmp_path / 'file'}: ")


# info


def test_info(run, letters):
    result = run("info", letters)
    assert result.exit_code == 0
    rows = dict(line.strip().split(maxsplit=1) for line in result.stdout.splitlines())
    assert (rows["entities"], rows["relations"], rows["triples"]) == ("5", "1", "3")
    assert (rows["splits"], rows["source"], rows["priors"]) == ("train 3", "source (tsv)", "degree")


def test_info_as_json(run, letters):
    shown = json.loads(run("info", letters, "--json").stdout)
    assert (shown["entities"], shown["relations"], shown["triples"]) == (5, 1, 3)
    assert shown["splits"] == {"train": 3, "valid": 0, "test": 0}


def test_the_built_in_graph_is_the_default(run):
    shown = json.loads(run("info", "--json").stdout)
    assert shown["name"] == "world"
    assert shown["entities"] > 1000


@pytest.mark.parametrize("command", ["info", "check", "search x --graph", "show x --graph"])
def test_graphs_that_are_not_there(run, tmp_path, command):
    result = run(*command.split(), tmp_path / "nope")
    assert_refused(result, f"no graph at {tmp_path / 'nope'}; import one with: kgraft graph import")
    assert_refused(run(*command.split(), tmp_path), "is not a graph (it has no manifest.json)")


# show


def test_show(run, letters):
    result = run("show", "A", "-g", letters)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "Alpha  a  letter",
        "  first letter",
        "  also: A, alef",
        "  • Alpha comes before Beta.",
        "  • Alpha comes before Alpha.",
    ]


def test_show_prints_names_as_they_are(run, letters):
    result = run("show", "c", "-g", letters)
    assert result.stdout.splitlines() == [
        "Gamma [/x] :b:  c  [letter]",
        "  third [red] letter",
        "  also: C",
        "  • Beta comes before Gamma [/x] :b:.",
    ]


def test_show_some_facts(run, letters):
    shown = run("show", "b", "-g", letters, "--facts", 1).stdout
    assert "… 2 facts in all" in shown
    assert shown.count("•") == 1
    assert run("show", "b", "-g", letters, "--facts", -1).exit_code == 2


def test_show_as_json(run, letters):
    shown = json.loads(run("show", "beta", "-g", letters, "--json").stdout)
    assert shown["entity"] == {
        "index": 1,
        "id": "b",
        "label": "Beta",
        "description": "second letter",
        "aliases": ["B"],
        "types": ["letter"],
    }
    assert (shown["facts"], len(shown["neighbours"])) == (2, 2)
    assert shown["sentences"][0] == "Beta comes before Gamma [/x] :b:."


def test_show_paths(run, letters):
    result = run("show", "d", "--to", "c", "-g", letters)
    assert result.exit_code == 0
    assert result.stdout == (
        "Alpha — is before → Alpha — is before → Beta — is before → Gamma [/x] :b:\n"
    )
    back = run("show", "b", "--to", "a", "-g", letters).stdout
    assert back == "Beta ← is before — Alpha\n"
    (path,) = json.loads(run("show", "a", "--to", "b", "-g", letters, "--json").stdout)
    assert path["words"] == "Alpha — is before → Beta"
    assert (path["entities"], path["forward"]) == (["a", "b"], [True])


def test_no_path_exits_with_1(run, letters):
    result = run("show", "a", "--to", "e", "-g", letters)
    assert (result.exit_code, result.stdout) == (1, "no path of up to three triples\n")
    result = run("show", "a", "--to", "e", "-g", letters, "--json")
    assert (result.exit_code, json.loads(result.stdout)) == (1, [])


def test_show_somebody_unknown(run, letters):
    assert_refused(
        run("show", "Gam", "-g", letters),
        "nothing in the graph is named 'Gam'; did you mean Gamma [/x] :b: (c)?",
    )
    assert_refused(run("show", "a", "--to", "Omega", "-g", letters), "named 'Omega'")


# search


@pytest.mark.slow
def test_search(run, letters):
    result = run("search", "al", "-g", letters)
    assert result.exit_code == 0
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows[0] == ["entity", "label", "found", "by", "description"]
    assert [(row[0], row[2]) for row in rows[1:]] == [("a", "prefix:"), ("d", "prefix:")]
    assert "Gamma [/x] :b:" in run("search", "gamma", "-g", letters).stdout


def test_search_as_json(run, letters):
    shown = json.loads(run("search", "alpha", "-g", letters, "-n", 1, "--json").stdout)
    assert [(hit["entity"]["id"], hit["how"], hit["name"]) for hit in shown] == [
        ("a", "name", "alpha")
    ]


def test_search_without_a_hit_exits_with_1(run, letters):
    result = run("search", "omega", "-g", letters)
    assert (result.exit_code, result.stdout) == (1, "nothing is named like 'omega'\n")
    result = run("search", "omega", "-g", letters, "--json")
    assert (result.exit_code, json.loads(result.stdout)) == (1, [])
    assert run("search", "alpha", "-g", letters, "-n", 0).exit_code == 2


# export


def test_export(run, letters, tmp_path):
    result = run("export", letters, "--out", tmp_path / "g.nt")
    assert (result.exit_code, result.stdout) == (
        0,
        f"{tmp_path / 'g.nt'}: written as ntriples\n",
    )
    again = json.loads(run("import", tmp_path / "g.nt", "-o", tmp_path / "again", "--json").stdout)
    assert again["version"] == Graph.open(letters).manifest.version


def test_export_as_json(run, letters, tmp_path):
    out = tmp_path / "files"
    result = run("export", letters, "--out", out, "--format", "pykeen", "--json")
    assert json.loads(result.stdout) == {"out": str(out), "format": "pykeen"}
    assert names(out) == ["train.txt"]


@pytest.mark.slow
def test_export_refuses(run, letters, tmp_path):
    assert_refused(run("export", letters, "--out", letters), "exists already")
    out = tmp_path / "x"
    assert_refused(run("export", letters, "-o", out, "--format", "doc"), "'doc'")
    assert_refused(run("export", tmp_path / "no", "-o", out), "no graph at")
    assert names(tmp_path) == ["letters", "source"]


# check


def test_check(run, letters):
    result = run("check", letters)
    assert (result.exit_code, result.stdout) == (0, f"{letters}: all is well\n")
    result = run("check", letters, "--json")
    assert (result.exit_code, json.loads(result.stdout)) == (
        0,
        {"graph": str(letters), "problems": []},
    )


def test_check_of_an_altered_graph_exits_with_1(run, letters):
    path = letters / "entities.arrow"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    result = run("check", letters)
    assert result.exit_code == 1
    assert result.stdout == f"{path}: the checksum differs; import the graph again\n"
    result = run("check", letters, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["problems"] == [
        f"{path}: the checksum differs; import the graph again"
    ]


def test_check_of_a_newer_format_is_refused(run, letters):
    path = letters / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 99}))
    assert_refused(run("check", letters), "format 99", "pip install -U kgraft")


# As a process


@pytest.mark.slow
def test_arguments_that_are_no_text_are_not_found(letters):
    command = [sys.executable, "-c", "from kgraft.cli import main; main()", "graph", "show"]
    done = subprocess.run(
        [*command, os.fsdecode(b"\xff\xfe"), "-g", str(letters)], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr.startswith("kgraft: nothing in the graph is named")
    assert done.stderr.count("\n") == 1
