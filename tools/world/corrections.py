"""Facts decided by hand, because the sources disagree, are out of date or are silent.

Each entry holds the value and why. Where a country is not listed here, GeoNames gives its capital
and borders, and CLDR its currencies and official languages. `audit.py` prints where the sources
disagree and what was decided. All facts are as of January 2026.
"""

from __future__ import annotations

import datetime as dt

AS_OF = dt.date(2026, 1, 31)

NO_ENTITY = {
    "AN": "Netherlands Antilles: dissolved in 2010",
    "AQ": "Antarctica: stands in the graph as a continent",
    "CS": "Serbia and Montenegro: dissolved in 2006",
}

CAPITALS: dict[str, tuple[str, str]] = {
    "BO": ("Sucre|La Paz", "Sucre by the constitution, La Paz is the seat of government"),
    "BQ": ("Kralendijk", "GeoNames has none; countryinfo lists one for each island"),
    "EH": ("Laayoune", "spelt El-Aaiun in the country table"),
    "GQ": ("Ciudad de la Paz", "capital by decree since 2 January 2026; countryinfo: Malabo"),
    "GS": ("", "King Edward Point, which GeoNames' city table lacks; Grytviken is next to it"),
    "HK": ("", "the whole territory is the city"),
    "IO": ("", "has no town"),
    "KI": ("Tarawa", "South Tarawa"),
    "KZ": ("Astana", "renamed back from Nur-Sultan in September 2022"),
    "LK": ("Sri Jayewardenepura Kotte|Colombo", "parliament in Kotte, government in Colombo"),
    "MO": ("", "the whole territory is the city"),
    "MS": ("Plymouth|Brades", "Plymouth by law, buried in 1997; the government sits in Brades"),
    "PS": ("East Jerusalem", "as GeoNames has it; countryinfo: Jerusalem"),
    "PW": ("Ngerulmud", "Melekeok is the state around it"),
    "SZ": ("Mbabane|Lobamba", "government in Mbabane, king and parliament in Lobamba"),
    "ZA": ("Pretoria|Cape Town|Bloemfontein", "government, parliament and supreme court of appeal"),
}
"""Capital cities, by their name in GeoNames' city table."""

ROLES = {
    ("BO", "Sucre"): "constitutional capital",
    ("BO", "La Paz"): "seat of government",
    ("LK", "Sri Jayewardenepura Kotte"): "legislative capital",
    ("LK", "Colombo"): "executive and judicial capital",
    ("MS", "Plymouth"): "abandoned official capital",
    ("MS", "Brades"): "seat of government",
    ("SZ", "Mbabane"): "executive capital",
    ("SZ", "Lobamba"): "royal and legislative capital",
    ("ZA", "Pretoria"): "executive capital",
    ("ZA", "Cape Town"): "legislative capital",
    ("ZA", "Bloemfontein"): "judicial capital",
}
"""What a city is to its country where the country has several capitals."""

CONTINENTS: dict[str, tuple[str, str]] = {
    "CY": ("AS EU", "M49 counts it to Asia, GeoNames and the European Union to Europe"),
    "EG": ("AF AS", "Sinai lies in Asia"),
    "KZ": ("AS EU", "the land west of the Ural river lies in Europe"),
    "RU": ("EU AS", "Siberia lies in Asia"),
    "TR": ("AS EU", "East Thrace lies in Europe"),
}
"""Countries on two continents, that of the capital first; all others follow M49."""

CURRENCIES: dict[str, tuple[str, str]] = {
    "BG": ("EUR", "joined the euro on 1 January 2026; GeoNames and CLDR: lev"),
    "HT": ("HTG", "the US dollar that CLDR adds is used but is no legal tender"),
    "IO": ("GBP USD", "the pound is official; all sources name the dollar only"),
}

LANGUAGES: dict[str, tuple[str, str]] = {
    "BF": ("mos dyu ff bib", "national languages became official in 2024, French a working one"),
    "BO": ("es ay gn qu", "CLDR lacks Guarani, which the constitution names"),
    "CH": ("de fr it rm", "Romansh is official; Swiss German is spoken only"),
    "CK": ("en rar", "Cook Islands Maori is official since 2003"),
    "CW": ("nl en pap", "English is official since 2007"),
    "DZ": ("ar ber", "French is not official; Tamazight is since 2016"),
    "EC": ("es", "Quechua is official for intercultural relations only"),
    "FO": ("fo da", "the home rule act names both"),
    "GU": ("en ch", "as CLDR has it; countryinfo adds Spanish"),
    "IL": ("he", "Arabic lost the rank in 2018"),
    "IQ": ("ar ku", "the constitution names Arabic and Kurdish"),
    "KM": ("ar fr swb", "CLDR lists two dialects of Comorian"),
    "LI": ("de", "Alemannic is spoken only"),
    "MA": ("ar zgh", "French is not official; Standard Tamazight is since 2011"),
    "ME": ("cnr", "the constitution names Montenegrin"),
    "MG": ("mg fr", "English was dropped in 2010"),
    "MK": ("mk sq", "Albanian is official since 2019"),
    "ML": ("bm ff snk tmh ses", "the constitution of 2023 made national languages official"),
    "MO": ("zh pt", "Cantonese is the spoken form of the Chinese that the law names"),
    "MP": ("en ch", "Chamorro is official; CLDR lacks it"),
    "NE": ("ha", "national language since 2025, when French became a working one"),
    "NG": ("en", "Yoruba is official in no law"),
    "NO": ("no nb nn", "Norwegian in its two written forms"),
    "PE": ("es qu ay", "Aymara is official where it prevails, as Quechua is"),
    "PF": ("fr", "Tahitian is recognised, not official"),
    "RW": ("rw en fr sw", "Swahili is official since 2017"),
    "SC": ("crs en fr", "the constitution names Seychellois Creole"),
    "SJ": ("no", "as in Norway"),
    "SN": ("fr", "Wolof is a national language"),
    "TF": ("fr", "administered in French; CLDR is silent"),
    "TN": ("ar", "French is not official"),
    "TW": ("zh", "Taiwanese and Hakka are national languages"),
    "UA": ("uk", "Russian lost its regional rank in 2018"),
    "VA": ("it la", "Italian of the state, Latin of the Holy See"),
    "ZA": ("en af nr nso ss st tn ts ve xh zu", "CLDR calls all but English regional"),
}
"""Official languages of the whole country, by CLDR's code."""

REGIONAL_DROPPED = {
    ("BR", "vec"): "a municipal rank of Talian",
    ("DK", "kl"): "official in Greenland, which has its own entry",
    ("HR", "vec"): "Italian is meant",
    ("IT", "vec"): "recognised by Veneto, not official",
    ("SI", "vec"): "Italian and Hungarian are meant",
    ("US", "es"): "official in Puerto Rico, which has its own entry",
}
"""Regional languages of CLDR that are none."""

REGIONAL_ADDED = {
    ("DE", "dsb"): "protected in Brandenburg",
    ("DE", "hsb"): "protected in Saxony",
    ("IT", "de"): "official in South Tyrol",
    ("PT", "mwl"): "official in Miranda do Douro since 1999",
    ("SI", "hu"): "official where Hungarians live",
    ("SI", "it"): "official where Italians live",
    ("SN", "wo"): "national language",
}

BORDERS_DROPPED = {
    ("AL", "RS"): "the border runs along Kosovo, which has its own entry",
    ("CU", "US"): "Guantanamo Bay is leased, no border between the states",
}
"""Neighbours in GeoNames that share no land border."""

BORDERS_ADDED = {
    ("BW", "ZM"): "150 metres at Kazungula, which GeoNames lacks",
    ("CN", "HK"): "countryinfo has it; GeoNames gives territories of China none",
    ("CN", "MO"): "countryinfo has it; GeoNames gives territories of China none",
}

_TERRITORIES = {
    "AU": "CC CX HM NF",
    "CN": "HK MO",
    "DK": "FO GL",
    "FI": "AX",
    "FR": "BL GF GP MF MQ NC PF PM RE TF WF YT",
    "GB": "AI BM FK GG GI GS IM IO JE KY MS PN SH TC VG",
    "NL": "AW BQ CW SX",
    "NO": "BV SJ",
    "NZ": "CK NU TK",
    "US": "AS GU MP PR UM VI",
}
TERRITORIES = {iso: owner for owner, codes in _TERRITORIES.items() for iso in codes.split()}
"""Which country a territory with its own ISO code belongs to; no source says so."""

DISPUTED = {
    "EH": "disputed territory",
    "XK": "partially recognised country",
}
"""What to call those whose rank is in dispute, in descriptions."""

POPULATIONS = {
    195272: 107_000,  # Kakamega
    1183460: 50_000,  # Bannu
    1183105: 23_000,  # Battagram
    1626801: 64_000,  # Situbondo
    1642548: 86_000,  # Jepara
    786714: 227_000,  # Pristina
    1668341: 2_500_000,  # Taipei
    3164603: 250_000,  # Venice
}
"""Where GeoNames gives the people of the county or the whole area, or of Venice's old town only."""

NOT_LARGEST = {
    285839: "Al Ahmadi: GeoNames counts the people of Kuwait City's suburbs apart",
    1821274: "Macau: the whole territory is the city",
}
"""Cities that only seem the largest of their countries."""

NO_CITY = {
    99071: "Al Mawsil al Jadidah: a quarter of Mosul with the people of the city",
    388349: "Al Basrah al Qadimah: a quarter of Basra with the people of the city",
    101760: "Sultanah: a quarter of Medina",
    268743: "Ras Bayrut: a quarter of Beirut with the people of the city",
    1254745: "Teni: a town with the people of its district",
    1258393: "Rasapudipalem: a quarter of Visakhapatnam with the people of the city",
    1261162: "Nowrangapur: a town with the people of its district",
    1270926: "Gorakhpur in Haryana: a village with the people of the city in Uttar Pradesh",
    1723510: "Budta: a village with the people of Davao",
    1931681: "Victoria: the old name of a part of Hong Kong",
    1978681: "Malingao: a village with the people of its province",
    2422488: "Camayenne: a quarter of Conakry with the people of the city",
    3046446: "Pest: a part of Budapest",
    3054667: "Buda: a part of Budapest",
    4645421: "New South Memphis: a quarter with the people of Memphis",
    4951305: "South Boston: a quarter with the people of Boston",
    6943660: "Shivaji Nagar: a quarter of Pune",
    11072148: "Puxi: the western half of Shanghai",
    12165956: "Kallakurichi: a town with the people of its district",
    12492662: "Mianzhu: entered twice",
}
"""Places of GeoNames that are no cities, or whose people are another place's."""
