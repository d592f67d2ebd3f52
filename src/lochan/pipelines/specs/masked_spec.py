# SPDX-License-Identifier: Apache-2.0
"""A spec as people may see it: without what is secret in it.

Whoever may look at a pipeline sees its spec, and that may say how a database or a storage is
reached: options of readers and of egress, Spark's settings, variables of a command. So what a name
calls a secret is hidden, and so is what an address holds of one:

    password, secret, token, credential, access key and the like       ***
    jdbc:...//user:word@host, ...?password=word;...                    the word alone

The stored spec is whole, for jobs need it.
"""

import re
from typing import Any, Final

import msgspec

from lochan.pipelines.model.spec import Spec

HIDDEN: Final = "***"
_KEYS: Final = r"(?:access|account|api|private).?key"
_WORDS: Final = rf"pass(?:word|wd|phrase)|pwd|secret|token|credential|{_KEYS}"
_NAME: Final = re.compile(_WORDS, re.IGNORECASE)
_SAID: Final = re.compile(rf"((?:{_WORDS})[\w.-]*\s*=\s*)[^&;,\s'\"]+", re.IGNORECASE)
_LOGIN: Final = re.compile(r"(//[^/:@\s]+:)[^/@\s]+@")


def masked_spec(spec: Spec) -> dict[str, Any]:
    """Give a spec as plain values, without what is secret."""
    found = _masked(msgspec.to_builtins(spec))
    assert isinstance(found, dict)  # noqa: S101 - as a spec is
    return found


def is_secret(name: str) -> bool:
    """Say whether a name calls its value a secret."""
    return _NAME.search(name) is not None


def masked_text(text: str) -> str:
    """Hide passwords that an address, or a message about one, holds."""
    return _SAID.sub(rf"\1{HIDDEN}", _LOGIN.sub(rf"\1{HIDDEN}@", text))


def _masked(value: object, name: str = "") -> object:
    if isinstance(value, dict):
        return {key: _masked(each, str(key)) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_masked(each, name) for each in value)
    if value and is_secret(name) and not isinstance(value, bool):
        return HIDDEN
    return masked_text(value) if isinstance(value, str) else value
