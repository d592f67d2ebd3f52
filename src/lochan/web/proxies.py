# SPDX-License-Identifier: Apache-2.0
"""Who asks, and over what, when proxies stand between (S11).

Anybody can write X-Forwarded-For. So it is believed only of a peer that is a trusted proxy, and
read from its end: each proxy adds the address that it saw. The first from there that is no trusted
proxy is the client; what stands before it is the client's own word. X-Forwarded-Proto is believed
of such a peer alone, too. The request is told before anybody looks at it.
"""

from collections.abc import Sequence
from ipaddress import ip_address
from typing import Final

import falcon

from lochan.config.values import Network

_SCHEMES: Final = frozenset({"http", "https"})


class Proxies:
    """A Falcon middleware that says who stands behind a trusted proxy."""

    def __init__(self, trusted: Sequence[Network]) -> None:
        """Believe these."""
        self._trusted = tuple(trusted)

    def process_request(self, request: falcon.Request, _: falcon.Response) -> None:
        """Put the client's address and scheme in the place of the proxy's."""
        environ = request.env
        peer = _bare(environ.get("REMOTE_ADDR", ""))
        if not self._trusts(peer):
            return
        environ["REMOTE_ADDR"] = self.client(peer, environ.get("HTTP_X_FORWARDED_FOR", ""))
        scheme = environ.get("HTTP_X_FORWARDED_PROTO", "").rpartition(",")[2].strip().lower()
        if scheme in _SCHEMES:
            environ["wsgi.url_scheme"] = scheme

    def client(self, peer: str, forwarded: str) -> str:
        """Give the address that the last trusted proxy on the way saw."""
        found = peer
        for said in reversed(forwarded.split(",")):
            try:
                address = str(ip_address(_bare(said.strip())))
            except ValueError:
                break  # no address, so nothing before it can be known
            found = address
            if not self._trusts(found):
                break
        return found

    def _trusts(self, address: str) -> bool:
        return any(address in network for network in self._trusted)


def _bare(address: str) -> str:
    return address.removeprefix("[").removesuffix("]")
