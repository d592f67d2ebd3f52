# SPDX-License-Identifier: Apache-2.0
"""Which of a pipeline's own modules a function is made of, by the imports that its files say.

Every import counts, also one inside a function or under a condition, and calls of `import_module`
and `__import__` with a plain string. An import of a module runs the packages around it, so their
files count too. What is not among the files is somebody else's: requirements.txt speaks for it.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from lochan.errors import InvalidInput
from lochan.pipelines.specs.syntax import parsed

_PACKAGE: Final = "/__init__.py"
_LOADERS: Final = frozenset({"import_module", "__import__"})


@dataclass(frozen=True, slots=True)
class Modules:
    """The Python modules among some files: path by dotted name."""

    files: Mapping[str, bytes]
    paths: Mapping[str, str]

    @classmethod
    def of(cls, files: Mapping[str, bytes]) -> "Modules":
        """Name the modules as they are imported with the files' folder as the first place."""
        found = {}
        for path in sorted(files):  # of x.py and x/__init__.py the latter counts
            if path.endswith(".py"):
                name = path.removesuffix(_PACKAGE).removesuffix(".py").replace("/", ".")
                found[name] = path
        return cls(files, found)

    def closure(self, function: str) -> tuple[str, ...]:
        """Give the files that module:name runs from, by path. Raises InvalidInput."""
        module, _, name = function.partition(":")
        if module not in self.paths:
            near = _near(module, self.paths)
            message = f"function {function!r}: no file is module {module!r}{near}"
            raise InvalidInput(message, code="invalid-code", function=function)
        self._require(module, name)
        waiting, reached = [module], set[str]()
        while waiting:
            for path in self._around(waiting.pop()):
                if path not in reached:
                    reached.add(path)
                    waiting += self._imported(path)
        return tuple(sorted(reached))

    def _require(self, module: str, name: str) -> None:
        """Refuse a function that its module does not name anywhere."""
        path = self.paths[module]
        named = set(_named(parsed(self.files[path], path)))
        if name not in named and "*" not in named:
            message = f"{path} has no function {name!r}{_near(name, named)}"
            raise InvalidInput(message, code="invalid-code", function=f"{module}:{name}")

    def _around(self, module: str) -> Iterator[str]:
        """Give the file of a module and those of the packages that it lies in."""
        parts = module.split(".")
        for count in range(1, len(parts) + 1):
            path = self.paths.get(".".join(parts[:count]))
            if path is not None:
                yield path

    def _imported(self, path: str) -> Iterator[str]:
        """Give the names of modules that a file may import; some are names inside of modules."""
        package = path.removesuffix(".py").split("/")[:-1]
        for node in ast.walk(parsed(self.files[path], path)):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                above = package[: len(package) - node.level + 1] if node.level else []
                whence = ".".join([*above, *filter(None, [node.module])])
                yield whence
                yield from (f"{whence}.{alias.name}".lstrip(".") for alias in node.names)
            elif isinstance(node, ast.Call) and _called(node.func) in _LOADERS:
                yield from (
                    str(said.value)
                    for said in node.args[:1]
                    if isinstance(said, ast.Constant) and isinstance(said.value, str)
                )


def _called(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _named(tree: ast.Module) -> Iterator[str]:
    """Give all names that a file defines, assigns or imports; * when only running it would tell."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield "*" if node.name == "__getattr__" else node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.alias):
            yield node.asname or node.name


def _near(name: str, among: Mapping[str, str] | set[str]) -> str:
    found = get_close_matches(name, among, 1)
    return f"; did you mean {found[0]!r}?" if found else ""
