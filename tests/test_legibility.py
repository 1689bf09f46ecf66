"""The code keeps to the words of the glossary, to short functions, and to public names.

A local variable names the thing it holds; a package imports another one's public names only.
"""

import ast
import tokenize
from collections import Counter
from pathlib import Path

import pytest

import kgraft

SOURCE = Path(kgraft.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
BANNED = {
    *("found", "told", "said", "held", "place", "known"),
    *("whole", "few", "some", "left", "around", "beside"),
}
MOST_TOKENS = 210
BASE = {path.stem for path in SOURCE.glob("*.py")}
NO_TOKENS = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def local_names(tree):
    """Yield each name that is bound in a function, with its line."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            for node in ast.walk(function):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    yield node.id, node.lineno
                elif isinstance(node, ast.arg):
                    yield node.arg, node.lineno


def function_sizes(path, tree):
    """Yield the number of tokens in the body of each function, with its line."""
    with path.open("rb") as file:
        tokens = Counter(
            token.start[0]
            for token in tokenize.tokenize(file.readline)
            if token.type not in NO_TOKENS
        )
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            lines = range(body[0].lineno, node.end_lineno + 1) if body else ()
            yield node.name, sum(tokens[line] for line in lines), node.lineno


def deep_imports(path, tree):
    """Yield imports of another package's modules instead of its public names."""
    own = path.relative_to(SOURCE).parts[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kgraft."):
            package, *modules = node.module.split(".")[1:]
            public = (SOURCE.joinpath(package, *modules) / "__init__.pyi").exists()
            if modules and not public and package not in BASE | {own} and own != "cli":
                yield node.module, node.lineno


def pytest_generate_tests(metafunc):
    if "path" in metafunc.fixturenames:
        names = [path.relative_to(SOURCE).as_posix() for path in FILES]
        metafunc.parametrize("path", FILES, ids=names)


def test_the_code_is_legible(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    problems = [
        f"{line}: local name {name!r}" for name, line in local_names(tree) if name in BANNED
    ]
    problems += [
        f"{line}: {name} has {size} tokens"
        for name, size, line in function_sizes(path, tree)
        if size > MOST_TOKENS
    ]
    problems += [f"{line}: imports {module}" for module, line in deep_imports(path, tree)]
    assert problems == []


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("def f():\n    found = 1\n    return found", "found"),
        ("def f(place): return place", "place"),
    ],
)
def test_a_banned_name_is_seen(code, problem):
    assert problem in [name for name, _ in local_names(ast.parse(code))]
