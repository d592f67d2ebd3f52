# SPDX-License-Identifier: Apache-2.0
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.kernel import twin
from lochan.kernel.interface import Kernel
from lochan.kernel.records import EMPTY, Records
from lochan.kernel.twin.coding import put_length
from support.record_strategies import Rows, rows, to_records


@pytest.mark.parametrize(
    ("data", "crc"),
    [
        (b"", 0),
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (bytes(reversed(range(32))), 0x113FDB5C),
    ],
)
def test_crc32c_gives_the_published_vectors(kernel: Kernel, data: bytes, crc: int) -> None:
    assert kernel.crc32c(data) == crc


@pytest.mark.parametrize(
    ("data", "state"),
    [(b"", 0xCBF29CE484222325), (b"a", 0xAF63DC4C8601EC8C), (b"foobar", 0x85944171F73967E8)],
)
def test_fnv1a64_gives_the_published_vectors(kernel: Kernel, data: bytes, state: int) -> None:
    assert kernel.fnv1a64(data) == state


def test_the_id_of_no_records_is_the_hash_of_nothing(kernel: Kernel) -> None:
    assert kernel.file_id(EMPTY).hex() == sha256(b"").hexdigest()


def test_the_id_of_two_records_is_the_seeds_formula(kernel: Kernel) -> None:
    records = Records.of([(b"a", b"one", b"x"), (b"b", b"two", b"y" * 100)])
    values = [b"\x06one\x02x", b"\x06two\xc8\x01" + b"y" * 100]
    pairs = zip([b"a", b"b"], values, strict=True)
    ids = [sha256(sha256(k).digest() + sha256(v).digest()).digest() for k, v in pairs]
    assert kernel.file_id(records) == sha256(b"".join(ids)).digest()


@given(rows())
def test_the_id_covers_keys_identities_and_values(kernel: Kernel, rows: Rows) -> None:
    ids = b""
    for key, (identity, data) in sorted(rows.items()):
        record = put_length(len(identity)) + identity + put_length(len(data)) + data
        ids += sha256(sha256(key).digest() + sha256(record).digest()).digest()
    assert kernel.file_id(to_records(rows)) == sha256(ids).digest()


@given(st.binary(max_size=5000))
def test_native_checksums_and_hashes_equal_the_twins(native: Kernel, data: bytes) -> None:
    assert native.crc32c(data) == twin.crc32c(data)
    assert native.fnv1a64(data) == twin.fnv1a64(data)
