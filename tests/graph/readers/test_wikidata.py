import bz2
import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgraft.errors import BadInput, KgraftError
from kgraft.graph.batches import Refusals
from kgraft.graph.build import read_content
from kgraft.graph.readers.wikidata import WikidataSource
from kgraft.progress import Silent


def texts(**by_language):
    return {tag: {"language": tag, "value": value} for tag, value in by_language.items()}


def claim(target, *, rank="normal", kind="item"):
    value = {"entity-type": kind, "id": target}
    snak = {"snaktype": "value", "datavalue": {"type": "wikibase-entityid", "value": value}}
    return {"mainsnak": snak, "rank": rank}


DATE = {
    "mainsnak": {"snaktype": "value", "datavalue": {"type": "time", "value": {}}},
    "rank": "normal",
}
NO_VALUE = {"mainsnak": {"snaktype": "novalue"}, "rank": "normal"}
OLD = {
    "mainsnak": {
        "snaktype": "value",
        "datavalue": {
            "type": "wikibase-entityid",
            "value": {"entity-type": "item", "numeric-id": 5},
        },
    },
    "rank": "normal",
}
ITEMS = [
    {
        "type": "item",
        "id": "Q64",
        "labels": texts(de="Berlin", en="Berlin", fr="Berlin (fr)"),
        "descriptions": texts(en="capital of Germany", de="Hauptstadt"),
        "aliases": {
            "en": [{"language": "en", "value": v} for v in ("Berlin, Germany", "Berlin")],
            "mul": [{"language": "mul", "value": "BER"}],
            "de": [{"language": "de", "value": "Spreeathen"}],
        },
        "claims": {
            "P31": [claim("Q515"), claim("Q5119", rank="preferred")],
            "P17": [claim("Q183"), claim("Q7318", rank="deprecated"), claim("Q999")],
            "P571": [DATE, NO_VALUE],
            "P1": [claim("P17", kind="property")],
        },
    },
    {"type": "property", "id": "P17", "labels": texts(en="country"), "claims": {"P31": [OLD]}},
    {"type": "item", "id": "Q183", "labels": texts(mul="Germany"), "claims": []},
    {"type": "item", "id": "Q5119", "labels": texts(sv="huvudstad", fi="pääkaupunki")},
    {
        "type": "item",
        "id": "Q5",
        "labels": [],
        "descriptions": [],
        "aliases": [],
        "claims": {"P31": [OLD]},
    },
    {"type": "lexeme", "id": "L1", "lemmas": {}},
]
DUMP = "[\n" + ",\n".join(map(json.dumps, ITEMS)) + "\n]\n"


def source(folder, text=DUMP, *, lang="en", name="dump.json", pack=bytes):
    path = folder / name
    path.write_bytes(pack(text.encode()))
    return WikidataSource(path, lang=lang)


def test_items_properties_and_claims(tmp_path, collect):
    got = collect(source(tmp_path))
    berlin, germany, capital, human = got.entities
    assert berlin["label"] == "Berlin"
    assert berlin["description"] == "capital of Germany"
    assert berlin["aliases"] == ["Berlin, Germany", "BER"]
    assert berlin["types"] == ["Q5119"]
    assert germany["label"] == "Germany"
    assert capital["label"] == "pääkaupunki"
    assert human["label"] is None
    assert got.lines == [2, 4, 5, 6]
    assert [relation["label"] for relation in got.relations] == ["country"]
    assert got.triples == [
        ("Q64", "P31", "Q5119", "train"),
        ("Q64", "P17", "Q183", "train"),
        ("Q64", "P17", "Q999", "train"),
        ("Q5", "P31", "Q5", "train"),
    ]
    assert got.left_out == {
        "claims of lower rank": 2,
        "literal values": 1,
        "claims without a value": 1,
        "claims that lead to no item": 1,
        "lexemes and other entities": 1,
    }


def test_another_language(tmp_path, collect):
    berlin = collect(source(tmp_path, lang="de")).entities[0]
    assert (berlin["description"], berlin["aliases"]) == ("Hauptstadt", ["Spreeathen", "BER"])


def test_the_builder_keeps_what_lies_inside(tmp_path):
    refusals = Refusals()
    content = read_content(source(tmp_path), refusals, Silent())
    assert content.entities["types"].to_pylist()[0] == ["pääkaupunki"]
    assert len(content.triples.head) == 3
    assert refusals.left_out["triples to entities outside the source"] == 1


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_packed_and_json_lines(tmp_path, collect, suffix, pack):
    expected = collect(source(tmp_path))
    assert collect(source(tmp_path, name=f"dump.json{suffix}", pack=pack)) == expected
    lines = "\n".join(map(json.dumps, ITEMS))
    assert collect(source(tmp_path, lines, name="lines.jsonl")).triples == expected.triples


def test_progress_shows_both_readings(tmp_path):
    started = []

    class Recorder(Silent):
        def start(self, what, total=None):
            started.append(what)

    list(source(tmp_path).batches(Refusals(), Recorder()))
    assert started == ["reading items of dump.json", "reading claims of dump.json"]


def numbered(value):
    """An item with one claim that names its target by number, as JSON."""
    return json.dumps({"type": "item", "id": "Q1", "claims": {"P31": [OLD]}}).replace(
        '"numeric-id": 5', f'"numeric-id": {value}'
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "column 2"),
        ("[1, 2]", "expected one object a line"),
        ('{"id": "Q1"}', "no 'type'"),
        ('{"type": "item"}', "no 'id'"),
        ('{"type": "item", "id": ""}', "the id is empty"),
        ('{"type": "item", "id": 1}', "expected a string, found a number"),
        ('{"type": [], "id": "Q1"}', "expected a string, found a list"),
        ('{"type": "item", "id": "Q1", "labels": [1]}', "labels is no object"),
        ('{"type": "item", "id": "Q1", "labels": {"en": "x"}}', "not as in a dump"),
        ('{"type": "item", "id": "Q1", "claims": {"P1": [5]}}', "not as in a dump"),
        ('{"type": "item", "id": "Q1", "claims": {"P1": [{"mainsnak": {}}]}}', "no 'snaktype'"),
        ('{"type": "item", "id": "Q1", "claims": {"": []}}', "the id of a property is empty"),
        (numbered("1e999"), "expected a whole number, found a number"),
        (numbered("true"), "expected a whole number, found true or false"),
        (numbered('"5"'), "expected a whole number, found a string"),
    ],
)
def test_bad_entities_are_refused_once(tmp_path, collect, line, reason):
    reader = source(tmp_path, f'[\n{line},\n{{"type": "item", "id": "Q2"}}\n]')
    with pytest.raises(BadInput) as raised:
        collect(reader)
    assert raised.value.line == 2
    assert reason in str(raised.value)
    got = collect(reader, skip=True)
    assert got.refused == {"bad entity": 1}
    assert [entity["id"] for entity in got.entities] == ["Q2"]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.sampled_from(["Q1", "value", "item"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["en", "value", "P31", "mainsnak", "rank", "type"]), inner
        )
    ),
    max_leaves=8,
)
ENTITY = st.fixed_dictionaries(
    {"type": st.sampled_from(["item", "property"]) | JSON, "id": st.just("Q1") | JSON},
    optional=dict.fromkeys(("labels", "descriptions", "aliases", "claims"), JSON),
)


@settings(deadline=None)
@given(st.lists(ENTITY, max_size=3))
def test_any_json_is_read_or_refused(tmp_path_factory, collect, values):
    folder = tmp_path_factory.mktemp("any")
    got = collect(source(folder, "\n".join(map(json.dumps, values))), skip=True)
    left_out = sum(n for kind, n in got.left_out.items() if kind.startswith("lexemes"))
    kept = len(got.entities) + len(got.relations)
    assert kept + left_out + got.refused.total() == len(values)


def places(value, path=()):
    """The path of every value inside a JSON value."""
    yield path
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*path, key))


def replaced(value, path, new):
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


ANY_NUMBER = st.floats() | st.integers() | st.sampled_from([float("inf"), 10**400, -1])
PLACES = [(item, path) for item in ITEMS for path in places(item)]


@settings(deadline=None, max_examples=300)
@given(place=st.sampled_from(PLACES), new=JSON | ANY_NUMBER, skip=st.booleans())
def test_any_json_in_any_place_is_imported_or_refused(tmp_path_factory, place, new, skip):
    items = [{"type": "item", "id": "Q0"}, replaced(*place, new)]
    dump = source(tmp_path_factory.mktemp("any"), "\n".join(map(json.dumps, items)))
    try:
        content = read_content(dump, Refusals(skip=skip), Silent())
    except KgraftError:
        assert not skip
    else:
        assert content.entities["id"][0].as_py() == "Q0"
        assert "" not in content.relations["id"].to_pylist()
