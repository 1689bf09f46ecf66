import pytest

from kgraft.errors import BadInput
from kgraft.graph.batches import Refusals
from kgraft.graph.build import read_content
from kgraft.graph.io.readers.wordnet import WordNetSource, read_synset, split_gloss
from kgraft.progress import Silent

LICENCE = "  1 This software and database is being provided to you, the LICENSEE, by  \n"
FILES = {
    "data.noun": LICENCE
    + "00000100 05 n 02 dog 0 domestic_dog 0 003 @ 00000200 n 0000 + 00000300 v 0101 "
    + '+ 00000300 v 0201 | a domesticated animal; "the dog | barked"  \n'
    + "00000200 03 n 01 animal 0 002 ~ 00000100 n 0000 = 00000410 a 0000 | a living being  \n"
    + "00000210 17 n 02 sun 0 Sun 0 001 @i 00000200 n 0000 | the star  \n",
    "data.verb": LICENCE
    + "00000300 38 v 01 dog 1 001 + 00000100 n 0101 02 + 08 00 + 02 01 | go after  \n",
    "data.adj": LICENCE
    + "00000400 00 a 01 abundant 0 001 & 00000410 a 0000 | in great number  \n"
    + "00000410 00 s 02 abounding 0 galore(ip) a 002 & 00000400 a 0000 ^ 00000400 a 0000 | n  \n",
    "data.adv": LICENCE
    + "00000500 02 r 01 abundantly 0 001 \\ 00000400 a 0101 | in an abundant manner  \n",
    "index.sense": "abounding%5:00:00:abundant:00 00000410 1 1\n"
    "abundant%3:00:00:: 00000400 1 7\n"
    "abundantly%4:02:00:: 00000500 1 0\n"
    "animal%1:03:00:: 00000200 1 0\n"
    "dog%1:05:00:: 00000100 1 0\n"
    "dog%2:38:01:: 00000300 1 0\n"
    "domestic_dog%1:05:00:: 00000100 1 0\n"
    "galore%5:00:10:abundant:00 00000410 1 0\n"
    "sun%1:17:00:: 00000210 1 3\n",
    "cntlist.rev": "dog%1:05:00:: 1 42\ndog%2:38:01:: 1 2\ngalore%5:00:10:abundant:00 1 5\n"
    "gone%1:05:00:: 1 9\n",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_synsets(folder, collect):
    got = collect(WordNetSource(folder))
    entities = {entity["id"]: entity for entity in got.entities}
    assert list(entities) == [
        *("00000100-n", "00000200-n", "00000210-n", "00000300-v"),
        *("00000400-a", "00000410-s", "00000500-r"),
    ]
    assert entities["00000100-n"] == {
        "id": "00000100-n",
        "label": "dog",
        "description": "a domesticated animal",
        "aliases": ["domestic dog"],
        "types": ["noun.animal"],
        "name_counts": [42, 0],
        "pos": "n",
        "sense_keys": "dog%1:05:00::|domestic_dog%1:05:00::",
        "sense_numbers": "1|1",
        "examples": "the dog / barked",
    }
    galore = entities["00000410-s"]
    assert galore["aliases"] == ["galore"]
    assert galore["name_counts"] == [1, 5]
    assert galore["sense_keys"] == "abounding%5:00:00:abundant:00|galore%5:00:10:abundant:00"
    assert entities["00000210-n"]["name_counts"] == [3, 0]
    assert got.left_out == {"counts of unknown senses": 1}


def test_pointers(folder, collect):
    got = collect(WordNetSource(folder))
    assert [triple[:3] for triple in got.triples] == [
        ("00000100-n", "hypernym", "00000200-n"),
        ("00000100-n", "derivationally_related_form", "00000300-v"),
        ("00000200-n", "hyponym", "00000100-n"),
        ("00000200-n", "attribute", "00000410-s"),
        ("00000210-n", "instance_hypernym", "00000200-n"),
        ("00000300-v", "derivationally_related_form", "00000100-n"),
        ("00000400-a", "similar_to", "00000410-s"),
        ("00000410-s", "similar_to", "00000400-a"),
        ("00000410-s", "also_see", "00000400-a"),
        ("00000500-r", "pertainym", "00000400-a"),
    ]
    relations = {relation["id"]: relation for relation in got.relations}
    assert relations.keys() == {triple[1] for triple in got.triples}
    assert relations["instance_hypernym"]["label"] == "instance hypernym"
    assert relations["hypernym"]["template"] == "[X] is a kind of [Y] ."


def test_the_builder_takes_it(folder):
    content = read_content(WordNetSource(folder), Refusals(), Silent())
    assert len(content.entities) == 7
    assert len(content.triples.head) == 10


def test_counts_come_from_the_index_where_there_is_no_list(folder, collect):
    (folder / "cntlist.rev").unlink()
    got = collect(WordNetSource(folder))
    counts = {entity["id"]: entity["name_counts"] for entity in got.entities}
    assert counts["00000400-a"] == [7]
    assert counts["00000100-n"] == [0, 0]


@pytest.mark.parametrize("name", ["data.verb", "index.sense"])
def test_a_missing_file_is_named(folder, collect, name):
    (folder / name).unlink()
    with pytest.raises(BadInput, match=f"no file {name}; name the folder"):
        collect(WordNetSource(folder))


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "00000600 05 n 02 cat 0 000 | too few words",
        "00000600 05 n 00 000 | no word",
        "600 05 n 01 cat 0 000 | short offset",
        "00000600 99 n 01 cat 0 000 | no such file",
        "00000600 05 x 01 cat 0 000 | no such part of speech",
        "00000600 05 n 01 cat 0 001 ?? 00000100 n 0000 | no such pointer",
        "00000600 05 n 01 cat 0 002 @ 00000100 n 0000 | too few pointers",
        "00000600 05 n 01 cat 0 | no pointer count",
    ],
)
def test_malformed_synsets_are_refused_with_their_line(folder, collect, line):
    path = folder / "data.noun"
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(BadInput, match=r"data\.noun:5: malformed synset"):
        collect(WordNetSource(folder))
    got = collect(WordNetSource(folder), skip=True)
    assert got.refused == {"malformed synset": 1}
    assert len(got.entities) == 7


@pytest.mark.parametrize("name", ["index.sense", "cntlist.rev"])
def test_malformed_senses_and_counts_are_refused(folder, collect, name):
    path = folder / name
    path.write_text("what is this\n" + path.read_text())
    with pytest.raises(BadInput, match=f"{name}:1: malformed"):
        collect(WordNetSource(folder))
    assert collect(WordNetSource(folder), skip=True).refused.total() == 1


def test_hexadecimal_word_counts():
    words = " ".join(f"w{n} {n:x}" for n in range(16))
    synset = read_synset(f"00000600 05 n 10 {words} 000 | sixteen words")
    assert len(synset.words) == 16
    assert synset.words[15] == ("w15", "w15%1:05:15:")


@pytest.mark.parametrize(
    ("gloss", "definition", "examples"),
    [
        ("a thing", "a thing", []),
        ('a; b; "x y"; "z"', "a; b", ["x y", "z"]),
        ('(of w); "x" -Shakespeare; more', "(of w); more", ["x"]),
        ('"only this"', '"only this"', ["only this"]),
        ('an open "quote', 'an open "quote', []),
        ("", "", []),
    ],
)
def test_definition_and_examples(gloss, definition, examples):
    assert split_gloss(gloss) == (definition, examples)
