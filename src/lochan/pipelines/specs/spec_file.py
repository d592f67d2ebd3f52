# SPDX-License-Identifier: Apache-2.0
"""The file in which an author says pipelines: YAML, or Python whose functions are decorated.

A Python file is imported, in the process of who says it; a server never does that. What it says
goes on as text (`spec_text`).
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Final

from lochan.errors import InvalidInput
from lochan.pipelines.model.spec import Spec
from lochan.pipelines.specs.decorators import specs_of
from lochan.pipelines.specs.yaml_spec import load_specs

PYTHON: Final = ".py"


def read_specs(file: Path) -> tuple[Spec, ...]:
    """Read the pipelines of a file, at least one. Raises InvalidInput."""
    if file.suffix != PYTHON:
        found = load_specs(read_text(file), file=str(file))
    else:
        found = specs_of(_imported(file))
    if not found:
        remedy = "decorate a function with @pipeline" if file.suffix == PYTHON else "say one"
        raise InvalidInput(f"{file} has no pipeline; {remedy}", code="no-pipeline")
    return found


def read_text(file: Path) -> str:
    """Read a file of text. Raises InvalidInput."""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{file} cannot be read: {error}", code="no-spec") from error


def _imported(file: Path) -> ModuleType:
    """Run a file as the module that its name says; what lies beside it can be imported."""
    read_text(file)
    said = spec_from_file_location(file.stem, file.absolute())
    assert said is not None and said.loader is not None  # noqa: S101, PT018 - it ends with .py
    module = module_from_spec(said)
    before, folder = sys.modules.get(file.stem), str(file.absolute().parent)
    sys.path.insert(0, folder)
    sys.modules[file.stem] = module
    try:
        said.loader.exec_module(module)
    except InvalidInput:
        raise
    except Exception as error:
        message = f"{file} cannot be imported: {type(error).__name__}: {error}"
        raise InvalidInput(message, code="no-spec") from error
    finally:
        sys.path.remove(folder)
        del sys.modules[file.stem]
        if before is not None:
            sys.modules[file.stem] = before
    return module
