# SPDX-License-Identifier: Apache-2.0
"""A spec as text that `yaml_spec` reads back: how pipelines that are said in Python travel.

It is JSON, which is YAML too. What has its default is left out, so that text and spec are one.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from lochan.pipelines.model.spec import (
    CronInput,
    DeclarativeTransform,
    Egress,
    FilesTransform,
    FrameTransform,
    Input,
    RepoInput,
    Spec,
    Transform,
)

# What the model calls otherwise than the text does.
_RENAMED: Final[Mapping[str, str]] = {"timeout_s": "timeout"}
_SECONDS: Final = "timeout_s"


def spec_text(spec: Spec) -> str:
    """Write a spec; `load_specs` gives an equal one."""
    said: dict[str, Any] = {
        **_fields(spec),
        "input": _input(spec.input),
        "transform": _transform(spec.transform),
        "output": _fields(spec.output),
        "datum": _fields(spec.datum),
        "job": _fields(spec.job),
        "trigger": {
            **_fields(spec.trigger),
            "any": [_fields(term) for term in spec.trigger.any],
            "all": [_fields(term) for term in spec.trigger.all],
        },
        "checks": [_fields(check) for check in spec.checks],
        "egress": [_egress(one) for one in spec.egress],
        "spark": _fields(spec.spark),
    }
    kept = {name: value for name, value in said.items() if value not in ({}, [], "")}
    return msgspec.json.format(msgspec.json.encode(kept), indent=2).decode() + "\n"


def _fields(part: msgspec.Struct) -> dict[str, Any]:
    """Give the plain fields of a part that differ from their defaults."""
    found: dict[str, Any] = {}
    for field in msgspec.structs.fields(part):
        value = getattr(part, field.name)
        if isinstance(value, msgspec.Struct) or value == _default(field):
            continue
        plain = msgspec.to_builtins(value)
        name = _RENAMED.get(field.name, field.name)
        found[name] = f"{plain}s" if field.name == _SECONDS else plain
    return found


def _default(field: msgspec.structs.FieldInfo) -> object:
    if field.default is not msgspec.NODEFAULT:
        return field.default
    factory = field.default_factory
    return factory() if factory is not msgspec.NODEFAULT else msgspec.NODEFAULT


def _input(node: Input) -> dict[str, Any]:
    kind = type(node).__struct_config__.tag
    if isinstance(node, RepoInput | CronInput):
        return {str(kind): _fields(node)}
    return {str(kind): [_input(part) for part in node.inputs]}


def _transform(transform: Transform) -> dict[str, Any]:
    said = _fields(transform)
    match transform:
        case FilesTransform(function=function) if function:
            return {"files": said.pop("function"), **said}
        case FilesTransform():
            return said
        case FrameTransform():
            return {"frame": said.pop("function"), **said}
        case DeclarativeTransform():
            return {"declarative": said.pop("project"), **said}
    return {"sql": said.pop("query"), **said}


def _egress(one: Egress) -> dict[str, Any]:
    said = _fields(one)
    if "jdbc" not in said:
        return said
    return {"jdbc": {"url": said.pop("jdbc"), **said}}
