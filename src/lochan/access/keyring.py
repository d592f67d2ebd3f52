# SPDX-License-Identifier: Apache-2.0
"""Secrets at rest and the signatures of logins: keys derived from the server's own secret.

From each server secret HKDF-SHA-256 derives a key that seals access keys' secrets, a key that signs
logins, and a name for both. The first secret seals and signs; the others only open and verify, so
that a secret is replaced by putting the new one first, running `rotate`, and dropping the old one.

SigV4 needs an access key's secret itself, so secrets are sealed and not hashed.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from lochan.errors import Corruption, Internal, InvalidInput
from lochan.model.access import Credential
from lochan.model.instant import Instant

SMALLEST_SECRET: Final = 32
NONCE_BYTES: Final = 12
_NAME_BYTES: Final = 8


class _Keys(NamedTuple):
    sealing: AESGCM
    signing: bytes


class KeyRing:
    """The keys of one server secret, and those of the ones before it."""

    def __init__(self, secret: bytes, previous: Sequence[bytes] = ()) -> None:
        """Derive keys from secrets of at least 32 bytes each."""
        secrets = (secret, *previous)
        for number, one in enumerate(secrets):
            if len(one) < SMALLEST_SECRET:
                which = "the server's secret key" if not number else f"previous secret {number}"
                message = f"{which} has {len(one)} bytes; it needs {SMALLEST_SECRET} at least"
                raise InvalidInput(message, code="secret-key-too-short")
        self._keys = {
            _derived(one, "name", _NAME_BYTES).hex(): _Keys(
                AESGCM(_derived(one, "credentials", 32)), _derived(one, "logins", 32)
            )
            for one in secrets
        }
        self.current = next(iter(self._keys))

    def __repr__(self) -> str:
        """Name the keys, never show them."""
        return f"KeyRing({', '.join(self._keys)})"

    def seal(
        self, access_key_id: str, secret: str, nonce: bytes, creation_date: Instant
    ) -> Credential:
        """Make the record of an access key; a nonce is used once."""
        sealing = self._keys[self.current].sealing
        return Credential(
            access_key_id=access_key_id,
            sealed_secret=sealing.encrypt(nonce, secret.encode(), access_key_id.encode()),
            nonce=nonce,
            master_key=self.current,
            creation_date=creation_date,
        )

    def unseal(self, credential: Credential) -> str:
        """Read the secret of an access key.

        Raises: Internal when the settings do not hold the server secret that sealed it; Corruption.
        """
        found = self._keys.get(credential.master_key)
        where = f"the secret of access key {credential.access_key_id!r}"
        if found is None:
            message = (
                f"{where} was sealed under secret key {credential.master_key!r}, which the"
                " settings do not hold; add it to the previous secret keys"
            )
            raise Internal(message, code="unknown-secret-key")
        try:
            aad = credential.access_key_id.encode()
            return found.sealing.decrypt(credential.nonce, credential.sealed_secret, aad).decode()
        except (InvalidTag, ValueError) as error:
            raise Corruption("it does not open", file=where) from error

    def signing_key(self) -> bytes:
        """Give the key that signs logins now; its name is `current`."""
        return self._keys[self.current].signing

    def verifying_key(self, name: str) -> bytes | None:
        """Give the key that signed logins under this name, if it is one of ours."""
        found = self._keys.get(name)
        return found.signing if found else None


def _derived(secret: bytes, purpose: str, size: int) -> bytes:
    info = f"lochan {purpose} v1".encode()
    return HKDF(algorithm=SHA256(), length=size, salt=None, info=info).derive(secret)
