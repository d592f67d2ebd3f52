# SPDX-License-Identifier: Apache-2.0
"""Python files as trees: parsed, never run, and hashed by what their code says.

The hash goes over node types, field names and constants. Fields that are empty are left out, so
that a field which a later Python adds to a node changes nothing until somebody uses it. Positions,
comments, quotes and blank lines are not in a tree.

What the decorator `pipeline` is told, and the annotations of the function below it, are left out:
they say the spec, of which what counts is hashed by itself. Else another number of shards would be
other code.
"""

import ast
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Final

from lochan.errors import InvalidInput

_PIPELINES: Final = "lochan.pipelines"
_DECORATOR: Final = "pipeline"
# What a name is used for, that a string had a `u`, and comments that say types.
_SAYS_NOTHING: Final = frozenset({"ctx", "kind", "type_comment", "type_ignores"})


def parsed(data: bytes, path: str) -> ast.Module:
    """Parse a file. Raises InvalidInput with its place, also for what is nested too deeply."""
    try:
        return ast.parse(data, path)
    except SyntaxError as error:
        place = f"{path}:{error.lineno or 1}:{error.offset or 1}"
        message = f"{place}: {error.msg}"
        raise InvalidInput(message, code="invalid-code", file=path) from error
    except (ValueError, RecursionError, MemoryError) as error:
        message = f"{path} is no Python that can be parsed: {error}"
        raise InvalidInput(message, code="invalid-code", file=path) from error


def syntax_digest(data: bytes, path: str) -> bytes:
    """Hash a file by its tree: 32 bytes. Raises as `parsed`."""
    running = sha256()
    # By hand and not by recursion: a sum of thousands of terms is a tree thousands deep.
    tree = parsed(data, path)
    _forget_specs(tree)
    waiting: list[object] = [tree]
    while waiting:
        item = waiting.pop()
        if isinstance(item, ast.AST):
            fields = list(_fields(item))
            word = f"{len(fields)} fields"
            for name, value in fields:
                waiting += [value, name]
        elif isinstance(item, list):
            word = f"{len(item)} items"
            waiting += reversed(item)
        else:  # numbers in hex: long ones have no decimals
            word = f"{item:x}" if isinstance(item, int) else repr(item)
        said = f"{type(item).__name__} {word}".encode(errors="surrogatepass")
        running.update(len(said).to_bytes(8))
        running.update(said)
    return running.digest()


def _fields(node: ast.AST) -> Iterator[tuple[str, object]]:
    """Give what a node says, without what is empty."""
    for name, value in ast.iter_fields(node):
        if name not in _SAYS_NOTHING and value is not None and value != []:
            yield name, value


def _forget_specs(tree: ast.Module) -> None:
    """Take away what makes functions pipelines, where it is surely Lochan's decorator."""
    nodes = list(ast.walk(tree))
    called = {name for node in nodes for name in _decorators(node)} - set(_bound(nodes))
    for node in nodes:
        if not isinstance(node, ast.FunctionDef):
            continue
        others = [one for one in node.decorator_list if _called(one) not in called]
        if others != node.decorator_list:
            node.decorator_list = others
            for argument in (*node.args.args, *node.args.kwonlyargs):
                argument.annotation = None


def _decorators(node: ast.AST) -> Iterator[str]:
    """Give the names by which an import makes the decorator known."""
    if isinstance(node, ast.ImportFrom) and node.module == _PIPELINES and not node.level:
        for alias in node.names:
            if alias.name == _DECORATOR:
                yield alias.asname or alias.name
    elif isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name == _PIPELINES:
                yield f"{alias.asname or alias.name}.{_DECORATOR}"


def _bound(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Give the names that a file gives to things of its own."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def _called(decorator: ast.expr) -> str:
    """Name what a decorator calls: pipeline(...), or dp.pipeline(...)."""
    found = decorator.func if isinstance(decorator, ast.Call) else decorator
    steps: list[str] = []
    while isinstance(found, ast.Attribute):
        steps.append(found.attr)
        found = found.value
    return ".".join(reversed([*steps, found.id])) if isinstance(found, ast.Name) else ""
