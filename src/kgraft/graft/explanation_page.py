"""An explanation as a web page: the text with the changed words, and what was looked up."""

from __future__ import annotations

from html import escape

from kgraft.graft.explanation import CandidateWeight, ExplainedMention, Explanation, WordChange

STYLE = """
body { font: 16px/1.6 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem;
  color: #1c2733; background: #fff }
h1 { font-size: 1.1rem; font-weight: 600; margin: 1.6rem 0 .4rem }
.text { font-size: 1.25rem; line-height: 2.1 }
.word { border-radius: .25rem; padding: .1rem .12rem }
table { border-collapse: collapse; width: 100%; font-size: .92rem }
th { text-align: left; font-weight: 600; border-bottom: 1px solid #c9d2dc }
td, th { padding: .25rem .5rem; vertical-align: top }
td.figure { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
td.bars { white-space: nowrap }
tr.first td { border-top: 1px solid #e4e9ee }
.bar { background: #2f7d5b; height: .6rem; border-radius: .2rem; display: inline-block }
.quiet { color: #66727f }
"""
GREEN = "47, 125, 91"


def render_html(explanation: Explanation) -> str:
    """Return a page that needs no other file."""
    mentions = "".join(_mention(mention) for mention in explanation.mentions)
    if not mentions:
        mentions = '<tr><td colspan="5" class="quiet">nothing of the graph is mentioned</td></tr>'
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{escape(explanation.text[:60])}</title>
<style>{STYLE}</style></head><body>
<h1>The words that knowledge moved</h1>
<p class="text">{_text(explanation)}</p>
<p class="quiet">The greener, the further: {_range(explanation.words)} of the vector's length.</p>
<h1>What was looked up</h1>
<table><tr><th>mention</th><th>may mean</th><th>prior</th><th>score</th><th>mixed in</th></tr>
{mentions}</table>
{_paths(explanation)}</body></html>
"""


def _paths(explanation: Explanation) -> str:
    """Return how the entities of the text are related, where that was read."""
    rows = [
        f'<tr><td>{escape(path.words)}</td><td class="figure">{path.weight:.2f}</td></tr>'
        for path in explanation.paths
    ]
    if not rows:
        return ""
    return f"<h1>How they are related</h1>\n<table>{''.join(rows)}</table>\n"


def _range(words: list[WordChange]) -> str:
    changes = [word.change for word in words] or [0.0]
    return f"{min(changes):.1%} to {max(changes):.1%}"


def _text(explanation: Explanation) -> str:
    most = max((word.change for word in explanation.words), default=0.0) or 1.0
    parts, last = [], 0
    for word in explanation.words:
        parts.append(escape(explanation.text[last : word.start]))
        shade = f"background: rgba({GREEN}, {0.75 * word.change / most:.2f})"
        title = f"moved by {word.change:.1%}"
        parts.append(
            f'<span class="word" style="{shade}" title="{title}">{escape(word.text)}</span>'
        )
        last = word.end
    return "".join([*parts, escape(explanation.text[last:])])


def _mention(mention: ExplainedMention) -> str:
    name = f"{escape(mention.text)} <span class='quiet'>{escape(mention.knowledge)}</span>"
    rows = [_candidate(candidate) for candidate in mention.candidates]
    if not any(candidate.weight for candidate in mention.candidates):
        rows.append('<td class="quiet">none of these</td><td></td><td></td><td></td>')
    first = f'<tr class="first"><td rowspan="{len(rows)}">{name}</td>{rows[0]}</tr>'
    return first + "".join(f"<tr>{row}</tr>" for row in rows[1:])


def _candidate(candidate: CandidateWeight) -> str:
    name = f"{escape(candidate.label)} <span class='quiet'>{escape(candidate.description)}</span>"
    bar = f'<span class="bar" style="width: {6 * candidate.weight:.2f}rem"></span>'
    figures = (f'<td class="figure">{x:.2f}</td>' for x in (candidate.prior, candidate.score))
    return f"<td>{name}</td>{''.join(figures)}<td class=bars>{bar} {candidate.weight:.2f}</td>"
