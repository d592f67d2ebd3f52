# SPDX-License-Identifier: Apache-2.0
"""What every function of this folder is given: where records lie, and what a process remembers."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from lochan.access.keyring import NONCE_BYTES, KeyRing
from lochan.access.limit import KEY_BURST, LoginLimit
from lochan.access.principal import Principal
from lochan.access.remembered import Remembered
from lochan.access.tables import Tables
from lochan.environment import Environment
from lochan.kv.store import Store
from lochan.model.access import Credential
from lochan.model.ids import UniqueIdentifier
from lochan.model.instant import EPOCH

_KEPT: Final = 16_384  # keys, users and logins that were used within the last second


@dataclass(frozen=True, slots=True)
class KnownKey:
    """An access key as remembered: its secret and whose it is; the decoy is nobody's."""

    secret: bytes
    user: str
    unique_identifier: UniqueIdentifier | None

    def __repr__(self) -> str:
        """Say whose it is, never the secret."""
        return f"KnownKey(user={self.user!r})"


@dataclass(frozen=True, slots=True)
class KnownLogin:
    """A login whose signature was checked; whether it still counts is asked each time."""

    user: str
    unique_identifier: UniqueIdentifier
    credentials_epoch: int
    issued: float
    expires: float


Whose = tuple[str, UniqueIdentifier]


@dataclass(frozen=True, slots=True)
class Access:
    """Access control over one store, in one process."""

    store: Store
    environment: Environment
    keys: KeyRing
    tables: Tables
    limit: LoginLimit
    decoy: Credential
    known_keys: Remembered[str, KnownKey]
    known_logins: Remembered[str, KnownLogin]
    principals: Remembered[Whose, Principal | None]

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Forget what was read of users and policies, however the change inside ends."""
        try:
            yield
        finally:
            self.known_keys.forget()
            self.principals.forget()


def open_access(
    store: Store,
    environment: Environment,
    secret: bytes,
    previous: Sequence[bytes] = (),
    *,
    logins_per_minute: float = KEY_BURST,
) -> Access:
    """Open access control; `secret` is the server's, of at least 32 bytes (see `keyring`)."""
    keys = KeyRing(secret, previous)
    # What is opened in place of a secret where there is none, so that it takes the same time.
    decoy = keys.seal(
        "decoy", environment.random_bytes(20).hex(), environment.random_bytes(NONCE_BYTES), EPOCH
    )
    return Access(
        store,
        environment,
        keys,
        Tables.of(store),
        LoginLimit(environment, per_minute=logins_per_minute),
        decoy,
        Remembered(environment, _KEPT),
        Remembered(environment, _KEPT),
        Remembered(environment, _KEPT),
    )
