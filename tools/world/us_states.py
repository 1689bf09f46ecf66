"""The states of the US: capital, people and demonym, which no package holds."""

from __future__ import annotations

from dataclasses import dataclass

_TABLE = """
AK|Juneau|733|Alaskan
AL|Montgomery|5024|Alabamian
AR|Little Rock|3012|Arkansan
AZ|Phoenix|7152|Arizonan
CA|Sacramento|39538|Californian
CO|Denver|5774|Coloradan
CT|Hartford|3606|
DC||690|
DE|Dover|990|Delawarean
FL|Tallahassee|21538|Floridian
GA|Atlanta|10712|
HI|Honolulu|1455|
IA|Des Moines|3190|Iowan
ID|Boise|1839|Idahoan
IL|Springfield|12813|Illinoisan
IN|Indianapolis|6786|Hoosier
KS|Topeka|2938|Kansan
KY|Frankfort|4506|Kentuckian
LA|Baton Rouge|4658|Louisianan
MA|Boston|7030|Bay Stater
MD|Annapolis|6177|Marylander
ME|Augusta|1362|Mainer
MI|Lansing|10077|Michigander
MN|Saint Paul|5706|Minnesotan
MO|Jefferson City|6155|Missourian
MS|Jackson|2961|Mississippian
MT|Helena|1084|Montanan
NC|Raleigh|10439|North Carolinian
ND|Bismarck|779|North Dakotan
NE|Lincoln|1962|Nebraskan
NH|Concord|1378|
NJ|Trenton|9289|New Jerseyan
NM|Santa Fe|2118|New Mexican
NV|Carson City|3105|Nevadan
NY|Albany|20201|New Yorker
OH|Columbus|11799|Ohioan
OK|Oklahoma City|3959|Oklahoman
OR|Salem|4237|Oregonian
PA|Harrisburg|13003|Pennsylvanian
RI|Providence|1097|Rhode Islander
SC|Columbia|5118|South Carolinian
SD|Pierre|887|South Dakotan
TN|Nashville|6911|Tennessean
TX|Austin|29146|Texan
UT|Salt Lake City|3272|Utahn
VA|Richmond|8631|Virginian
VT|Montpelier|643|Vermonter
WA|Olympia|7705|Washingtonian
WI|Madison|5894|Wisconsinite
WV|Charleston|1794|West Virginian
WY|Cheyenne|577|Wyomingite
"""


@dataclass(frozen=True)
class State:
    """A state: postal code, capital city, people in thousands (census of 2020), demonym."""

    code: str
    capital: str
    thousands: int
    demonym: str


def _state(line: str) -> State:
    code, capital, thousands, demonym = line.split("|")
    return State(code, capital, int(thousands), demonym)


STATES = {state.code: state for state in map(_state, _TABLE.split("\n")[1:-1])}
"""All fifty states and the District of Columbia, by postal code."""

NAMES = {
    "CA": "Calif.",
    "DC": "D.C.|DC",
    "MA": "Mass.",
    "NJ": "N.J.",
    "NM": "N.M.",
    "NY": "N.Y.|New York State",
    "PA": "Penn.",
    "WA": "Washington State",
}
"""Abbreviations and names that tell a state from the city of that name."""
