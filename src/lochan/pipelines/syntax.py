# SPDX-License-Identifier: Apache-2.0
"""Python files as trees: parsed, never run, and hashed by what their code says.

The hash goes over node types, field names and constants. Fields that are empty are left out, so
that a field which a later Python adds to a node changes nothing until somebody uses it. Positions,
comments, quotes and blank lines are not in a tree.
"""

import ast
from collections.abc import Iterator
from hashlib import sha256
from typing import Final

from lochan.errors import InvalidInput

# Of what a name is used for, what a `u` before a string was, and comments that say types.
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
    waiting: list[object] = [parsed(data, path)]
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
