"""Names of languages and currencies written by hand."""

from __future__ import annotations

EXTRA_LANGUAGES = {
    "ber": "Tamazight",
    "bib": "Bissa",
    "cnr": "Montenegrin",
}
"""Official languages for which CLDR has no name."""

KEPT_LANGUAGES = ("eo", "la", "yi")
"""Languages that are official nowhere, spoken by few, and often written about."""

NO_LANGUAGES = ("cop",)
"""Coptic: the speakers that CLDR counts are the members of the church."""

DESCRIPTIONS = {
    "eo": "constructed international language",
}

LABELS = {
    "bn": "Bengali",
    "den": "Slavey",
    "crs": "Seychellois Creole",
    "dv": "Maldivian",
    "kl": "Greenlandic",
    "na": "Nauruan",
    "rar": "Cook Islands Māori",
    "rn": "Kirundi",
    "ses": "Koyraboro Senni",
    "st": "Sotho",
    "tkl": "Tokelauan",
    "tvl": "Tuvaluan",
}

NAMES = {
    "ber": "Berber|Amazigh|ⵜⴰⵎⴰⵣⵉⵖⵜ",
    "bn": "Bangla",
    "cnr": "crnogorski|црногорски",
    "dv": "Dhivehi|Divehi",
    "el": "Modern Greek",
    "fa": "Farsi|Dari",
    "ff": "Fulani|Fulah",
    "fil": "Tagalog",
    "he": "Modern Hebrew",
    "kl": "Kalaallisut",
    "ku": "Kurmanji",
    "ml": "Malayalam",
    "mos": "Mooré",
    "my": "Myanmar language",
    "ny": "Chichewa|Chewa",
    "or": "Oriya",
    "rar": "Rarotongan",
    "ro": "Moldovan",
    "ses": "Songhay",
    "si": "Sinhalese",
    "st": "Sesotho|Southern Sotho",
    "sw": "Kiswahili",
    "tmh": "Tamasheq",
    "tn": "Setswana",
    "xh": "isiXhosa",
    "yue": "Yue Chinese",
    "zh": "Mandarin|Mandarin Chinese",
    "zu": "isiZulu",
}

CURRENCY_LABELS = {
    "AFN": "Afghan afghani",
    "GYD": "Guyanese dollar",
    "KGS": "Kyrgyzstani som",
}

CURRENCY_NAMES = {
    "BAM": "Bosnian mark|convertible mark",
    "BRL": "reais",
    "CHF": "CHF",
    "CNY": "renminbi|RMB|CNY",
    "CZK": "Czech crown",
    "DKK": "Danish crown",
    "EUR": "EUR",
    "GBP": "pound sterling|pounds sterling|sterling|GBP",
    "ILS": "shekel|shekels",
    "INR": "INR",
    "JPY": "JPY",
    "KRW": "Korean won|KRW",
    "NOK": "Norwegian crown",
    "PLN": "złoty|Polish złoty",
    "RUB": "Russian rouble|Russian roubles|rouble|roubles",
    "SEK": "Swedish crown",
    "USD": "United States dollar|American dollar|US$|USD|greenback",
    "VES": "bolivar|bolivares",
    "XAF": "CFA franc",
    "XOF": "CFA franc",
    "ZWG": "ZiG|Zimbabwe Gold",
}

CURRENCY_SHARES = {
    "USD": 885,
    "EUR": 305,
    "JPY": 167,
    "GBP": 129,
    "CNY": 70,
    "AUD": 64,
    "CAD": 62,
    "CHF": 52,
    "HKD": 26,
    "SGD": 24,
    "SEK": 22,
    "KRW": 19,
    "NOK": 17,
    "NZD": 17,
    "INR": 16,
    "MXN": 15,
    "TWD": 11,
    "ZAR": 10,
    "BRL": 9,
    "DKK": 7,
    "PLN": 7,
    "AED": 4,
    "CZK": 4,
    "IDR": 4,
    "ILS": 4,
    "RUB": 4,
    "THB": 4,
    "TRY": 4,
    "CLP": 3,
    "HUF": 3,
    "MYR": 2,
    "PHP": 2,
    "SAR": 2,
}
"""Part of the world's currency trade in thousandths, both sides counted (BIS survey of 2022)."""
