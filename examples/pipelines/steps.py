# SPDX-License-Identifier: Apache-2.0
"""The code of pipeline.yaml: it is run once for each file, wherever the job runs."""

import ast
import json
from collections.abc import Iterable

from lochan.pipelines import InputFile, InputFiles, Out


def describe(source: InputFiles, out: Out) -> None:
    """Write down what a module imports, and how many functions and classes it has."""
    tree = ast.parse(source.read_bytes())
    nodes = list(ast.walk(tree))
    found = {
        "module": source.path,
        "imports": sorted({name for node in nodes for name in imported(node)}),
        "functions": sum(isinstance(node, ast.FunctionDef) for node in nodes),
        "classes": sum(isinstance(node, ast.ClassDef) for node in nodes),
    }
    out.write(source.path.removesuffix(".py") + ".json", json.dumps(found))


def has_rows(out: Iterable[InputFile]) -> bool:
    """Look at a result before anybody sees it: a table without rows is not published."""
    return any(file.size for file in out)


def imported(node: ast.AST) -> list[str]:
    """Name the modules that a statement imports, by their first names."""
    match node:
        case ast.Import(names=names):
            return [one.name.partition(".")[0] for one in names]
        case ast.ImportFrom(module=str(module), level=0):
            return [module.partition(".")[0]]
    return []
