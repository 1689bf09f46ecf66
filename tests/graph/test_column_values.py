from datetime import date, datetime

import pytest

from kgraft.graph import Graph, TablesSource, build_graph, profile_graph
from kgraft.graph.literals import XSD

ROWS = [
    {
        "id": "paris",
        "population": "2100000",
        "area": "105.4",
        "founded": "0250-01-01",
        "seen": "2024-05-01 10:00:00",
        "open": "true",
        "code": "075",
        "motto": "5",
    },
    {"id": "lyon", "population": "520000", "area": "48", "code": "69", "motto": "Avant"},
    {"id": "nowhere"},
]


@pytest.fixture
def cities(tmp_path):
    build_graph(TablesSource([("paris", "near", "lyon")], ROWS), tmp_path / "g")
    return Graph.open(tmp_path / "g")


def test_columns_have_a_datatype_where_all_cells_do(cities):
    assert cities.column_values.datatypes == {
        "population": f"{XSD}integer",
        "area": f"{XSD}double",
        "founded": f"{XSD}date",
        "seen": f"{XSD}dateTime",
        "open": f"{XSD}boolean",
        "code": "",
        "motto": "",
    }


def test_values_in_columns_are_found(cities):
    def found(name, value):
        return [entity.id for entity in cities.find_by_value(name, value)]

    assert found("population", 2100000) == found("area", 105.4) == ["paris"]
    assert found("founded", date(250, 1, 1)) == found("open", True) == ["paris"]
    assert found("seen", datetime(2024, 5, 1, 10)) == found("code", "075") == ["paris"]
    assert found("area", 48) == found("population", "520000") == ["lyon"]
    assert found("code", 75) == found("motto", 5) == found("area", "48.0") == []


def test_cards_show_columns(cities):
    words = [value.words() for value in cities.card("lyon").literals]
    assert words == ["population: 520000", "area: 48", "code: 69", "motto: Avant"]
    assert cities.literals("nowhere") == []


def test_a_column_and_a_property_of_one_name_are_both_found(cities, tmp_path):
    more = cities.extend(tmp_path / "more", literals=[("nowhere", "population", 520000)])
    found = more.find_by_value("population", 520000)
    assert [entity.id for entity in found] == ["lyon", "nowhere"]


def test_the_profile_shows_values_by_property(cities, tmp_path):
    more = cities.extend(tmp_path / "more", literals=[("lyon", "tag", "x"), ("lyon", "tag", 3)])
    found = {item.id: item for item in profile_graph(more).properties}
    area, tag = found["area"], found["tag"]
    assert (area.values, area.entities, area.kinds) == (2, 2, {"number": 2})
    assert (area.least, area.most) == ("48", "105.4")
    assert (tag.values, tag.entities, tag.kinds) == (2, 1, {"string": 1, "number": 1})
    assert (found["founded"].least, found["code"].least) == ("0250-01-01", "")
