"""Where GeoNames, CLDR and countryinfo disagree, and what was decided."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from babel.numbers import get_territory_currencies

from tools.world import corrections, facts, m49
from tools.world.cldr import spoken_in
from tools.world.names import fold
from tools.world.sources import countries, information

Fixes = dict[str, tuple[str, str]]


def disagreements() -> Iterator[str]:
    """Yield one line a disagreement: country, matter, each source, decision and its reason."""
    for iso in countries():
        for check in (_capital, _currency, _language, _continent, _subregion):
            yield from check(iso)
    yield from _borders()


def _line(iso: str, matter: str, statements: Iterable[str], taken: str, fixes: Fixes) -> str:
    why = f" ({fixes[iso][1]})" if iso in fixes else ""
    return f"{iso} {matter}: {'; '.join(statements)} -> {taken or 'none'}{why}"


def _capital(iso: str) -> Iterator[str]:
    one, other = countries()[iso].capital, information(iso).capital
    taken = [city.name for city in facts.capitals(iso)]
    if fold(one) == fold(other or one) and list(map(fold, taken)) == [fold(one)] * bool(one):
        return
    sources = [f"GeoNames {one}", f"countryinfo {other}"]
    yield _line(iso, "capital", sources, ", ".join(taken), corrections.CAPITALS)


def _currency(iso: str) -> Iterator[str]:
    sources = {
        "GeoNames": {countries()[iso].currency} - {""},
        "CLDR": set(get_territory_currencies(iso, start_date=corrections.AS_OF)),
        "countryinfo": set(information(iso).currencies),
    }
    yield from _compare(iso, "currency", sources, facts.currencies(iso), corrections.CURRENCIES)


def _language(iso: str) -> Iterator[str]:
    ranks = ("official", "de_facto_official")
    sources = {
        "CLDR": {code for code, (_, rank) in spoken_in(iso).items() if rank in ranks},
        "countryinfo": set(information(iso).languages),
    }
    taken = facts.official_languages(iso)
    yield from _compare(iso, "official language", sources, taken, corrections.LANGUAGES)


def _continent(iso: str) -> Iterator[str]:
    sources = {"GeoNames": {countries()[iso].continent}, "M49": {m49.continent_of()[iso]}}
    yield from _compare(iso, "continent", sources, facts.continents(iso), corrections.CONTINENTS)


def _compare(
    iso: str, matter: str, sources: dict[str, set[str]], taken: list[str], fixes: Fixes
) -> Iterator[str]:
    if any(values and values != set(taken) for values in sources.values()):
        lines = [f"{source} {' '.join(sorted(values))}" for source, values in sources.items()]
        yield _line(iso, matter, lines, " ".join(taken), fixes)


def _subregion(iso: str) -> Iterator[str]:
    subregion, (home, taken) = information(iso).subregion, m49.subregion_of()[iso]
    coarse = {part.label for part in m49.SUBREGIONS if f"region:{part.code}" == home}
    parts = [p for p in m49.SUBREGIONS if f"region:{p.code}" == home]
    coarse |= {"Sub-Saharan Africa"} if any("region:202" in p.within for p in parts) else set()
    coarse |= {n for p in parts for n in p.names}
    if home == "continent:SA" or any("region:419" in p.within for p in parts):
        coarse |= {"Latin America and the Caribbean"}
    if subregion and subregion not in coarse:
        yield _line(iso, "subregion", [f"countryinfo {subregion}", f"M49 {taken}"], taken, {})


def _borders() -> Iterator[str]:
    by_three = {row.iso3: iso for iso, row in countries().items()} | {"KOS": "XK", "XKX": "XK"}
    name: Callable[[str], str] = lambda three: by_three.get(three, three)  # noqa: E731
    one = {(min(a, b), max(a, b)) for a, row in countries().items() for b in row.neighbours}
    pairs = [(iso, name(three)) for iso in countries() for three in information(iso).borders]
    other = {(min(a, b), max(a, b)) for a, b in pairs if a in countries() and b in countries()}
    why = corrections.BORDERS_DROPPED | corrections.BORDERS_ADDED
    for pair in sorted(one ^ other | why.keys()):
        sources = [
            s
            for s, source_pairs in (("GeoNames", one), ("countryinfo", other))
            if pair in source_pairs
        ]
        taken = "border" if pair in facts.borders() else "none"
        reason = f" ({why[pair]})" if pair in why else ""
        names = " and ".join(sources) or "no source"
        yield f"{'-'.join(pair)} border: {names} -> {taken}{reason}"
