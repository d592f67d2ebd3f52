# SPDX-License-Identifier: Apache-2.0
"""Whether requests should come to this process: it is not draining, and the store answers."""

from lochan.environment import Environment
from lochan.errors import LochanError, NotFound
from lochan.kv.store import Store
from lochan.model.keys import GRAVELER

BELIEVED_FOR_S = 5.0
_PROBE = b"readiness"  # a key that is never written


class Readiness:
    """The answer to /readyz, remembered for some seconds."""

    def __init__(self, store: Store, environment: Environment) -> None:
        """Ask this store."""
        self._store = store
        self._environment = environment
        self._draining = False
        self._asked = -BELIEVED_FOR_S
        self._wrong = ""

    def drain(self) -> None:
        """Say from now on that no further requests should come."""
        self._draining = True

    def what_is_wrong(self) -> str:
        """Say why requests should go elsewhere; nothing where they should not."""
        if self._draining:
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
