# SPDX-License-Identifier: Apache-2.0
"""Which sources a test of a campaign stands on, and a digest of them.

A test may start servers and processes: it stands on all there is. One that runs in its own process
what its module imports, and nothing else, says so by the mark `by_imports`; it stands on the files
of those imports, whatever is changed beside them. Imports inside of functions do not count, since
the project has none but those that make `lochan.open` and load the kernel; of the kernel everything
counts, also what is not Python. All stand on the pinned packages, the build files and Python.
"""

import ast
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final

EVERYTHING: Final = ("src", "tests", "bench", "docs/formal")
BUILD: Final = ("pyproject.toml", "requirements.lock", "setup.py")
KERNEL: Final = "src/lochan/kernel"
MARK: Final = "by_imports"
MADE: Final = frozenset({".pyc", ".c", ".so"})
_IMPORTED_FROM: Final = ("src", "tests")
_ALL = ""  # the group of tests that stand on everything


class Sources:
    """The sources as they are now, and digests of what they were in the beginning."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._alone = {  # the files of each module that is marked
            module.relative_to(root).as_posix(): {
                *imported(root, module),
                *_below(root, (KERNEL, *BUILD)),
            }
            for module in _below(root, ("tests",))
            if is_by_imports(module)
        }
        self._begun = {group: self._sum_up(group) for group in (_ALL, *self._alone)}

    def digest(self, test: str) -> str:
        """Give the digest of what a test stood on in the beginning."""
        return self._begun[self._group(test)]

    def is_changed(self, test: str) -> bool:
        """Say whether what a test stands on has another digest now."""
        return self._sum_up(self._group(test)) != self.digest(test)

    def _group(self, test: str) -> str:
        module = test.partition("::")[0]
        return module if module in self._alone else _ALL

    def _sum_up(self, group: str) -> str:
        files = self._alone[group] if group else _below(self._root, (*EVERYTHING, *BUILD))
        summed = sha256("{}.{}".format(*sys.version_info).encode())
        for path in sorted(files):
            content = path.read_bytes() if path.exists() else b"gone"
            summed.update(f"\0{path.relative_to(self._root).as_posix()}\0{len(content)}\0".encode())
            summed.update(content)
        return summed.hexdigest()


def is_by_imports(module: Path) -> bool:
    """Say whether a module of tests has the mark for all of them."""
    text = module.read_bytes() if module.name.startswith("test_") else b""
    marks = (
        node.value
        for node in (ast.parse(text).body if MARK.encode() in text else [])
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
    )
    return any(
        isinstance(part, ast.Attribute) and part.attr == MARK
        for mark in marks
        for part in ast.walk(mark)
    )


def imported(root: Path, module: Path) -> set[Path]:
    """Give a file and all of the project's that are run when it is imported."""
    reached: set[Path] = set()
    waiting = [module]
    while waiting:
        path = waiting.pop()
        if path not in reached:
            reached.add(path)
            for name in _names(ast.parse(path.read_bytes())):
                waiting += _around(root, name)
    return reached


def _names(tree: ast.Module) -> Iterator[str]:
    """Give what may be modules among what a file imports, but for what its functions do."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += ast.iter_child_nodes(node)


def _around(root: Path, name: str) -> Iterator[Path]:
    """Give the file of a module and those of the packages that it lies in."""
    parts = name.split(".")
    for place in _IMPORTED_FROM:
        for count in range(1, len(parts) + 1):
            found = root.joinpath(place, *parts[:count])
            files = (found / "__init__.py", found.with_suffix(".py"))
            yield from (file for file in files if file.is_file())


def _below(root: Path, names: tuple[str, ...]) -> Iterator[Path]:
    for name in names:
        there = root / name
        found = there.rglob("*") if there.is_dir() else [there]
        yield from (path for path in found if path.is_file() and not _is_made(path))


def _is_made(path: Path) -> bool:
    """Say whether Python, Cython or pip makes a file from others."""
    folder = path.parent.name
    return path.suffix in MADE or folder == "__pycache__" or folder.endswith(".egg-info")
