# SPDX-License-Identifier: Apache-2.0
"""A text that is never shown: not by repr or str, nor in a format string, JSON, a log or an error.

Only `reveal` gives it, so that every place that sees a secret can be found by that word. JSON
encoders do not know the type and refuse it. It may be pickled, since a server hands its settings to
its workers.
"""

import hmac
from hashlib import sha256

HIDDEN = "********"


class Secret:
    """A secret text; empty means that none was given."""

    __slots__ = ("_text",)

    def __init__(self, text: str = "") -> None:
        """Hide a text."""
        self._text = text

    @classmethod
    def parse(cls, value: object) -> "Secret":
        """Take a text from settings. Raises ValueError, which does not repeat it."""
        if not isinstance(value, str):
            raise ValueError("expected a text in quotes")  # noqa: TRY004 - msgspec adds the key to a ValueError
        return cls(value)

    def reveal(self) -> str:
        """Give the text itself."""
        return self._text

    def derive(self, purpose: str) -> bytes:
        """Give 32 bytes for one purpose, from which neither the secret nor the others follow."""
        return hmac.digest(self._text.encode(), b"lochan/" + purpose.encode(), sha256)

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self._text.encode(), other._text.encode())

    def __hash__(self) -> int:
        return hash(self.derive("hash"))

    def __str__(self) -> str:
        return HIDDEN if self._text else ""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"
