# SPDX-License-Identifier: Apache-2.0
"""What a spec must keep to, whoever wrote it: rules that the types of its fields cannot say.

Each mistake has its place, as the steps that lead to it in YAML: ("input", "cross", 1, "repo",
"glob"). So whoever has the text can point at a line (`yaml_spec`).
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from keyword import iskeyword
from math import isfinite
from typing import Final, NamedTuple

from lochan.errors import InvalidInput
from lochan.model.ids import valid_branch_name, valid_repository_id
from lochan.pipelines.model.spec import (
    CronInput,
    DeclarativeTransform,
    FilesTransform,
    FrameTransform,
    GroupInput,
    Input,
    JoinInput,
    RepoInput,
    Spec,
    SqlTransform,
    cron_repository,
    leaves,
)
from lochan.pipelines.specs.cron import Schedule
from lochan.pipelines.specs.globs import parse_glob
from lochan.pipelines.specs.graph import Graph, Node

Steps = tuple[str | int, ...]

_PIPELINE: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_FUNCTION: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", re.ASCII)
_CAPTURE: Final = re.compile(r"\$\$|\$(\d{1,4})")  # as `globs.substituted` has them
_SHARE: Final = re.compile(r"(\d+(?:\.\d+)?)%|\d+")
_TAKEN: Final = frozenset({"out", "ctx"})  # what else a function is handed
_WHOLE: Final = 100


class Problem(NamedTuple):
    """A mistake: where it is, and what to do."""

    steps: Steps
    message: str

    def __str__(self) -> str:
        """Give it as one line."""
        return f"{said(self.steps)}: {self.message}"


def validate(spec: Spec) -> None:
    """Refuse a spec that nobody could run. Raises InvalidInput for its first mistake."""
    for problem in problems(spec):
        message = f"pipeline {spec.pipeline!r}: {problem}"
        raise InvalidInput(message, code="invalid-pipeline", steps=problem.steps)


def problems(spec: Spec) -> Iterator[Problem]:
    """Give all mistakes of a spec, from top to bottom."""
    if not _PIPELINE.fullmatch(spec.pipeline):
        rule = "1 to 63 lower-case letters, digits and hyphens, not starting with a hyphen"
        yield Problem(("pipeline",), f"{spec.pipeline!r} is no name of a pipeline: {rule}")
    yield from _input(spec.input, ("input",), spec.pipeline)
    yield from _names(spec)
    yield from _transform(spec)
    yield from _refused(("output", "repo"), lambda: valid_repository_id(spec.output.repo))
    yield from _refused(("output", "branch"), lambda: valid_branch_name(spec.output.branch))
    yield from _refused(("output",), lambda: Graph.of([Node(spec)]))
    yield from _rules(spec)
    yield from _trigger(spec)
    yield from _checks(spec)


def said(steps: Steps) -> str:
    """Write steps as people do: input.cross[1].repo."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return text.removeprefix(".")


def _input(node: Input, steps: Steps, pipeline: str) -> Iterator[Problem]:
    if isinstance(node, RepoInput):
        yield from _repo(node, (*steps, "repo"))
    elif isinstance(node, CronInput):
        here = (*steps, "cron")
        yield from _refused((*here, "schedule"), lambda: Schedule(node.schedule))
        repository = cron_repository(pipeline, node)
        yield from _refused((*here, "name"), lambda: valid_repository_id(repository))
    else:
        kind = type(node).__name__.removesuffix("Input").lower()
        least = 1 if isinstance(node, GroupInput) else 2
        if len(node.inputs) < least:
            yield Problem((*steps, kind), f"it takes {least} inputs or more")
        for number, part in enumerate(node.inputs):
            here = (*steps, kind, number)
            yield from _input(part, here, pipeline)
            if isinstance(part, RepoInput):
                yield from _belongs(part, (*here, "repo"), node)
    if isinstance(node, RepoInput) and len(steps) == 1:
        yield from _belongs(node, (*steps, "repo"), None)


def _repo(leaf: RepoInput, steps: Steps) -> Iterator[Problem]:
    yield from _refused((*steps, "repo"), lambda: valid_repository_id(leaf.repo))
    yield from _refused((*steps, "branch"), lambda: valid_branch_name(leaf.branch))
    try:
        glob = parse_glob(leaf.glob)
    except InvalidInput as error:
        yield Problem((*steps, "glob"), error.message)
        return
    for field, text in (("join_on", leaf.join_on), ("group_by", leaf.group_by)):
        wanted = [int(number) for number in _CAPTURE.findall(text) if number]
        if text and not wanted:
            yield Problem((*steps, field), f"{text!r} names no capture; write $1")
        elif wanted and not 1 <= min(wanted) <= max(wanted) <= glob.captures:
            message = f"{text!r} names a capture that glob {leaf.glob!r} does not have"
            yield Problem((*steps, field), f"{message}: it has {glob.captures}, in (...)")


def _belongs(leaf: RepoInput, steps: Steps, around: Input | None) -> Iterator[Problem]:
    """Check that what joins and groups is where it counts, and nowhere else."""
    for field, value, kind in (
        ("join_on", leaf.join_on, JoinInput),
        ("group_by", leaf.group_by, GroupInput),
    ):
        if isinstance(around, kind) and not value:
            yield Problem(steps, f"it needs {field}, as in {field}: $1")
        elif value and not isinstance(around, kind):
            word = kind.__name__.removesuffix("Input").lower()
            yield Problem((*steps, field), f"it means nothing outside of {word}; leave it out")
    if leaf.outer and not isinstance(around, JoinInput):
        yield Problem((*steps, "outer"), "it means nothing outside of join; leave it out")


def _names(spec: Spec) -> Iterator[Problem]:
    seen: set[str] = set()
    for leaf, around in _placed(spec.input, ("input",)):
        steps = (*around, "name")
        if not leaf.name.isidentifier() or not leaf.name.isascii() or iskeyword(leaf.name):
            message = f"{leaf.name!r} is no name of an input: letters, digits and underscores"
            yield Problem(steps, f"{message}, not starting with a digit")
        elif leaf.name in _TAKEN:
            yield Problem(steps, f"the name {leaf.name!r} is taken; choose another")
        elif leaf.name in seen:
            yield Problem(steps, f"two inputs have the name {leaf.name!r}; choose another")
        seen.add(leaf.name)


def _placed(node: Input, steps: Steps) -> Iterator[tuple[RepoInput | CronInput, Steps]]:
    """Give the inputs that are not made of others, each with its place."""
    if isinstance(node, RepoInput | CronInput):
        yield node, (*steps, "repo" if isinstance(node, RepoInput) else "cron")
        return
    kind = type(node).__name__.removesuffix("Input").lower()
    for number, part in enumerate(node.inputs):
        yield from _placed(part, (*steps, kind, number))


def _transform(spec: Spec) -> Iterator[Problem]:
    transform, steps = spec.transform, ("transform",)
    if isinstance(transform, FilesTransform) and bool(transform.function) == bool(
        transform.command
    ):
        yield Problem((*steps, "files"), "it is a function or a command, one of them")
    if isinstance(transform, FilesTransform | FrameTransform) and transform.function:
        yield from _function(transform.function, (*steps, transform_kind(transform)))
    if isinstance(transform, SqlTransform) and not transform.query.strip():
        yield Problem((*steps, "sql"), "the query is empty")
    if isinstance(transform, DeclarativeTransform):
        parts = transform.project.split("/")
        if transform.project.startswith("/") or ".." in parts or not transform.project:
            yield Problem((*steps, "declarative"), "it is a folder below that of the spec")
        return
    named = {leaf.name for leaf in leaves(spec.input)} | _TAKEN
    for name, value in transform.params.items():
        if name in named:
            yield Problem((*steps, "params", name), "an input, or out, has that name")
        for wrong in _strange(value):
            message = f"{wrong!r} is no text, number, true, false, null, list or mapping"
            yield Problem((*steps, "params", name), f"{message}; put it in quotes")


def transform_kind(transform: FilesTransform | FrameTransform) -> str:
    """Name the field that says a transform."""
    return "files" if isinstance(transform, FilesTransform) else "frame"


def _function(function: str, steps: Steps) -> Iterator[Problem]:
    if not _FUNCTION.fullmatch(function):
        yield Problem(steps, f"{function!r} is no function; write module:name, as in steps:make")


def _strange(value: object) -> Iterator[object]:
    """Find what JSON does not have."""
    if isinstance(value, dict):
        yield from chain.from_iterable(map(_strange, value.values()))
        yield from (key for key in value if not isinstance(key, str))
    elif isinstance(value, list | tuple):
        yield from chain.from_iterable(map(_strange, value))
    elif not isinstance(value, str | int | float | None) or (
        isinstance(value, float) and not isfinite(value)
    ):
        yield value


def _rules(spec: Spec) -> Iterator[Problem]:
    least = (
        (("shards",), spec.shards, 0),
        (("datum", "tries"), spec.datum.tries, 1),
        (("datum", "timeout"), spec.datum.timeout_s, 0),
        (("datum", "set_bytes"), spec.datum.set_bytes, 1),
        (("job", "timeout"), spec.job.timeout_s, 0),
        (("job", "restarts"), spec.job.restarts, 0),
    )
    for steps, value, bound in least:
        if not value >= bound or not isfinite(value):
            yield Problem(steps, f"{value} is too small; it is {bound} or more")
    share = _SHARE.fullmatch(spec.job.max_failed)
    if not share or (share[1] and float(share[1]) > _WHOLE):
        message = f"{spec.job.max_failed!r} is neither a number nor a share up to 100%"
        yield Problem(("job", "max_failed"), message)


def _trigger(spec: Spec) -> Iterator[Problem]:
    for word, terms in (("any", spec.trigger.any), ("all", spec.trigger.all)):
        for number, term in enumerate(terms):
            steps = ("trigger", word, number)
            if term.commits < 0 or term.size < 0 or not (term.commits or term.size or term.cron):
                yield Problem(steps, "it says nothing; write commits, size or cron")
            if term.cron:
                yield from _refused((*steps, "cron"), partial(Schedule, term.cron))


def _checks(spec: Spec) -> Iterator[Problem]:
    for number, check in enumerate(spec.checks):
        if bool(check.sql) == bool(check.function):
            yield Problem(("checks", number), "it is sql or a function, one of them")
        elif check.function:
            yield from _function(check.function, ("checks", number, "function"))
    for number, egress in enumerate(spec.egress):
        if bool(egress.files) == bool(egress.jdbc):
            yield Problem(("egress", number), "it goes to files or by jdbc, one of them")
        elif egress.jdbc and not egress.table:
            yield Problem(("egress", number), "jdbc needs the name of a table")


def _refused(steps: Steps, check: Callable[[], object]) -> Iterator[Problem]:
    """Turn what a check raises into a problem with its place."""
    try:
        check()
    except InvalidInput as error:
        yield Problem(steps, error.message)
