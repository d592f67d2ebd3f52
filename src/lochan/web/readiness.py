# SPDX-License-Identifier: Apache-2.0
"""Whether requests should come to this process: it is not draining, and the store answers.

The parent says to all workers that they are draining by a file in the folder that they share.
"""

from pathlib import Path
from typing import Final

from lochan.environment import Environment
from lochan.errors import LochanError, NotFound
from lochan.kv.store import Store
from lochan.model.keys import GRAVELER

BELIEVED_FOR_S = 5.0
DRAINING: Final = "draining"
_PROBE = b"readiness"  # a key that is never written


class Readiness:
    """The answer to /readyz, remembered for some seconds."""

    def __init__(self, store: Store, environment: Environment, folder: Path) -> None:
        """Ask this store; `folder` is shared by the workers of a server."""
        self._store = store
        self._environment = environment
        self._draining = folder / DRAINING
        self._asked = -BELIEVED_FOR_S
        self._wrong = ""

    def what_is_wrong(self) -> str:
        """Say why requests should go elsewhere; nothing where they should not."""
        if self._draining.exists():
            return "draining: the server is stopping"
        now = self._environment.monotonic()
        if now - self._asked >= BELIEVED_FOR_S:
            self._wrong, self._asked = self._probe(), now
        return self._wrong

    def _probe(self) -> str:
        try:
            self._store.get(GRAVELER, _PROBE)
        except NotFound:
            return ""
        except LochanError as error:
            return f"the key-value store does not answer: {error}"
        return ""
