# SPDX-License-Identifier: Apache-2.0
"""Specs from YAML, one pipeline a document; mistakes are told as file:line:column.

    pipeline: thumbs
    description: small pictures
    input:                            # one of repo, cron, cross, union, join, group
      cross:
        - repo: {name: img, repo: photos, branch: main, glob: "/(*)/*.jpg"}
        - repo: {name: model, repo: models, branch: prod, trigger: false, reference: true}
    transform:                        # one of files, command, frame, sql, declarative
      files: thumbs.steps:make
      params: {size: 256}
    output: thumbs@main               # or {repo: thumbs, branch: main, collision: append}
    shards: auto
    datum: {tries: 3, timeout: 5m, on_error: quarantine, set_bytes: 256MB}
    job: {timeout: 2h, max_failed: 1%, restarts: 3, empty_commit: false}
    trigger: {on: commit, any: [{commits: 10}, {size: 1GB}, {cron: "@hourly"}]}
    rerun: on_code_change
    checks: [{sql: select count(*) > 0 from out}]
    egress: {jdbc: {url: "jdbc:...", table: thumbs}}
    spark: {conf: {spark.sql.shuffle.partitions: 64}}

An input without a name has its repository's, hyphens made underscores. A command that is one text
is a line for the shell. Fields that are left out have the defaults of `spec`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from lochan.pipelines.model.spec import (
    Check,
    CronInput,
    CrossInput,
    DatumRules,
    DeclarativeTransform,
    Egress,
    FilesTransform,
    FrameTransform,
    GroupInput,
    Input,
    JobRules,
    JoinInput,
    Output,
    RepoInput,
    SparkRules,
    Spec,
    SqlTransform,
    Transform,
    Trigger,
    TriggerTerm,
    UnionInput,
)
from lochan.pipelines.specs.validate import problems, said
from lochan.pipelines.specs.yaml_value import Value, read_yaml, seconds_of, size_of

T = TypeVar("T")
Read = Callable[[Value], object]
Fields = Mapping[str, tuple[str, Read]]  # what YAML calls it: what the model does, and its reader

_COLLISIONS: Final = ("error", "append", "last")


def load_specs(text: str, *, file: str) -> tuple[Spec, ...]:
    """Read the pipelines of a text.

    Raises InvalidInput, whose message is the first mistake; fact `problems` has all that a whole
    document has.
    """
    found: dict[str, Value] = {}
    specs = []
    for document in read_yaml(text, file=file):
        spec = _spec(document)
        if spec.pipeline in found:
            other = found[spec.pipeline].line
            raise document.wrong(f"pipeline {spec.pipeline!r} is there twice: see line {other}")
        found[spec.pipeline] = document
        specs.append(spec)
    return tuple(specs)


def _spec(document: Value) -> Spec:
    fields = document.fields(*_SPEC)
    for name in ("pipeline", "input", "transform", "output"):
        if name not in fields:
            raise document.wrong(f"field {name!r} is missing")
    spec = Spec(**_given(document, _SPEC))
    mistakes = [
        document.at(problem.steps).wrong(f"{said(problem.steps)}: {problem.message}")
        for problem in problems(spec)
    ]
    if mistakes:
        mistakes[0].facts["problems"] = [mistake.message for mistake in mistakes]
        raise mistakes[0]
    return spec


def _given(value: Value, known: Fields) -> dict[str, Any]:
    """Read the fields that are there."""
    return {known[name][0]: known[name][1](inner) for name, inner in value.fields(*known).items()}


def _made(kind: Callable[..., T], known: Fields, *needed: str) -> Callable[[Value], T]:
    """Make a reader of a mapping that becomes one part of the model."""

    def read(value: Value) -> T:
        given = _given(value, known)
        for name in needed:
            if known[name][0] not in given:
                raise value.wrong(f"field {name!r} is missing")
        return kind(**given)

    return read


def _same(read: Read, *names: str) -> dict[str, tuple[str, Read]]:
    """Let fields have the model's own names."""
    return {name: (name, read) for name in names}


def _list(read: Callable[[Value], T]) -> Callable[[Value], tuple[T, ...]]:
    """Make a reader of a list, or of one for a list of one."""
    return lambda value: tuple(read(item) for item in value.items())


def _choice(*among: str) -> Read:
    return lambda value: value.choice(*among)


def _input(value: Value) -> Input:
    kind, inner = _one_of(value, *_INPUTS)
    return _INPUTS[kind](inner)


def _one_of(value: Value, *kinds: str) -> tuple[str, Value]:
    """Give the one field of a mapping that says what it is."""
    fields = value.fields(*kinds)
    if len(fields) != 1:
        raise value.wrong(f"expected one of {', '.join(kinds)}")
    return next(iter(fields.items()))


def _repo(value: Value) -> RepoInput:
    given = _given(value, _REPO)
    if "repo" not in given:
        raise value.wrong("field 'repo' is missing: which repository is read?")
    given.setdefault("name", given["repo"].replace("-", "_"))
    return RepoInput(**given)


def _repos(value: Value) -> tuple[RepoInput, ...]:
    """Read what can be joined or grouped: inputs that are repositories."""
    return tuple(_repo(_one_of(item, "repo")[1]) for item in value.items())


def _transform(value: Value) -> Transform:
    fields = value.fields(*sorted({name for known in _TRANSFORMS.values() for name in known[1]}))
    kinds = [kind for kind in _TRANSFORMS if kind in fields]
    if len(kinds) != 1:
        raise value.wrong(f"expected one of {', '.join(_TRANSFORMS)}")
    make, known = _TRANSFORMS[kinds[0]]
    return make(**_given(value, known))


def _command(value: Value) -> tuple[str, ...]:
    if isinstance(value.data, str):
        return ("sh", "-c", value.data)
    return tuple(item.scalar() for item in value.items())


def _lines(value: Value) -> tuple[str, ...]:
    return tuple(line for item in value.items() for line in item.scalar().splitlines())


def _output(value: Value) -> Output:
    if not isinstance(value.data, str):
        return _made(Output, _OUTPUT, "repo")(value)
    repo, at, branch = value.data.partition("@")
    return Output(repo=repo, branch=branch) if at else Output(repo=repo)


def _shards(value: Value) -> int:
    return 0 if value.data == "auto" else value.whole()


def _trigger(value: Value) -> Trigger:
    given = _given(value, _TRIGGER)
    given.pop("on", None)
    return Trigger(**given)


def _egress(value: Value) -> Egress:
    fields = value.fields(*_EGRESS, "jdbc")
    if "jdbc" in fields and isinstance(fields["jdbc"].data, dict):
        return _made(Egress, _JDBC, "url", "table")(fields["jdbc"])
    return _made(Egress, {**_EGRESS, **_same(Value.text, "jdbc")})(value)


def _params(value: Value) -> dict[str, Any]:
    if not isinstance(value.data, dict):
        raise value.wrong(f"expected a mapping, not {value.shown}")
    found: dict[str, Any] = value.plain()
    return found


_REPO: Final[Fields] = {
    **_same(Value.text, "name", "repo", "branch", "glob", "join_on", "group_by", "format"),
    **_same(Value.flag, "reference", "trigger", "outer"),
    **_same(Value.strings, "options"),
}
_CRON: Final[Fields] = {
    **_same(Value.text, "name", "schedule"),
    **_same(Value.flag, "overwrite"),
}
_INPUTS: Final[Mapping[str, Callable[[Value], Input]]] = {
    "repo": _repo,
    "cron": _made(CronInput, _CRON, "name", "schedule"),
    "cross": lambda value: CrossInput(inputs=_list(_input)(value)),
    "union": lambda value: UnionInput(inputs=_list(_input)(value)),
    "join": lambda value: JoinInput(inputs=_repos(value)),
    "group": lambda value: GroupInput(inputs=_repos(value)),
}
_CODE: Final[Fields] = {"params": ("params", _params), "code": ("code", Value.scalar)}
_TABLES: Final[Fields] = {
    "params": ("params", _params),
    "incremental": ("incremental", _choice("full", "partition", "append")),
    "format": ("format", Value.text),
    "partition_by": ("partition_by", _list(Value.text)),
}
_TRANSFORMS: Final[Mapping[str, tuple[Callable[..., Transform], Fields]]] = {
    "files": (FilesTransform, {"files": ("function", Value.text), **_CODE}),
    "command": (
        FilesTransform,
        {
            "command": ("command", _command),
            "stdin": ("stdin", _lines),
            "environment": ("environment", Value.strings),
            "ok_codes": ("ok_codes", _list(Value.whole)),
            **_CODE,
        },
    ),
    "frame": (FrameTransform, {"frame": ("function", Value.text), **_TABLES, **_CODE}),
    "sql": (SqlTransform, {"sql": ("query", Value.text), **_TABLES}),
    "declarative": (
        DeclarativeTransform,
        {
            "declarative": ("project", Value.text),
            "full_refresh": ("full_refresh", Value.flag),
            "code": ("code", Value.scalar),
        },
    ),
}
_OUTPUT: Final[Fields] = {
    **_same(Value.text, "repo", "branch"),
    **_same(_choice(*_COLLISIONS), "collision"),
}
_DATUM: Final[Fields] = {
    "tries": ("tries", Value.whole),
    "timeout": ("timeout_s", seconds_of),
    "on_error": ("on_error", _choice("fail", "quarantine")),
    "set_bytes": ("set_bytes", size_of),
}
_JOB: Final[Fields] = {
    "timeout": ("timeout_s", seconds_of),
    "max_failed": ("max_failed", Value.scalar),
    "restarts": ("restarts", Value.whole),
    "empty_commit": ("empty_commit", Value.flag),
}
_TERM: Final[Fields] = {
    "commits": ("commits", Value.whole),
    "size": ("size", size_of),
    "cron": ("cron", Value.text),
}
_TRIGGER: Final[Fields] = {
    "on": ("on", _choice("commit")),
    **_same(_list(_made(TriggerTerm, _TERM)), "any", "all"),
    **_same(Value.flag, "each_commit"),
}
_CHECK: Final[Fields] = _same(Value.text, "sql", "function", "name")
_MODE: Final[Fields] = {
    "mode": ("mode", _choice("append", "overwrite")),
    "options": ("options", Value.strings),
}
_EGRESS: Final[Fields] = {**_same(Value.text, "files", "table"), **_MODE}
_JDBC: Final[Fields] = {"url": ("jdbc", Value.text), "table": ("table", Value.text), **_MODE}
_SPARK: Final[Fields] = {
    "master": ("master", Value.text),
    **_same(Value.strings, "conf", "resources"),
}
_SPEC: Final[Fields] = {
    "pipeline": ("pipeline", Value.text),
    "description": ("description", Value.text),
    "input": ("input", _input),
    "transform": ("transform", _transform),
    "output": ("output", _output),
    "shards": ("shards", _shards),
    "datum": ("datum", _made(DatumRules, _DATUM)),
    "job": ("job", _made(JobRules, _JOB)),
    "trigger": ("trigger", _trigger),
    "rerun": ("rerun", _choice("on_code_change", "never", "every_job")),
    "checks": ("checks", _list(_made(Check, _CHECK))),
    "egress": ("egress", _list(_egress)),
    "spark": ("spark", _made(SparkRules, _SPARK)),
}
