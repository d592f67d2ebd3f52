# SPDX-License-Identifier: Apache-2.0
"""The encoding that identities and commit ids are hashed over.

Every value is a tag, a length where one is needed, and its bytes, so no two different lists of
values give the same encoding. The first six are lakeFS's, so what came from there keeps its ids.

    int64          02 08 <8 bytes, big-endian, two's complement>
    bytes          00 int64(length) <bytes>
    string         01 int64(length in UTF-8) <UTF-8>
    string list    03 int64(n) string * n
    string map     04 int64(n) (string key, string value) * n, by ascending key
    embedded       05 bytes(32-byte hash of another encoding)
    clock list     06 int64(n) (string branch, int64 commit) * n
    block list     07 int64(n) (bytes hash, int64 size) * n
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from lochan.errors import InvalidInput

_INT64_LIMIT = 1 << 63


def int64(value: int) -> bytes:
    """Encode a signed integer of 64 bits."""
    if not -_INT64_LIMIT <= value < _INT64_LIMIT:
        raise InvalidInput(f"{value} does not fit into 64 bits", code="invalid-number")
    return b"\x02\x08" + value.to_bytes(8, "big", signed=True)


def octets(value: bytes) -> bytes:
    """Encode a byte string."""
    return b"\x00" + int64(len(value)) + value


def string(value: str) -> bytes:
    """Encode text. Raises InvalidInput for half of a surrogate pair, which no UTF-8 can hold."""
    try:
        encoded = value.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(f"{value!r} is not valid text", code="invalid-text") from error
    return b"\x01" + int64(len(encoded)) + encoded


def string_list(values: Sequence[str]) -> bytes:
    """Encode texts in their order."""
    return b"\x03" + int64(len(values)) + b"".join(map(string, values))


def string_map(values: Mapping[str, str]) -> bytes:
    """Encode a map by ascending key; code points sort as their UTF-8 does."""
    pairs = (string(key) + string(values[key]) for key in sorted(values))
    return b"\x04" + int64(len(values)) + b"".join(pairs)


def embedded(digest: bytes) -> bytes:
    """Encode the hash of something that has an encoding of its own."""
    return b"\x05" + octets(digest)


def clock_list(components: Sequence[tuple[str, int]]) -> bytes:
    """Encode the components of a clock in their order."""
    pairs = (string(branch) + int64(commit) for branch, commit in components)
    return b"\x06" + int64(len(components)) + b"".join(pairs)


def block_list(blocks: Sequence[tuple[bytes, int]]) -> bytes:
    """Encode the hashes and sizes of a file's blocks in their order."""
    pairs = (octets(digest) + int64(size) for digest, size in blocks)
    return b"\x07" + int64(len(blocks)) + b"".join(pairs)


def digest(parts: Iterable[bytes]) -> bytes:
    """Hash encoded values, one after another, with SHA-256."""
    return hashlib.sha256(b"".join(parts)).digest()
