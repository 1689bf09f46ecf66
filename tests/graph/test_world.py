"""The built-in graph holds what is so: facts, names and their priors."""

from __future__ import annotations

import pytest

from kgraft.graph import Graph

_MEMBERS = """
AD AE AF AG AL AM AO AR AT AU AZ BA BB BD BE BF BG BH BI BJ BN BO BR BS BT BW BY BZ CA CD CF CG CH
CI CL CM CN CO CR CU CV CY CZ DE DJ DK DM DO DZ EC EE EG ER ES ET FI FJ FM FR GA GB GD GE GH GM GN
GQ GR GT GW GY HN HR HT HU ID IE IL IN IQ IR IS IT JM JO JP KE KG KH KI KM KN KP KR KW KZ LA LB LC
LI LK LR LS LT LU LV LY MA MC MD ME MG MH MK ML MM MN MR MT MU MV MW MX MY MZ NA NE NG NI NL NO NP
NR NZ OM PA PE PG PH PK PL PT PW PY QA RO RS RU RW SA SB SC SD SE SG SI SK SL SM SN SO SR SS ST SV
SY SZ TD TG TH TJ TL TM TN TO TR TT TV TZ UA UG US UY UZ VC VE VN VU WS YE ZA ZM ZW
"""
MEMBERS = _MEMBERS.split()

CAPITALS = {
    "AU": {"Canberra"},
    "BI": {"Gitega"},
    "BO": {"Sucre", "La Paz"},
    "BR": {"Brasília"},
    "CA": {"Ottawa"},
    "CH": {"Bern"},
    "CI": {"Yamoussoukro"},
    "FR": {"Paris"},
    "GQ": {"Ciudad de la Paz"},
    "KZ": {"Astana"},
    "LI": {"Vaduz"},
    "LK": {"Sri Jayewardenepura Kotte", "Colombo"},
    "ME": {"Podgorica"},
    "MM": {"Naypyidaw"},
    "MN": {"Ulaanbaatar"},
    "NG": {"Abuja"},
    "NL": {"Amsterdam"},
    "PK": {"Islamabad"},
    "PW": {"Ngerulmud"},
    "SS": {"Juba"},
    "SZ": {"Mbabane", "Lobamba"},
    "TR": {"Ankara"},
    "TZ": {"Dodoma"},
    "US": {"Washington, D.C."},
    "XK": {"Pristina"},
    "ZA": {"Pretoria", "Cape Town", "Bloemfontein"},
}

NEIGHBOURS = [
    ("FR", "DE"),
    ("ES", "MA"),
    ("RU", "KP"),
    ("PL", "RU"),
    ("AZ", "TR"),
    ("BW", "ZM"),
    ("RS", "XK"),
    ("SS", "SD"),
    ("IT", "VA"),
    ("CN", "HK"),
]
STRANGERS = [
    ("GB", "FR"),
    ("US", "CU"),
    ("RS", "AL"),
    ("IN", "LK"),
    ("AF", "IN"),
    ("BT", "MM"),
    ("NA", "ZW"),
    ("SA", "BH"),
    ("US", "RU"),
]

CURRENCIES = {
    "BG": {"euro"},
    "BY": {"Belarusian ruble"},
    "CH": {"Swiss franc"},
    "EC": {"US dollar"},
    "GB": {"British pound"},
    "HR": {"euro"},
    "JP": {"Japanese yen"},
    "MR": {"Mauritanian ouguiya"},
    "PA": {"Panamanian balboa", "US dollar"},
    "SE": {"Swedish krona"},
    "SN": {"West African CFA franc"},
    "VE": {"Venezuelan bolívar"},
    "ZW": {"Zimbabwean gold", "US dollar"},
}

LANGUAGES = {
    "AF": {"Persian", "Pashto"},
    "AR": {"Spanish"},
    "BE": {"Dutch", "French", "German"},
    "BR": {"Portuguese"},
    "CH": {"German", "French", "Italian", "Romansh"},
    "IE": {"English", "Irish"},
    "IL": {"Hebrew"},
    "IN": {"Hindi", "English"},
    "ME": {"Montenegrin"},
    "PY": {"Guarani", "Spanish"},
    "SN": {"French"},
    "TN": {"Arabic"},
    "UA": {"Ukrainian"},
}

FIRST = {
    "Alemania": "country:DE",
    "Allemagne": "country:DE",
    "America": "country:US",
    "Americans": "country:US",
    "Berlin": "city:2950159",
    "Bombay": "city:1275339",
    "Britain": "country:GB",
    "Burma": "country:MM",
    "Czech Republic": "country:CZ",
    "Deutschland": "country:DE",
    "Dutch": "country:NL",
    "Firenze": "city:3176959",
    "Holland": "country:NL",
    "Kiev": "city:703448",
    "London": "city:2643743",
    "Micronesia": "country:FM",
    "New York": "city:5128581",
    "Nur-Sultan": "city:1526273",
    "Odessa": "city:698740",
    "Paris": "city:2988507",
    "Paris, Texas": "city:4717560",
    "Peking": "city:1816670",
    "Singapore": "country:SG",
    "Spanish": "language:es",
    "Sverige": "country:SE",
    "Swaziland": "country:SZ",
    "U.S.": "country:US",
    "UAE": "country:AE",
    "UK": "country:GB",
    "USA": "country:US",
    "Vienna": "city:2761369",
    "Washington": "city:4140963",
    "Wien": "city:2761369",
    "dollar": "currency:USD",
    "euros": "currency:EUR",
    "germany": "country:DE",
    "pound": "currency:GBP",
    "rupee": "currency:INR",
    "Αθήνα": "city:264371",
    "Москва": "city:524901",
    "Россия": "country:RU",
    "القاهرة": "city:360630",
    "भारत": "country:IN",
    "ドイツ": "country:DE",
    "パリ": "city:2988507",
    "北京": "city:1816670",
    "東京": "city:1850147",
    "대한민국": "country:KR",
}

SHARED = {
    "Birmingham": {"city:2655603", "city:4049979"},
    "Cambridge": {"city:2653941", "city:4931972"},
    "Chinese": {"country:CN", "language:zh"},
    "Congo": {"country:CD", "country:CG"},
    "Córdoba": {"city:3860259", "city:2519240"},
    "French": {"country:FR", "language:fr"},
    "Georgia": {"country:GE", "state:US-GA"},
    "Hyderabad": {"city:1269843", "city:1176734"},
    "Korean": {"country:KR", "country:KP", "language:ko"},
    "Luxembourg": {"country:LU", "city:2960316"},
    "Portland": {"city:5746545", "city:4975802"},
    "Washington": {"city:4140963", "state:US-WA"},
    "franc": {"currency:CHF", "currency:XOF", "currency:RWF"},
    "krone": {"currency:NOK", "currency:DKK"},
    "peso": {"currency:MXN", "currency:ARS", "currency:PHP"},
}

SHORT = {"u.s", "us", "us$", "uk", "u.k", "dc", "d.c", "l.a", "n.y", "n.j", "n.m"}


class Facts:
    """All triples by id, to be asked in both directions."""

    def __init__(self, graph: Graph) -> None:
        ids = graph.entities["id"].to_pylist()
        relations = graph.relations["id"].to_pylist()
        arrays = graph.triples
        parts = (arrays.head.tolist(), arrays.relation.tolist(), arrays.tail.tolist())
        self.all = [(ids[h], relations[r], ids[t]) for h, r, t in zip(*parts, strict=True)]
        self.tails: dict[tuple[str, str], set[str]] = {}
        self.heads: dict[tuple[str, str], set[str]] = {}
        for head, relation, tail in self.all:
            self.tails.setdefault((head, relation), set()).add(tail)
            self.heads.setdefault((relation, tail), set()).add(head)


@pytest.fixture(scope="module")
def world():
    return Graph.open("world")


@pytest.fixture(scope="module")
def facts(world):
    return Facts(world)


@pytest.fixture(scope="module")
def rows(world):
    return world.entities.select(["id", "label", "description", "aliases", "types"]).to_pylist()


def labels(world, ids):
    return {world.entity(i).label for i in ids}


class TestMembersOfTheUnitedNations:
    def test_there_are_193(self):
        assert len(set(MEMBERS)) == 193

    def test_each_is_a_country(self, world):
        found = {entity.id for entity in world.entities_of_type("country")}
        assert found >= {f"country:{iso}" for iso in MEMBERS}
        assert found - {f"country:{iso}" for iso in MEMBERS} == {
            f"country:{iso}" for iso in ("PS", "TW", "VA", "XK")
        }

    def test_each_has_a_capital_in_it(self, facts):
        for iso in MEMBERS:
            capitals = facts.heads.get(("capital_of", f"country:{iso}"), set())
            assert capitals, iso
            for city in capitals:
                assert f"country:{iso}" in facts.tails[city, "located_in"], iso

    @pytest.mark.parametrize("relation", ["continent", "currency", "official_language"])
    def test_each_has(self, facts, relation):
        assert [iso for iso in MEMBERS if (f"country:{iso}", relation) not in facts.tails] == []

    def test_each_lies_in_one_subregion_of_its_continent(self, world, facts):
        subregions = {entity.id for entity in world.entities_of_type("subregion")}
        for iso in MEMBERS:
            (home,) = facts.tails[f"country:{iso}", "located_in"]
            assert home in subregions
            around = {home} | facts.tails[home, "located_in"]
            assert around & facts.tails[f"country:{iso}", "continent"], iso


class TestFacts:
    @pytest.mark.parametrize(("iso", "names"), CAPITALS.items(), ids=CAPITALS)
    def test_capitals(self, world, facts, iso, names):
        assert labels(world, facts.heads["capital_of", f"country:{iso}"]) == names

    @pytest.mark.parametrize(("iso", "names"), CURRENCIES.items(), ids=CURRENCIES)
    def test_currencies(self, world, facts, iso, names):
        assert labels(world, facts.tails[f"country:{iso}", "currency"]) == names

    @pytest.mark.parametrize(("iso", "names"), LANGUAGES.items(), ids=LANGUAGES)
    def test_official_languages(self, world, facts, iso, names):
        assert labels(world, facts.tails[f"country:{iso}", "official_language"]) == names

    @pytest.mark.parametrize(("one", "other"), NEIGHBOURS)
    def test_neighbours(self, facts, one, other):
        assert f"country:{other}" in facts.tails[f"country:{one}", "borders"]

    @pytest.mark.parametrize(("one", "other"), STRANGERS)
    def test_no_neighbours(self, facts, one, other):
        assert f"country:{other}" not in facts.tails.get((f"country:{one}", "borders"), set())

    def test_borders_are_symmetric_and_irreflexive(self, facts):
        pairs = {(head, tail) for head, relation, tail in facts.all if relation == "borders"}
        assert len(pairs) > 600
        assert pairs == {(tail, head) for head, tail in pairs}
        assert all(head != tail for head, tail in pairs)

    def test_france_borders_eight_countries(self, world):
        found = world.neighbours("country:FR", relation="borders", direction="out")
        expected = {f"country:{iso}" for iso in ("AD", "BE", "CH", "DE", "ES", "IT", "LU", "MC")}
        assert {fact.entity.id for fact in found} == expected

    @pytest.mark.parametrize(
        ("iso", "codes"),
        [("RU", "EU AS"), ("TR", "AS EU"), ("EG", "AF AS"), ("TL", "AS"), ("MX", "NA")],
    )
    def test_continents(self, facts, iso, codes):
        expected = {f"continent:{code}" for code in codes.split()}
        assert facts.tails[f"country:{iso}", "continent"] == expected

    def test_territories_belong_to_countries(self, world, facts):
        countries = {entity.id for entity in world.entities_of_type("country")}
        territories = {entity.id for entity in world.entities_of_type("territory")}
        owned = {head for head, relation, _ in facts.all if relation == "territory_of"}
        assert owned == territories - {"country:EH"}
        assert all(facts.tails[head, "territory_of"] < countries for head in owned)
        assert facts.tails["country:GL", "territory_of"] == {"country:DK"}

    def test_regional_languages_are_not_official_too(self, facts):
        for head, relation, tail in facts.all:
            if relation == "regional_language":
                assert tail not in facts.tails[head, "official_language"]
        assert "language:ca" in facts.tails["country:ES", "regional_language"]


class TestCities:
    def test_each_lies_in_one_country(self, world, facts):
        homes = {e.id for kind in ("country", "territory") for e in world.entities_of_type(kind)}
        cities = world.entities_of_type("city")
        assert len(cities) > 7000
        for city in cities:
            assert len(facts.tails[city.id, "located_in"] & homes) == 1, city

    def test_each_of_the_us_lies_in_one_state(self, facts):
        cities = {i for i in facts.heads["located_in", "country:US"] if i.startswith("city:")}
        for city in cities:
            states = [i for i in facts.tails[city, "located_in"] if i.startswith("state:")]
            assert len(states) == 1, city

    def test_the_fifty_states_have_their_capitals_in_them(self, world, facts):
        states = world.entities_of_type("state")
        assert len(states) == 50
        for state in states:
            (capital,) = facts.heads["capital_of", state.id]
            assert facts.tails[capital, "located_in"] == {state.id, "country:US"}
        assert labels(world, facts.heads["capital_of", "state:US-TX"]) == {"Austin"}
        assert labels(world, facts.heads["capital_of", "state:US-NY"]) == {"Albany"}

    def test_quarters_with_the_people_of_the_city_are_left_out(self, world):
        labels = {entity.label for entity in world.entities_of_type("city")}
        assert not labels & {"Camayenne", "Sector 3", "Paris 15 Vaugirard", "Pest"}

    def test_descriptions_tell_namesakes_apart(self, world):
        paris, texan = world.find("Paris")[:2]
        assert paris.description == (
            "capital and largest city of France, in Europe; 2.1 million people"
        )
        assert texan.description == "city in Texas, United States; 25 thousand people"


class TestNames:
    @pytest.mark.parametrize(("name", "first"), FIRST.items(), ids=FIRST)
    def test_means_first(self, world, name, first):
        assert world.find(name)[0].id == first

    @pytest.mark.parametrize(("name", "ids"), SHARED.items(), ids=SHARED)
    def test_is_shared_by(self, world, name, ids):
        assert {entity.id for entity in world.find(name)} >= ids

    def test_paris_has_two_candidates_at_least(self, world):
        candidates = world.candidates("Paris")
        assert len(candidates) >= 2
        assert candidates[0].prior > 0.9

    @pytest.mark.parametrize("name", ["Georgia", "Washington", "French", "Cambridge"])
    def test_the_first_two_are_close(self, world, name):
        first, second, *_ = world.candidates(name)
        assert second.prior > 0.5 * first.prior

    @pytest.mark.parametrize("name", ["PAR", "FRA", "AND", "CAN", "ARE", "TRY", "man", "is", "of"])
    def test_codes_and_common_words_are_no_names(self, world, name):
        assert world.find(name) == []

    def test_short_names_are_labels_or_written_by_hand(self, rows):
        for row in rows:
            for alias in row["aliases"]:
                letters = sum(c.isalpha() for c in alias)
                if alias.isascii() and letters <= 2:
                    assert alias.casefold().strip(".") in SHORT, (row["id"], alias)

    def test_priors_of_a_name_sum_to_one(self, world):
        for name in ("Springfield", "peso", "Georgia"):
            assert sum(c.prior for c in world.candidates(name)) == pytest.approx(1)


class TestEveryEntity:
    def test_has_its_own_id_a_label_a_description_and_a_type(self, rows):
        assert len({row["id"] for row in rows}) == len(rows)
        for row in rows:
            assert row["label"].strip() == row["label"] != ""
            assert len(row["description"]) >= 10, row
            assert row["types"], row

    def test_carries_the_kind_of_its_id(self, rows):
        kinds = {"city", "continent", "country", "currency", "language", "region", "state"}
        assert {row["id"].split(":")[0] for row in rows} == kinds
        assert len([row for row in rows if "continent" in row["types"]]) == 7

    def test_has_a_fact_unless_it_is_a_language(self, rows, facts):
        linked = {end for head, _, tail in facts.all for end in (head, tail)}
        alone = {row["id"].split(":")[0] for row in rows if row["id"] not in linked}
        assert alone <= {"continent", "language"}


@pytest.mark.slow
def test_every_name_leads_to_its_entity(world):
    rows = world.entities.select(["label", "aliases"]).to_pylist()
    lost = [
        name
        for number, row in enumerate(rows[::7])
        for name in (row["label"], *row["aliases"])
        if number * 7 not in {candidate.entity.index for candidate in world.candidates(name)}
    ]
    assert lost == []
