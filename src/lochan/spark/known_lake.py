# SPDX-License-Identifier: Apache-2.0
"""A lake as other processes know it: planning and committing of a data source run in their own.

A data source is pickled and sent. What it carries of a lake is its name, a folder or a server's
URL, and the credentials; these stand in no option, so that no plan shows them.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from lochan.bootstrap.connected import connect
from lochan.bootstrap.embedded import open_embedded
from lochan.client.lake import Lake
from lochan.config.secret import Secret
from lochan.errors import InvalidInput
from lochan.model.uri import Uri

_SERVED = ("http://", "https://")


@dataclass(frozen=True, slots=True)
class KnownLake:
    """How a lake is opened."""

    name: str
    access_key_id: str = ""
    secret_access_key: Secret = field(default_factory=Secret)

    @classmethod
    def of(cls, lake: Lake) -> "KnownLake":
        """Say how an open lake can be opened elsewhere."""
        if lake.credentials is None:
            return cls(lake.name)
        return cls(lake.name, lake.credentials.access_key_id, lake.credentials.secret_access_key)

    @property
    def is_served(self) -> bool:
        """Say whether it is behind a server."""
        return self.name.startswith(_SERVED)

    @contextmanager
    def opened(self) -> Iterator[Lake]:
        """Open the lake, for the length of a block."""
        with self.open() as lake:
            yield lake

    def open(self) -> Lake:
        """Open the lake; whoever asked closes it."""
        if not self.is_served:
            return open_embedded(self.name)
        return connect(
            self.name,
            access_key_id=self.access_key_id or None,
            secret_access_key=self.secret_access_key.reveal() or None,
        )


def find_lake(uri: Uri, options: Mapping[str, str], bound: KnownLake | None) -> KnownLake:
    """Say which lake an address is in: that of its server, of the option, or of the session.

    Raises InvalidInput where none is known.
    """
    if uri.server:
        is_bound = bound is not None and bound.name.endswith(f"//{uri.server}")
        return bound if is_bound and bound is not None else KnownLake(f"http://{uri.server}")
    if said := options.get("lake"):
        return bound if bound is not None and bound.name == said else KnownLake(said)
    if bound is not None:
        return bound
    message = f"nobody said in which lake {uri} is"
    raise InvalidInput(f"{message}; make the session by lochan.spark.session, or give option lake")
