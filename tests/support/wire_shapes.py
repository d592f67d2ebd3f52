# SPDX-License-Identifier: Apache-2.0
"""The shapes of the REST API by name, lakeFS's own models of them, and values made from types."""

import importlib
import inspect
import pkgutil
import typing
from collections.abc import Iterator
from datetime import UTC, datetime
from types import ModuleType
from typing import Any, TypeAlias

import lakefs_sdk
import lakefs_sdk.api
import lakefs_sdk.api_client
import lakefs_sdk.models
import msgspec
from hypothesis import strategies as st
from msgspec import inspect as mi

import lochan.shapes

SdkModel: TypeAlias = Any  # their types are pydantic's, of one version or another

OWN_MODULES = {
    f"lochan.shapes.{name}"
    for name in ("clocks", "jobs", "pfs", "pipelines", "presigned", "provenance")
}


def _shapes() -> Iterator[tuple[str, type[msgspec.Struct]]]:
    for found in pkgutil.iter_modules(lochan.shapes.__path__, "lochan.shapes."):
        module = importlib.import_module(found.name)
        for name, value in vars(module).items():
            if getattr(value, "__module__", "") == found.name and _is_struct(value):
                yield name, value


def _is_struct(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, msgspec.Struct)


EVERY_SHAPE = list(_shapes())
SHAPES = dict(EVERY_SHAPE)


def sdk_models() -> dict[str, Any]:
    """Give lakeFS's models by name."""
    models: ModuleType = lakefs_sdk.models
    return {name: model for name, model in vars(models).items() if hasattr(model, "__fields__")}


def sdk_fields(model: SdkModel) -> dict[str, bool]:
    """Give the JSON names of a model's fields, and whether they are required."""
    return {field.alias: field.required for field in model.__fields__.values()}


def sdk_encode(value: SdkModel) -> bytes:
    """Encode a model as lakeFS's client sends it."""
    client: Any = lakefs_sdk.api_client.ApiClient
    return msgspec.json.encode(client().sanitize_for_serialization(value))


def sdk_operations() -> dict[str, Any]:
    """Give the calls of lakeFS's client by name."""
    return {
        name: call
        for api in vars(lakefs_sdk.api).values()
        if isinstance(api, type)
        for name, call in inspect.getmembers(api, inspect.isfunction)
    }


def sdk_request_models() -> set[str]:
    """Name the models that clients send, and those inside them."""
    models = sdk_models()
    waiting = [
        model.__name__
        for call in sdk_operations().values()
        for name, hint in typing.get_type_hints(call).items()
        if name != "return"
        for model in _models_in(hint, models)
    ]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            inside = (field.type_ for field in models[name].__fields__.values())
            waiting += [each.__name__ for hint in inside for each in _models_in(hint, models)]
    return found


def _models_in(hint: object, models: dict[str, Any]) -> Iterator[Any]:
    name = getattr(hint, "__name__", "")
    if name in models:
        yield models[name]
    for part in (*typing.get_args(hint), getattr(hint, "item_type", None)):
        if part is not None:
            yield from _models_in(part, models)


def values(shape: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    """Make JSON values of a shape, without the optional fields that lakeFS's model lacks."""
    return _values(mi.type_info(shape))


def _values(kind: mi.Type) -> st.SearchStrategy[Any]:
    match kind:
        case mi.StructType():
            return _struct(kind)
        case mi.UnionType():
            inside = [each for each in kind.types if not isinstance(each, mi.NoneType)]
            return st.one_of([_values(each) for each in inside])
        case mi.Metadata():
            return _values(kind.type)
        case mi.StrType():
            return _text(kind)
        case mi.IntType():
            return st.integers(kind.ge, kind.le)
        case mi.BoolType():
            return st.booleans()
        case mi.DateTimeType():
            years = (datetime(1970, 1, 1), datetime(9999, 1, 1))  # noqa: DTZ001 - the zone is given beside
            moments = st.datetimes(*years, timezones=st.just(UTC))
            return moments.map(datetime.isoformat)
        case mi.LiteralType():
            return st.sampled_from(kind.values)
        case mi.ListType() | mi.VarTupleType():
            return st.lists(_values(kind.item_type), min_size=kind.min_length or 0, max_size=3)
        case mi.DictType():
            return st.dictionaries(st.text(max_size=5), _values(kind.value_type), max_size=3)
    raise AssertionError(f"no strategy for {kind}")


def _struct(kind: mi.StructType) -> st.SearchStrategy[Any]:
    model = sdk_models().get(kind.cls.__name__)
    known = sdk_fields(model) if model else {field.encode_name for field in kind.fields}
    made = {f.encode_name: _values(f.type) for f in kind.fields if f.encode_name in known}
    needed = {name: made.pop(name) for name in list(made) if _required(kind, name)}
    return st.fixed_dictionaries(needed, optional=made)


def _required(kind: mi.StructType, name: str) -> bool:
    return any(field.encode_name == name and field.required for field in kind.fields)


def _text(kind: mi.StrType) -> st.SearchStrategy[str]:
    if kind.pattern:
        matching = st.from_regex(kind.pattern.replace("$", r"\Z"))
        return matching.filter(lambda text: len(text) <= (kind.max_length or 100))
    return st.text(min_size=kind.min_length or 0, max_size=20)
