# SPDX-License-Identifier: Apache-2.0
"""A new server secret: every access key's secret is sealed anew under it (S27).

Put the new secret first and the old one among the previous, on every server; run this; then the old
one can go. A run that fails is finished by another. Logins signed under the old secret are void
when it goes.
"""

from contextlib import suppress

from lochan.access.access import Access
from lochan.access.keyring import NONCE_BYTES
from lochan.errors import PredicateFailed


def rotate_secrets(access: Access) -> int:
    """Seal every secret under the current server secret; count those that changed.

    Raises: Internal when a secret was sealed under a server secret that is not known, Corruption,
    Unavailable, UnknownOutcome.
    """
    table = access.tables.user_credentials
    changed = 0
    for name, credential in table.scan():
        if credential.master_key == access.keys.current:
            continue
        secret = access.keys.unseal(credential)
        nonce = access.environment.random_bytes(NONCE_BYTES)
        anew = access.keys.seal(credential.access_key_id, secret, nonce, credential.creation_date)
        stored = table.find(name)
        if stored is None or stored.record != credential:
            continue
        with suppress(PredicateFailed):  # deleted meanwhile, or sealed anew by another run
            table.set_if(name, anew, stored.predicate)
            changed += 1
    access.known_keys.forget()
    return changed
