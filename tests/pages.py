"""The blocks of a page in Markdown, and the comparison of what they print with what is written."""

import re
import shlex
from dataclasses import dataclass

LANGUAGES = {
    "python",  # runs
    "py",  # Python that does not run in a test; a comment above says why
    "sh",  # commands
    "console",  # commands behind "$ ", and what they print
    "text",  # what the block before it prints, or a drawing
    "toml",
    "json",
}
BLOCK = re.compile(r"(<!--[^\n]*-->\n)?^```([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block, with the comment on the line above it."""

    language: str
    body: str
    comment: str

    def commands(self):
        """Return the words of each kgraft command in the block."""
        if self.language not in ("sh", "console"):
            return []
        lines = self.body.replace("\\\n", " ").splitlines()
        if self.language == "console":
            lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        found = (re.match(r"(?:[^#']*\| )?kgraft (.*)", line) for line in lines)
        return [shlex.split(match[1], comments=True) for match in found if match]

    def runs(self):
        """Yield each command of a console block with the output that stands below it."""
        for part in re.split(r"^\$ ", self.body, flags=re.MULTILINE)[1:]:
            line, _, output = part.partition("\n")
            yield line, output


def read_blocks(page):
    """Return the blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [Block(found[2], found[3], found[1] or "") for found in BLOCK.finditer(text)]


def missing_lines(shown, printed):
    """Return the lines that are shown but do not follow one another in what was printed.

    Spaces do not count, and numbers may differ a little, as they do from machine to machine.
    """
    lines = iter([line.split() for line in printed.splitlines()])
    return [
        line
        for line in shown.splitlines()
        if line.strip() and not any(_same_words(line.split(), other) for other in lines)
    ]


def _same_words(shown, printed):
    pairs = zip(shown, printed, strict=False)
    return len(shown) == len(printed) and all(_same_word(one, other) for one, other in pairs)


def _same_word(shown, printed):
    if shown == printed:
        return True
    number = r"-?\d+\.\d+[;,]?"
    if not (re.fullmatch(number, shown) and re.fullmatch(number, printed)):
        return False
    one, other = (word.rstrip(";,") for word in (shown, printed))
    last_digit = 10.0 ** -len(one.partition(".")[2])
    return abs(float(one) - float(other)) <= max(2.5 * last_digit, 0.1 * abs(float(one)))
