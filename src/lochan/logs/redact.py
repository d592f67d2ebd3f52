# SPDX-License-Identifier: Apache-2.0
"""Take secrets out of what is logged, whoever logs it and at whatever level.

Two nets: a value whose name looks secret is hidden whole; in any text, what looks like credentials
is hidden where it stands: Authorization values, signatures and tokens in urls, passwords in urls,
`secret=...` in prose and JSON, signed tokens. A name or text that only looks secret is hidden too;
the few that the protocols need are listed.
"""

import re
from collections.abc import Mapping
from typing import Any

HIDDEN = "********"

_WORDS = (
    r"secret|passw(?:or)?d|passphrase|token|authorization|cookie|credentials?|signature"
    r"|api[-_]?key|private[-_]?key|encryption[-_]?key|session[-_]?id"
)
_SECRET_NAME = re.compile(_WORDS, re.IGNORECASE)
# Tokens of the protocols name places; nobody gets in by them.
_NAMES = frozenset({"staging_token", "sealed_tokens", "continuation_token", "shared-token"})
_QUERY = r"(?:x-amz-)?(?:signature|credential|security-token)|sig|sv_sig|code|state|jwt"
_NETS = (
    # a header, in a text or a dump of headers: the scheme stays, what follows goes
    (
        re.compile(
            r"\b(authorization|cookie)(['\"]?\s*[:=,]\s*b?['\"]?)[^\r\n'\"]+", re.IGNORECASE
        ),
        rf"\1\2{HIDDEN}",
    ),
    (re.compile(r"\b(Basic|Bearer)\s+[\w+/=.~-]{6,}", re.IGNORECASE), rf"\1 {HIDDEN}"),
    (re.compile(r"\b(Signature|Credential)=[^\s,&\"']+", re.IGNORECASE), rf"\1={HIDDEN}"),
    (re.compile(rf"([?&](?:{_QUERY})=)[^&\s#\"']+", re.IGNORECASE), rf"\1{HIDDEN}"),
    (re.compile(r"(://[^\s/?#@:]*:)[^\s/?#]+@"), rf"\1{HIDDEN}@"),
    (re.compile(r"\beyJ[\w-]{6,}\.[\w-]+\.[\w-]*"), HIDDEN),
    (
        re.compile(
            rf"((?<![\w-])(?!staging_token|continuation_token)[\w.-]*(?:{_WORDS})[\w.-]*['\"]?"
            r"\s*(?:=|:)\s*b?['\"]?)(?!\s|\*{8})[^\s\"',;&})\]]+",
            re.IGNORECASE,
        ),
        rf"\1{HIDDEN}",
    ),
)
_MAX_DEPTH = 6


def redact_text(text: str) -> str:
    """Hide what looks like credentials in a text."""
    for pattern, replacement in _NETS:
        text = pattern.sub(replacement, text)
    return text


def redact(value: object, depth: int = 0) -> object:
    """Hide secrets in a value of any kind; what is not plain becomes its text."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, bytes | bytearray):
        return redact_text(bytes(value).decode("utf-8", "backslashreplace"))
    if depth < _MAX_DEPTH and isinstance(value, Mapping):
        return redact_facts(value, depth + 1)
    if depth < _MAX_DEPTH and isinstance(value, list | tuple | set | frozenset):
        return _redact_items(list(value), depth + 1)
    return redact_text(str(value))


def redact_facts(facts: Mapping[Any, object], depth: int = 0) -> dict[str, object]:
    """Hide the values of names that look secret, and secrets in the others."""
    return {
        redact_text(str(name)): HIDDEN if _is_secret(name) and value else redact(value, depth)
        for name, value in facts.items()
    }


def _redact_items(items: list[object], depth: int) -> list[object]:
    """Take (name, value) for what it is: headers are lists of pairs."""
    if len(items) == 2 and isinstance(items[0], str | bytes) and _is_secret(items[0]):  # noqa: PLR2004 - a pair
        return [redact(items[0]), HIDDEN]
    return [redact(item, depth) for item in items]


def _is_secret(name: object) -> bool:
    text = name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)
    return text not in _NAMES and _SECRET_NAME.search(text) is not None
