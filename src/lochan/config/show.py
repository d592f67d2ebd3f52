# SPDX-License-Identifier: Apache-2.0
"""Settings as text: those in effect, without what is secret, and the table of all there are."""

from collections.abc import Iterator

import msgspec
import yaml

from lochan.config.leaf import leaves


def effective(settings: msgspec.Struct) -> str:
    """Give settings as a file would have them, but for the secrets."""
    return yaml.safe_dump(tree(settings), sort_keys=False, allow_unicode=True)


def tree(settings: msgspec.Struct) -> dict[str, object]:
    """Give settings as plain values, fit for JSON, without what is secret."""
    return {name: _plain(getattr(settings, name)) for name in settings.__struct_fields__}


def _plain(value: object) -> object:
    if isinstance(value, msgspec.Struct):
        return tree(value)
    # Address and Network are tuples by nature, but texts in a file; so are sizes.
    if type(value) is tuple:
        return [_plain(item) for item in value]
    return value if type(value) in {bool, int, float, str, type(None)} else str(value)


def table(kind: type[msgspec.Struct]) -> str:
    """Give the lines of `docs/configuration.md` about one type."""
    return "".join(f"{line}\n" for line in _rows(kind))


def _rows(kind: type[msgspec.Struct]) -> Iterator[str]:
    yield "| key | variable | takes | default | meaning |"
    yield "|---|---|---|---|---|"
    for leaf in leaves(kind):
        default = _default(leaf.default)
        yield f"| `{leaf.key}` | `{leaf.variable}` | {leaf.expects} | {default} | {leaf.meaning} |"


def _default(value: object) -> str:
    shown = _plain(value)
    if isinstance(shown, bool):
        return f"`{str(shown).lower()}`"
    return f"`{shown}`" if shown or shown == 0 else ""
