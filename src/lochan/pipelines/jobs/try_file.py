# SPDX-License-Identifier: Apache-2.0
"""Try a few datums of a pipeline whose spec and code lie in a folder: `lochan pipeline test`."""

from collections.abc import Sequence
from pathlib import Path

from lochan.errors import InvalidInput
from lochan.operations.lake import Lake
from lochan.pipelines.jobs.try_datums import choose, datums_now, try_datums
from lochan.pipelines.model.spec import Spec
from lochan.pipelines.model.tried import Tried
from lochan.pipelines.model.work import Code
from lochan.pipelines.specs.spec_file import read_specs


def try_file(
    lake: Lake,
    file: Path,
    *,
    pipeline: str = "",
    numbers: Sequence[int] = (),
    paths: Sequence[str] = (),
    into: Path | None = None,
) -> tuple[Tried, ...]:
    """Run datums by number or by path; by neither, the first one.

    Raises: InvalidInput for a spec or code that cannot be run, NotFound for what is not there.
    """
    spec = _chosen(read_specs(file), pipeline)
    datums = datums_now(lake, spec)
    if not numbers and not paths:
        numbers = [datum.number for datum in datums[:1]]
    chosen = choose(datums, numbers=numbers, paths=paths) if datums else ()
    code = Code(folder=str(file.parent.absolute()))
    return try_datums(lake, spec, chosen, code=code, into=into)


def _chosen(specs: Sequence[Spec], name: str) -> Spec:
    found = [spec for spec in specs if spec.pipeline == name or not name]
    if len(found) == 1:
        return found[0]
    names = ", ".join(spec.pipeline for spec in specs)
    message = f"there is no pipeline {name!r}" if name else "the file has several pipelines"
    raise InvalidInput(f"{message}; name one of {names}", code="which-pipeline")
