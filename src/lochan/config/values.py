# SPDX-License-Identifier: Apache-2.0
"""The types of single settings that are more than a number or a text.

Each has a class method `parse`, which takes what a file or a variable says and raises ValueError
with what is wrong, and gives back a text that `parse` takes when it is turned into one.
"""

import re
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import NamedTuple

from lochan.config.secret import HIDDEN, Secret

_UNITS = {"": 1, "K": 10, "M": 20, "G": 30, "T": 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?", re.IGNORECASE)
_PASSWORD = re.compile(r"(?<=://)([^/?#@]*?)(:[^/?#]*)?@")
_PARAMETER = re.compile(r"([?&][^=&#]*(?:pass|secret|token|key)[^=&#]*=)[^&#]*", re.IGNORECASE)
_MAX_PORT = 65535


class Address(NamedTuple):
    """Where a server listens: `127.0.0.1:8000`, `[::1]:8000`, `:8000` for every interface."""

    host: str
    port: int

    @classmethod
    def parse(cls, value: object) -> "Address":
        """Read host:port. Raises ValueError."""
        host, colon, port = str(value).rpartition(":")
        if not colon or not port.isdecimal() or int(port) > _MAX_PORT:
            raise ValueError("expected host:port with a port up to 65535")
        bare = host.removeprefix("[").removesuffix("]")
        if ":" in bare and host == bare:
            raise ValueError("an IPv6 address stands in brackets, as in [::1]:8000")
        return cls(bare or "0.0.0.0", int(port))  # noqa: S104 - asked for by leaving the host out

    @property
    def is_loopback(self) -> bool:
        """Say whether only this machine can reach it."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Size(int):
    """A count of bytes: a plain number, or one with a unit such as 4MiB or 5 TiB."""

    @classmethod
    def parse(cls, value: object) -> "Size":
        """Read a size; K, M, G and T stand for powers of 1,024. Raises ValueError."""
        found = None if isinstance(value, bool) else _SIZE.fullmatch(str(value).strip())
        if found is None:
            raise ValueError("expected a size in bytes, such as 4194304 or 4MiB")
        number, unit, _ = found.groups()
        return cls(round(float(number) * (1 << (_UNITS[unit.upper()] if unit else 0))))

    def __str__(self) -> str:
        for unit in "TGMK":
            step = 1 << _UNITS[unit]
            if self and self % step == 0:
                return f"{int(self) // step}{unit}iB"
        return str(int(self))


class Network(NamedTuple):
    """Addresses that are trusted together: `10.0.0.0/8`, or a single one."""

    network: IPv4Network | IPv6Network

    @classmethod
    def parse(cls, value: object) -> "Network":
        """Read a network. Raises ValueError."""
        try:
            return cls(ip_network(str(value)))
        except ValueError as error:
            raise ValueError("expected an IP address or network, such as 10.0.0.0/8") from error

    def __contains__(self, address: object) -> bool:
        try:
            return ip_address(str(address)) in self.network
        except ValueError:
            return False

    def __str__(self) -> str:
        return str(self.network)


class Location(Secret):
    """A url that may hold a password: shown without it, whole only by `reveal`."""

    __slots__ = ()

    @classmethod
    def parse(cls, value: object) -> "Location":
        """Read a url. Raises ValueError, which does not repeat it."""
        if not isinstance(value, str) or ":" not in value:
            raise ValueError("expected a url such as sqlite:///var/lake/kv.db")
        return cls(value)

    def __str__(self) -> str:
        masked = _PASSWORD.sub(
            lambda found: f"{found[1]}:{HIDDEN}@" if found[2] else found[0], self.reveal()
        )
        return _PARAMETER.sub(rf"\g<1>{HIDDEN}", masked)
