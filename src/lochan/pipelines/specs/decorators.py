# SPDX-License-Identifier: Apache-2.0
"""Pipelines as Python functions: what is read stands in the parameters, the rest in a decorator.

    @pipeline(output="thumbs@main", on_error="quarantine")
    def make(
        img: Files("photos@main", "/(*)/*.jpg"),
        model: Files("models@prod", reference=True),
        out: Out,
        size=256,
    ):
        out.write(img.path, shrink(img.read_bytes(), model, size))

    @pipeline(output="daily@main", incremental="partition")
    def daily(events: Table("events@main", "/dt=*/")):
        return events.groupBy("dt", "user").count()

`Files` and `Cron` make a function that is run for each datum, `Table` one from DataFrames to
DataFrames. Several inputs are crossed, unless `input` says how they go together, by the names of
parameters: input=join("img", "label"). For people who check types, Annotated[InputFiles, Files(..)]
says the same. A decorated function is called like any other; its `spec` is what a YAML file would
say of it, and `test` tries it on real data.
"""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import update_wrapper
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Generic, Literal, NamedTuple, ParamSpec, Protocol, TypeVar, get_args

import msgspec

from lochan.errors import InvalidInput
from lochan.pipelines.model.spec import (
    Check,
    Collision,
    CronInput,
    CrossInput,
    DatumRules,
    Egress,
    FilesTransform,
    FrameTransform,
    GroupInput,
    Incremental,
    Input,
    JobRules,
    JoinInput,
    Output,
    RepoInput,
    SparkRules,
    Spec,
    Transform,
    Trigger,
    UnionInput,
)
from lochan.pipelines.model.tried import Tried
from lochan.pipelines.specs.validate import validate

P = ParamSpec("P")
R = TypeVar("R")
Kind = Literal["cross", "union", "join", "group"]

_COMBINED: Final[Mapping[Kind, Callable[..., Input]]] = {
    "cross": CrossInput,
    "union": UnionInput,
    "join": JoinInput,
    "group": GroupInput,
}


class _Read:
    """An input that is read from `repository@branch`; `said` is all that was said of it."""

    def __init__(self, source: str, glob: str, *, reference: bool, trigger: bool) -> None:
        repo, branch = _source(source)
        self.said = RepoInput(
            name="", repo=repo, branch=branch, glob=glob, reference=reference, trigger=trigger
        )


class Files(_Read):
    """An input: the files of `repository@branch` that a glob matches, one part a datum."""

    def __init__(
        self,
        source: str,
        glob: str = "/",
        *,
        reference: bool = False,
        trigger: bool = True,
        join_on: str = "",
        outer: bool = False,
        group_by: str = "",
    ) -> None:
        """Say what is read; the fields are those of `spec.RepoInput`."""
        super().__init__(source, glob, reference=reference, trigger=trigger)
        self.said = msgspec.structs.replace(
            self.said, join_on=join_on, outer=outer, group_by=group_by
        )


class Table(_Read):
    """An input: the files of `repository@branch` that a glob matches, as a DataFrame."""

    def __init__(
        self,
        source: str,
        glob: str = "/",
        *,
        reference: bool = False,
        trigger: bool = True,
        format: str = "",  # noqa: A002 - Spark's word
        options: Mapping[str, str] | None = None,
    ) -> None:
        """Say what is read, and how; without a format, as the files' names end."""
        super().__init__(source, glob, reference=reference, trigger=trigger)
        self.said = msgspec.structs.replace(self.said, format=format, options=dict(options or {}))


class Cron:
    """An input: the ticks of a clock."""

    def __init__(self, schedule: str, *, overwrite: bool = True) -> None:
        """Say when it ticks, as `spec.CronInput` has it."""
        self.said = CronInput(name="", schedule=schedule, overwrite=overwrite)


class Combination(NamedTuple):
    """How inputs go together; parts are names of parameters, or combinations again."""

    kind: Kind
    parts: tuple["str | Combination", ...]


def cross(*parts: str | Combination) -> Combination:
    """Take each part of one input with each part of the others."""
    return Combination("cross", parts)


def union(*parts: str | Combination) -> Combination:
    """Take the parts of one input, then those of the others."""
    return Combination("union", parts)


def join(*parts: str) -> Combination:
    """Take parts whose `join_on` is equal, one of each input."""
    return Combination("join", parts)


def group(*parts: str) -> Combination:
    """Take all parts whose `group_by` is equal together."""
    return Combination("group", parts)


Trial = Callable[[Spec, Callable[..., Any], int, Path | None], Tried]


class OpenedLake(Protocol):
    """What `lochan.open` gives: a lake on which functions can be tried, if it is in this process.

    It brings the way to try them along, so that who says pipelines needs nothing that runs them.
    """

    @property
    def trial(self) -> Trial | None:
        """Give what runs a function on a datum (`try_datums.try_datum`)."""


class Pipeline(Generic[P, R]):
    """A function, and the pipeline that it is."""

    __name__: str

    def __init__(self, function: Callable[P, R], spec: Spec) -> None:
        """Keep both; the function's name and documentation are its own."""
        update_wrapper(self, function)
        self.function = function
        self.spec = spec

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        return self.function(*args, **kwargs)

    def test(self, *, datum: int = 0, lake: OpenedLake, into: Path | None = None) -> Tried:
        """Run the function on one datum of what is committed now; nothing is published.

        The lake is one that `lochan.open` gave. Files that are written are kept below `into`, if
        that is given. Raises: NotFound for the datum or an input; InvalidInput for a function from
        DataFrames, which is called with any.
        """
        if not isinstance(self.spec.transform, FilesTransform):
            message = f"{self.spec.pipeline!r} has no datums to test; call it with DataFrames"
            raise InvalidInput(message, code="no-datums")
        if lake.trial is None:
            message = "this lake is behind a server: open one by lochan.open(folder)"
            raise InvalidInput(message, code="lake-elsewhere")
        return lake.trial(self.spec, self.function, datum, into)


def pipeline(  # noqa: PLR0913 - the fields of a spec, each by its name
    *,
    output: str,
    name: str = "",
    input: Combination | None = None,  # noqa: A002 - the spec's word
    params: Mapping[str, Any] | None = None,
    code: str = "auto",
    collision: Collision = "error",
    shards: int | Literal["auto"] = "auto",
    on_error: Literal["fail", "quarantine"] = "fail",
    incremental: Incremental = "full",
    format: str = "parquet",  # noqa: A002 - Spark's word
    partition_by: Sequence[str] = (),
    datum: DatumRules | None = None,
    job: JobRules | None = None,
    trigger: Trigger | None = None,
    rerun: Literal["on_code_change", "never", "every_job"] = "on_code_change",
    checks: Sequence[Check] = (),
    egress: Sequence[Egress] = (),
    spark: SparkRules | None = None,
    description: str = "",
) -> Callable[[Callable[P, R]], Pipeline[P, R]]:
    """Make a pipeline of a function; without a name it has the function's, with hyphens.

    Raises InvalidInput where the function is defined, for what nobody could run.
    """

    def decorate(function: Callable[P, R]) -> Pipeline[P, R]:
        inputs = _inputs(function)
        where = f"{_module_name(function)}:{function.__name__}"
        transform: Transform
        if any(isinstance(one, Table) for one in inputs.values()):
            transform = FrameTransform(
                function=where,
                params=dict(params or {}),
                code=code,
                incremental=incremental,
                format=format,
                partition_by=tuple(partition_by),
            )
        else:
            transform = FilesTransform(function=where, params=dict(params or {}), code=code)
        repo, branch = _source(output)
        documented = (inspect.getdoc(function) or "").partition("\n")[0]
        spec = Spec(
            pipeline=name or function.__name__.replace("_", "-").lower(),
            input=_joined(inputs, input, where),
            transform=transform,
            output=Output(repo=repo, branch=branch, collision=collision),
            description=description or documented,
            shards=0 if shards == "auto" else shards,
            datum=datum or DatumRules(on_error=on_error),
            job=job or JobRules(),
            trigger=trigger or Trigger(),
            rerun=rerun,
            checks=tuple(checks),
            egress=tuple(egress),
            spark=spark or SparkRules(),
        )
        validate(spec)
        return Pipeline(function, spec)

    return decorate


def specs_of(module: ModuleType) -> tuple[Spec, ...]:
    """Give the pipelines that a module defines or imports, each once, in its order.

    Raises InvalidInput for two of one name.
    """
    found: dict[str, Spec] = {}
    for value in vars(module).values():
        if isinstance(value, Pipeline):
            spec = value.spec
            if found.setdefault(spec.pipeline, spec) is not spec:
                message = f"{module.__name__} has two pipelines {spec.pipeline!r}; name one anew"
                raise InvalidInput(message, code="invalid-pipeline")
    return tuple(found.values())


def _inputs(function: Callable[..., object]) -> dict[str, Files | Table | Cron]:
    """Read a function's parameters: those that an input is said of."""
    found: dict[str, Files | Table | Cron] = {}
    for name, said in inspect.get_annotations(function, eval_str=True).items():
        for one in (said, *get_args(said)):
            if isinstance(one, Files | Table | Cron):
                found[name] = one
    kinds = {type(one) for one in found.values()}
    if not found or {Files, Table} <= kinds:
        message = f"{function.__name__} needs parameters with Files(...), or ones with Table(...)"
        raise InvalidInput(message, code="invalid-pipeline")
    return found


def _joined(
    inputs: Mapping[str, Files | Table | Cron], how: Combination | None, where: str
) -> Input:
    """Put inputs together as it was said, each of them once."""
    if how is None:
        names = tuple(inputs)
        return _input(inputs, names[0] if len(names) == 1 else Combination("cross", names))
    named = list(_names(how))
    if sorted(named) != sorted(inputs):
        message = f"input of {where!r} names {', '.join(named)}; there are {', '.join(inputs)}"
        raise InvalidInput(f"{message}; name each once", code="invalid-pipeline")
    return _input(inputs, how)


def _input(inputs: Mapping[str, Files | Table | Cron], part: str | Combination) -> Input:
    if isinstance(part, str):
        return msgspec.structs.replace(inputs[part].said, name=part)
    parts = tuple(_input(inputs, inner) for inner in part.parts)
    if part.kind in {"join", "group"} and not all(isinstance(one, RepoInput) for one in parts):
        message = f"{part.kind} takes inputs that are Files or Table, nothing else"
        raise InvalidInput(message, code="invalid-pipeline")
    return _COMBINED[part.kind](inputs=parts)


def _names(part: str | Combination) -> tuple[str, ...]:
    if isinstance(part, str):
        return (part,)
    return tuple(name for inner in part.parts for name in _names(inner))


def _source(text: str) -> tuple[str, str]:
    """Take `repository@branch` apart; without a branch it is main."""
    repo, at, branch = text.partition("@")
    return repo, branch if at else "main"


def _module_name(function: Callable[..., object]) -> str:
    """Name the module as others import it, also while it is run as a program."""
    name = function.__module__
    if name != "__main__":
        return name
    main = sys.modules[name]
    if main.__spec__ is not None:
        return main.__spec__.name
    return Path(main.__file__ or "main").stem
