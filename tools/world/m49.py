"""Which part of the world a country lies in: the United Nations' M49 scheme, with 7 continents.

None of the packages holds the scheme in full: countryinfo has the coarser `Sub-Saharan Africa` and
`Latin America and the Caribbean`, and CLDR's containment is not in babel. Kosovo and Taiwan, which
M49 does not list, stand with their neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """A part of the world: its M49 code, what it lies in, its countries, and other names."""

    code: str
    label: str
    within: tuple[str, ...]  # ids
    countries: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def _part(code: str, label: str, within: str, countries: str = "", names: str = "") -> Part:
    other = tuple(names.split("|")) if names else ()
    return Part(code, label, tuple(within.split()), tuple(countries.split()), other)


CONTINENTS = {
    "AF": _part("002", "Africa", "", names="African|Africans|African continent"),
    "AN": _part("AQ", "Antarctica", "", names="Antarctic|Antarctic continent"),
    "AS": _part("142", "Asia", "", names="Asian|Asians|Asian continent"),
    "EU": _part("150", "Europe", "", names="European|Europeans|European continent"),
    "NA": _part("003", "North America", "region:019", names="North American|North Americans"),
    "OC": _part("009", "Oceania", ""),
    "SA": _part(
        "005",
        "South America",
        "region:019 region:419",
        "AR BO BR BV CL CO EC FK GF GS GY PE PY SR UY VE",
        "South American|South Americans",
    ),
}
"""Continents by GeoNames' code. South America is also M49's subregion of that name."""

GROUPS = [
    _part("019", "Americas", "", names="the Americas|New World"),
    _part("202", "Sub-Saharan Africa", "continent:AF", names="sub-Saharan Africa"),
    _part("419", "Latin America", "region:019", names="Latin America and the Caribbean"),
]
"""Parts that hold several subregions."""

SUBREGIONS = [
    _part("015", "Northern Africa", "continent:AF", "DZ EG EH LY MA SD TN", "North Africa"),
    _part(
        "014",
        "Eastern Africa",
        "continent:AF region:202",
        "BI DJ ER ET IO KE KM MG MU MW MZ RE RW SC SO SS TF TZ UG YT ZM ZW",
        "East Africa",
    ),
    _part(
        "017",
        "Middle Africa",
        "continent:AF region:202",
        "AO CD CF CG CM GA GQ ST TD",
        "Central Africa",
    ),
    _part("018", "Southern Africa", "continent:AF region:202", "BW LS NA SZ ZA"),
    _part(
        "011",
        "Western Africa",
        "continent:AF region:202",
        "BF BJ CI CV GH GM GN GW LR ML MR NE NG SH SL SN TG",
        "West Africa",
    ),
    _part(
        "029",
        "Caribbean",
        "continent:NA region:419",
        "AG AI AW BB BL BQ BS CU CW DM DO GD GP HT JM KN KY LC MF MQ MS PR SX TC TT VC VG VI",
        "the Caribbean|West Indies",
    ),
    _part("013", "Central America", "continent:NA region:419", "BZ CR GT HN MX NI PA SV"),
    _part("021", "Northern America", "continent:NA", "BM CA GL PM US"),
    _part("143", "Central Asia", "continent:AS", "KG KZ TJ TM UZ"),
    _part("030", "Eastern Asia", "continent:AS", "CN HK JP KP KR MN MO TW", "East Asia|Far East"),
    _part(
        "035",
        "Southeast Asia",
        "continent:AS",
        "BN ID KH LA MM MY PH SG TH TL VN",
        "South-eastern Asia|South-East Asia",
    ),
    _part(
        "034",
        "Southern Asia",
        "continent:AS",
        "AF BD BT IN IR LK MV NP PK",
        "South Asia",
    ),
    _part(
        "145",
        "Western Asia",
        "continent:AS",
        "AE AM AZ BH CY GE IL IQ JO KW LB OM PS QA SA SY TR YE",
        "West Asia",
    ),
    _part("151", "Eastern Europe", "continent:EU", "BG BY CZ HU MD PL RO RU SK UA"),
    _part(
        "154",
        "Northern Europe",
        "continent:EU",
        "AX DK EE FI FO GB GG IE IM IS JE LT LV NO SE SJ",
    ),
    _part(
        "039",
        "Southern Europe",
        "continent:EU",
        "AD AL BA ES GI GR HR IT ME MK MT PT RS SI SM VA XK",
    ),
    _part("155", "Western Europe", "continent:EU", "AT BE CH DE FR LI LU MC NL"),
    _part(
        "053",
        "Australia and New Zealand",
        "continent:OC",
        "AU CC CX HM NF NZ",
        "Australasia",
    ),
    _part("054", "Melanesia", "continent:OC", "FJ NC PG SB VU"),
    _part("057", "Micronesia", "continent:OC", "FM GU KI MH MP NR PW UM", "Micronesian Region"),
    _part("061", "Polynesia", "continent:OC", "AS CK NU PF PN TK TO TV WF WS"),
]


def subregion_of() -> dict[str, tuple[str, str]]:
    """Return the id and label of the subregion of each country, by ISO code."""
    homes = {c: (f"region:{p.code}", p.label) for p in SUBREGIONS for c in p.countries}
    south = CONTINENTS["SA"]
    return homes | dict.fromkeys(south.countries, ("continent:SA", south.label))


def continent_of() -> dict[str, str]:
    """Return GeoNames' code of the continent that the subregion of each country lies in."""
    homes = {c: p.within[0].removeprefix("continent:") for p in SUBREGIONS for c in p.countries}
    return homes | dict.fromkeys(CONTINENTS["SA"].countries, "SA")
