"""Tables for notebooks: well-formed whatever they hold, and without colours of their own."""

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from kgraft.notebook import LONGEST, html_block

SAFE = st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff")
TEXT = st.text(SAFE, max_size=LONGEST)


@given(TEXT, st.lists(st.lists(TEXT, max_size=3), max_size=3), TEXT, st.lists(TEXT, max_size=3))
def test_every_text_arrives_as_it_is(title, rows, note, columns):
    root = ET.fromstring(html_block(title, rows, note=note, columns=columns))
    assert (root.find("div/b").text or "") == title
    cells = [[cell.text or "" for cell in row.findall("td")] for row in root.iter("tr")]
    assert cells[bool(columns) :] == rows
    assert [head.text or "" for head in root.iter("th")] == columns


def test_long_and_broken_texts_are_shown_in_part():
    html = html_block("x" * 10_000, [["\ud800", 3]])
    assert "x" * (LONGEST - 1) + "…" in html
    assert "x" * LONGEST not in html
    assert html.encode()


def test_colours_are_left_to_the_notebook():
    html = html_block("title", [["cell"]], subtitle="s", columns=["c"], note="n")
    assert "color" not in html
    assert "background" not in html
