# SPDX-License-Identifier: Apache-2.0
"""Addresses that we make: where data and metadata lie inside a namespace.

    data/<partition>/<id>[,<signature>]<suffix>      what users put
    data/blocks/<2 digits>/<hash><suffix>            blocks of files that grow, by content
    _lakefs/<id>                                     ranges, metaranges (prefix configurable)

    partition = base32hex( 2^48 - 1 - milliseconds : 48 bits, random : 32 bits )    16 characters
    id        = base32hex( milliseconds : 48 bits,           random : 72 bits )     24 characters

base32hex is written in lower case and sorts like the bits it stands for. The partition counts time
downwards, so a listing meets the newest partition first, and a collector can stop early. A process
opens a new partition every hour or 50,000 ids: partitions stay listable, and writers do not share
them. The id counts upwards and tells when the address was made, which is the age that collection
goes by: the store's own time of a long upload may be that of its beginning, or of a copy.

The signature, when there is one, lets a client that was handed the address prove it. The suffix is
the logical name's, since Hadoop picks the codec by file name.

A block's address is the hex SHA-256 of its bytes, in folders by its first two digits. It tells no
time: collection goes by the store's, which every put of the same bytes renews.

Addresses of lakeFS have xids (20 characters) in both places; their time is read too.
"""

import base64
import re

import msgspec

from lochan.environment import Environment
from lochan.errors import InvalidInput

DATA = "data"
BLOCKS = "data/blocks"
METADATA = "_lakefs"
PARTITION_SECONDS = 3600.0
PARTITION_IDS = 50_000
MAX_SUFFIX_BYTES = 32

_TIME_BITS = 48
_PARTITION_RANDOM = 4  # bytes
_ID_RANDOM = 9  # bytes
_ID_LENGTH = 24
_XID_LENGTH = 20

_SUFFIX = re.compile(r"(?:\.[A-Za-z0-9]+)+\Z")
_SIGNATURE = re.compile(r"[A-Za-z0-9_-]{1,128}\Z")
_NAME = re.compile(
    r"data/(?P<partition>[0-9a-v]+)/(?P<id>[0-9a-v]{24}|[0-9a-v]{20})"
    r"(?:,(?P<signature>[A-Za-z0-9_-]+))?(?P<rest>(?:[./].*)?)\Z",
    re.DOTALL,
)


class DataAddress(msgspec.Struct, frozen=True):
    """A data address taken apart.

    `rest` is the suffix, or a path: a writer that was given a private folder puts files under it.
    """

    partition: str
    id: str
    signature: str
    rest: str

    @property
    def created(self) -> float:
        """When the address was made, in seconds since the epoch."""
        padding = "=" * (-len(self.id) % 8)
        raw = base64.b32hexdecode(self.id.upper() + padding)
        if len(self.id) == _XID_LENGTH:
            return float(int.from_bytes(raw[:4]))
        return int.from_bytes(raw[: _TIME_BITS // 8]) / 1000

    def __str__(self) -> str:
        """Join the address again."""
        signature = f",{self.signature}" if self.signature else ""
        return f"{DATA}/{self.partition}/{self.id}{signature}{self.rest}"


class AddressSource:
    """Makes data addresses that nobody else ever makes. One for a process; any thread may call."""

    def __init__(self, environment: Environment) -> None:
        """Take time and randomness from the environment."""
        self._environment = environment
        self._lock = environment.lock()
        self._partition = ""
        self._left = 0
        self._opened = 0.0

    def new(self, logical_name: str = "") -> str:
        """Give a fresh address; the logical name lends its suffix."""
        with self._lock:
            partition = self._current_partition()
        stamp = self._milliseconds().to_bytes(_TIME_BITS // 8)
        unique = _base32(stamp + self._environment.random_bytes(_ID_RANDOM))
        return f"{DATA}/{partition}/{unique}{suffix_of(logical_name)}"

    def _current_partition(self) -> str:
        monotonic = self._environment.monotonic()
        if not self._left or monotonic - self._opened >= PARTITION_SECONDS:
            backwards = (1 << _TIME_BITS) - 1 - self._milliseconds()
            random = self._environment.random_bytes(_PARTITION_RANDOM)
            self._partition = _base32(backwards.to_bytes(_TIME_BITS // 8) + random)
            self._left = PARTITION_IDS
            self._opened = monotonic
        self._left -= 1
        return self._partition

    def _milliseconds(self) -> int:
        return int(self._environment.now() * 1000)


def suffix_of(logical_name: str) -> str:
    """Take the suffix that an address keeps of a logical name.

    It runs from the first dot of the last path segment, or from the first later dot from which only
    letters, digits and single dots follow, 32 bytes at most: `a/b.csv.gz` gives `.csv.gz`.
    """
    name = logical_name.rpartition("/")[2]
    found = _SUFFIX.search(name)
    suffix = found.group() if found else ""
    while len(suffix) > MAX_SUFFIX_BYTES:
        dot = suffix.find(".", 1)
        suffix = suffix[dot:] if dot > 0 else ""
    return suffix


def signed(address: str, signature: str) -> str:
    """Put a signature into an address that `AddressSource` made."""
    if not _SIGNATURE.match(signature):
        raise InvalidInput("a signature has 1 to 128 letters, digits, dashes and underscores")
    return str(msgspec.structs.replace(parse_data(address), signature=signature))


def unsigned(address: str) -> str:
    """Take the signature out of a data address."""
    return str(msgspec.structs.replace(parse_data(address), signature=""))


def find_data(address: str) -> DataAddress | None:
    """Take a data address apart; None for an address of another form."""
    found = _NAME.match(address)
    if found is None:
        return None
    signature = found["signature"] or ""
    return DataAddress(found["partition"], found["id"], signature, found["rest"])


def parse_data(address: str) -> DataAddress:
    """Take a data address apart. Raises InvalidInput for an address of another form."""
    found = find_data(address)
    if found is None:
        raise InvalidInput(f"{address!r} is no data address; it must come from AddressSource")
    return found


def block_address(digest: bytes, logical_name: str = "") -> str:
    """Say where a block with these bytes' SHA-256 lies; the logical name lends its suffix."""
    return f"{BLOCKS}/{digest.hex()[:2]}/{digest.hex()}{suffix_of(logical_name)}"


def metadata_address(file_id: str, prefix: str = METADATA) -> str:
    """Say where a range or metarange of this id lies."""
    return f"{prefix}/{file_id}"


def _base32(raw: bytes) -> str:
    return base64.b32hexencode(raw).decode().lower()
