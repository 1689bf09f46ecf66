"""Hooks of MkDocs: pages from outside docs/, links to them, and formulas without any script.

RESULTS.md, the notes beside the benchmarks, CHANGELOG and CONTRIBUTING are pages of the site, and
stay where they are. Links lead to them as they do on disk; a link to another file of the repository
becomes its text. Formulas between dollar signs become MathML, which browsers draw by themselves.
"""

from __future__ import annotations

import html
import posixpath
import re
from pathlib import Path

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?![a-z]+:|#|/)([^)#\s]+)(#[^)\s]*)?\)")
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)


def pages_outside() -> list[str]:
    """Return the pages that lie outside of docs/, by their paths in the repository."""
    notes = sorted((ROOT / "benchmarks").glob("*/NOTES.md"))
    paths = [ROOT / "benchmarks" / "RESULTS.md", *notes]
    paths += [ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
    return [path.relative_to(ROOT).as_posix() for path in paths]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that lie outside of docs/."""
    for path in pages_outside():
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Let links lead to the pages of the site."""
    source = page.file.src_uri
    outside = source in pages_outside()

    def make_link(link: re.Match[str]) -> str:
        text, target, anchor = link[1], link[2], link[3] or ""
        on_disk = posixpath.normpath(
            posixpath.join(posixpath.dirname(source if outside else f"docs/{source}"), target)
        )
        on_site = on_disk.removeprefix("docs/")
        if files.get_file_from_path(on_site) is not None:
            start = posixpath.dirname(source) or "."
            return f"[{text}]({posixpath.relpath(on_site, start)}{anchor})"
        return text if (ROOT / on_disk).exists() else link[0]

    return LINK.sub(make_link, markdown)


def on_page_content(content: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Draw the formulas."""
    return FORMULA.sub(
        lambda found: convert(
            html.unescape(found[3]), display="inline" if found[2] == "(" else "block"
        ),
        content,
    )
