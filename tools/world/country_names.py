"""Names of countries written by hand: labels, other English names, and demonyms."""

from __future__ import annotations

LABELS = {
    "AX": "Åland Islands",
    "BL": "Saint Barthélemy",
    "BQ": "Caribbean Netherlands",
    "CC": "Cocos (Keeling) Islands",
    "CV": "Cape Verde",
    "CW": "Curaçao",
    "NL": "Netherlands",
    "PN": "Pitcairn Islands",
    "PS": "Palestine",
    "RE": "Réunion",
    "ST": "São Tomé and Príncipe",
    "TL": "Timor-Leste",
    "VA": "Vatican City",
}
"""Labels where GeoNames drops the accents or uses an unusual name."""

NAMES = {
    "AE": "UAE|U.A.E.|Emirates|the Emirates",
    "AG": "Antigua|Barbuda",
    "BA": "Bosnia|Bosnia-Herzegovina",
    "BN": "Brunei Darussalam",
    "BQ": "Bonaire|Sint Eustatius|Saba|BES islands",
    "BS": "The Bahamas|the Bahamas",
    "CD": "DR Congo|DRC|D.R. Congo|Congo|Congo-Kinshasa|Congo - Kinshasa|Zaire",
    "CG": "Congo|Congo-Brazzaville|Congo - Brazzaville|Congo Republic",
    "CI": "Côte d'Ivoire",
    "CN": "PRC|People's Republic of China|mainland China",
    "CV": "Cabo Verde",
    "CZ": "Czech Republic",
    "FK": "Falklands|Malvinas",
    "FM": "Federated States of Micronesia",
    "GB": "UK|U.K.|Britain|Great Britain|United Kingdom of Great Britain and Northern Ireland",
    "GM": "The Gambia|the Gambia",
    "IE": "Republic of Ireland",
    "KG": "Kirghizia|Kyrgyz Republic",
    "KN": "St Kitts and Nevis|St. Kitts|Saint Kitts|Nevis",
    "KP": "DPRK|D.P.R.K.|Democratic People's Republic of Korea|Korea",
    "KR": "Republic of Korea|Korea",
    "LA": "Lao PDR",
    "LC": "St Lucia",
    "LK": "Ceylon",
    "MK": "Macedonia|Republic of North Macedonia|FYROM",
    "MM": "Burma",
    "MO": "Macau",
    "NL": "Holland|The Netherlands|the Netherlands",
    "PG": "PNG",
    "PS": "State of Palestine|Palestinian Territories|Palestinian territories",
    "RU": "Russian Federation",
    "SA": "KSA|Kingdom of Saudi Arabia",
    "ST": "Sao Tome",
    "SY": "Syrian Arab Republic",
    "SZ": "Swaziland",
    "TL": "East Timor",
    "TR": "Türkiye|Turkiye|Republic of Türkiye",
    "TT": "Trinidad|Tobago",
    "TW": "Republic of China|Formosa",
    "US": "US|U.S.|USA|U.S.A.|America|United States of America",
    "VA": "Vatican|the Vatican|Holy See|Vatican City State",
    "VC": "St Vincent and the Grenadines|St. Vincent|Saint Vincent",
    "VN": "Viet Nam",
    "ZA": "RSA",
}
"""Other names and abbreviations that English texts use as freely as the label."""

WRONG_DEMONYMS = {
    "CV": "Cape Verdian",
    "CX": "Christmas Island",
    "DJ": "Djibouti",
    "GF": "",
    "GI": "Gibraltar",
    "GP": "Guadeloupian",
    "GW": "Guinea-Bissauan",
    "HK": "Chinese",
    "HM": "Heard and McDonald Islander",
    "IO": "Indian",
    "KG": "Kirghiz",
    "KN": "Kittian and Nevisian",
    "MO": "Chinese",
    "MP": "American",
    "MQ": "French",
    "MV": "Maldivan",
    "PM": "French",
    "RE": "French",
    "SJ": "Norwegian",
    "SR": "Surinamer",
    "TF": "French",
    "TJ": "Tadzhik",
    "YT": "French",
}
"""What countryinfo has for a demonym: that of the ruling country, a slip, or an outdated form."""

DEMONYMS = {
    "AR": "Argentine|Argentinian",
    "AX": "Ålander|Ålandic",
    "BW": "Botswanan",
    "CG": "Congolese",
    "CV": "Cape Verdean",
    "CW": "Curaçaoan",
    "CX": "Christmas Islander",
    "DJ": "Djiboutian",
    "DK": "Dane",
    "EC": "Ecuadorian",
    "ES": "Spaniard",
    "FI": "Finn",
    "GB": "Briton",
    "GF": "French Guianese",
    "GI": "Gibraltarian",
    "GL": "Greenlander",
    "GP": "Guadeloupean",
    "GW": "Bissau-Guinean",
    "HK": "Hongkonger|Hong Konger",
    "HR": "Croat",
    "IM": "Manx",
    "IS": "Icelandic",
    "KG": "Kyrgyz|Kyrgyzstani",
    "KM": "Comorian",
    "KN": "Kittitian|Nevisian",
    "KP": "Korean",
    "KR": "Korean",
    "KZ": "Kazakh",
    "LS": "Basotho",
    "MK": "North Macedonian",
    "MO": "Macanese",
    "MP": "Northern Mariana Islander",
    "MQ": "Martinican|Martiniquais",
    "MV": "Maldivian",
    "PH": "Philippine|Filipina",
    "PS": "Palestinian",
    "RE": "Réunionese",
    "RS": "Serb",
    "SA": "Saudi",
    "SE": "Swede",
    "SI": "Slovenian",
    "SR": "Surinamese",
    "TC": "Turks and Caicos Islander",
    "TJ": "Tajik|Tajikistani",
    "TR": "Turk",
    "TT": "Tobagonian",
    "UZ": "Uzbek",
    "VC": "Vincentian",
    "VG": "British Virgin Islander",
    "VI": "Virgin Islander",
    "XK": "Kosovar|Kosovan",
    "YT": "Mahoran",
}
"""Demonyms that countryinfo lacks."""

WRONG_SPELLINGS = frozenset(
    {
        "Mexicanos",
        "Nation of Brunei",
        "Portuguesa",
        "Prathet",
        "the Abode of Peace",
        "ʁɛpublika de an'ɡɔla",
    }
)
"""What countryinfo has among the names of a country and is none."""

_NO_PLURAL = ("ese", "ish", "ch", "s", "x", "z", "ic", "gasy", "uatu", "bati", "sotho", "swana")


def plural(demonym: str) -> str | None:
    """Return the plural of a demonym, or None for an adjective such as `French`.

    >>> plural("German"), plural("Czech"), plural("Japanese")
    ('Germans', 'Czechs', None)
    """
    if demonym != "Czech" and demonym.endswith(_NO_PLURAL):
        return None
    return demonym + "s"
