# SPDX-License-Identifier: Apache-2.0
"""The smallest request that a route's declaration accepts, made from its shapes."""

import re
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import inspect

from lochan.web.route import Content, Route

_TEXTS = ("main", "0" * 64, "0" * 32, "lake", "local:///place/of/data", "1")
_LATEST = "2026-01-01T00:00:00Z"


@dataclass(frozen=True)
class SampleRequest:
    """What to send; `path` has the names of the route filled in."""

    path: str
    params: dict[str, str] = field(default_factory=dict)
    json: Any = None

    def sent(self) -> dict[str, Any]:
        """Give what Falcon's client is told."""
        return {"params": self.params} | ({"json": self.json} if self.json is not None else {})


def sample_request(route: Route, names: dict[str, str]) -> SampleRequest:
    """Make a request; names that are not given are `main`."""

    def filled(found: re.Match[str]) -> str:
        return names.get(found[1], "main")

    path = re.sub(r"\{(\w+)\}", filled, route.path)
    params = _sample(inspect.type_info(route.query)) if route.query else {}
    body = None if isinstance(route.body, Content) else _sample(inspect.type_info(route.body))
    return SampleRequest(path, {name: str(value) for name, value in params.items()}, body)


def _sample(kind: inspect.Type) -> Any:  # noqa: ANN401 - JSON, by kind
    match kind:
        case inspect.Metadata(type=inner, extra_json_schema=extra):
            examples = (extra or {}).get("examples")
            return examples[0] if examples else _sample(inner)
        case inspect.StructType(fields=fields):
            return {one.encode_name: _sample(one.type) for one in fields if one.required}
        case inspect.ListType(item_type=item, min_length=least):
            return [_sample(item)] * (least or 1)
        case inspect.DictType():
            return {}
        case inspect.LiteralType(values=values):
            return values[0]
        case inspect.BoolType():
            return False
        case inspect.IntType(ge=least):
            return max(least or 0, 1)
        case inspect.DateTimeType():
            return _LATEST
        case inspect.StrType(pattern=pattern):
            return next(text for text in _TEXTS if re.search(pattern or "", text))
        case inspect.UnionType(types=several):
            return _sample(several[0])
    raise NotImplementedError(kind)


def accepts(route: Route, request: SampleRequest) -> bool:
    """Say whether the declaration takes the request, so that nothing but a permission refuses."""
    try:
        if route.query:
            msgspec.convert(request.params, route.query, strict=False)
        if not isinstance(route.body, Content):
            msgspec.convert(request.json, route.body)
    except msgspec.ValidationError:
        return False
    return True
