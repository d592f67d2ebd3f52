# SPDX-License-Identifier: Apache-2.0
from hashlib import sha256

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.errors import Corruption
from lochan.kernel import twin
from lochan.kernel.interface import MAX_BLOCK, Kernel
from lochan.kernel.twin.coding import put_uvarint

# Stretches of few words give long and short matches at near and far offsets.
texts = st.lists(
    st.one_of(
        st.sampled_from([b"a", b"lake", b"data/part-0000", bytes(70), b"\xff" * 300]),
        st.binary(max_size=80),
    ),
    max_size=60,
).map(b"".join)
LARGE = b"".join(b"data/year=2024/part-%05d.parquet" % (i * i % 7919) for i in range(9000))
LARGE_LENGTH = 49008
LARGE_HASH = "f644880a9902e82d9b7135898830e224ea14bfc7f25f321df69cdf11d8a08c47"


@given(texts)
def test_what_was_compressed_expands_to_itself(kernel: Kernel, data: bytes) -> None:
    assert kernel.decompress(kernel.compress(data)) == data


@given(texts)
def test_another_implementation_reads_our_compression(kernel: Kernel, data: bytes) -> None:
    codec = pa.Codec("snappy")
    assert codec.decompress(kernel.compress(data), len(data)).to_pybytes() == data


@given(texts)
def test_we_read_the_compression_of_another_implementation(kernel: Kernel, data: bytes) -> None:
    assert kernel.decompress(pa.Codec("snappy").compress(data).to_pybytes()) == data


@given(st.one_of(texts, st.binary(max_size=3000)))
def test_native_compresses_to_the_twins_bytes(native: Kernel, data: bytes) -> None:
    assert native.compress(data) == twin.compress(data)


def test_several_fragments_compress_to_the_bytes_of_today(kernel: Kernel) -> None:
    small = kernel.compress(LARGE)
    assert kernel.decompress(small) == LARGE
    assert len(small) == LARGE_LENGTH
    assert sha256(small).hexdigest() == LARGE_HASH


@pytest.mark.parametrize(
    ("data", "stored"),
    [
        (b"", b"\x00"),
        (b"x", b"\x01\x00x"),
        (b"a" * 16, b"\x10\x3c" + b"a" * 16),  # below 17 bytes nothing is searched
        (b"a" * 17, b"\x11\x00a\x3e\x01\x00"),
        (b"a" * 66, b"\x42\x00a\xee\x01\x00\x05\x01"),  # 65 = 60 + 5: both at least 4 long
        (b"abcd" * 8, b"\x20\x0cabcd\x6e\x04\x00"),
    ],
)
def test_small_inputs_compress_as_the_rule_says(kernel: Kernel, data: bytes, stored: bytes) -> None:
    assert kernel.compress(data) == stored


@pytest.mark.parametrize(
    ("stored", "data"),
    [
        (b"\x05\x10hello", b"hello"),
        (b"\x05\xf0\x04hello", b"hello"),
        (b"\x05\xf4\x04\x00hello", b"hello"),
        (b"\x05\xf8\x04\x00\x00hello", b"hello"),
        (b"\x05\xfc\x04\x00\x00\x00hello", b"hello"),
        (b"\x06\x04ab\x01\x02", b"ababab"),
        (b"\x04\x04ab\x06\x02\x00", b"abab"),
        (b"\x04\x04ab\x07\x02\x00\x00\x00", b"abab"),
    ],
)
def test_every_form_of_literal_and_copy_expands(kernel: Kernel, stored: bytes, data: bytes) -> None:
    assert kernel.decompress(stored) == data


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b"\x80",
        b"\xff" * 10 + b"\x01",
        b"\x05\x10hell",
        b"\x05\xf0",
        b"\x05\xfc\xff\xff\xff\xffhello",
        b"\x05\x00a\x01",
        b"\x05\x00a\x02\x01",
        b"\x05\x00a\x03\x01\x00\x00",
        b"\x06\x04ab\x01\x03",
        b"\x06\x04ab\x01\x00",
        b"\x05\x04ab\x01\x02",
        b"\x07\x04ab\x01\x02",
        b"\x06\x04ab\x01\x02\x00c",
        b"\x04\x04ab\x07\x02\x00\x00\x80",
        put_uvarint(MAX_BLOCK + 1) + b"\x00a",
        put_uvarint(2**63) + b"\x00a",
    ],
)
def test_damaged_compression_is_refused(kernel: Kernel, stored: bytes) -> None:
    with pytest.raises(Corruption):
        kernel.decompress(stored)


@given(st.binary(max_size=60))
def test_kernels_agree_on_arbitrary_bytes(native: Kernel, stored: bytes) -> None:
    assert outcome(native, stored) == outcome(twin, stored)


def outcome(kernel: Kernel, stored: bytes) -> bytes | None:
    try:
        return kernel.decompress(stored)
    except Corruption:
        return None
