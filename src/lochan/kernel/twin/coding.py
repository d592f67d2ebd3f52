# SPDX-License-Identifier: Apache-2.0
"""Integers as bytes.

    fixed32   4 bytes, little endian
    uvarint   7 bits a byte, lowest first; the top bit says that another byte follows; at most 10
              bytes and below 2^64
    length    a uvarint of 2n: the zig-zag form of a signed varint, so an odd one is negative

Readers take the buffer and a position, and give the number and the position behind it. They raise
Corruption without a file name; whoever knows the file adds it.
"""

from lochan.errors import Corruption

LONGEST_UVARINT = 10


def put_fixed32(number: int) -> bytes:
    """Write 4 bytes, little endian."""
    return number.to_bytes(4, "little")


def get_fixed32(data: bytes, at: int) -> int:
    """Read 4 bytes, little endian; the caller has checked that they are there."""
    return int.from_bytes(data[at : at + 4], "little")


def put_uvarint(number: int) -> bytes:
    """Write the shortest form."""
    if number < 0x80:
        return bytes((number,))
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def get_uvarint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Read a uvarint that must finish before `end`."""
    number = 0
    for shift in range(0, 7 * LONGEST_UVARINT, 7):
        if at >= end:
            raise Corruption("a varint runs past the end")
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            if number >> 64:
                break
            return number, at
    raise Corruption("a varint is larger than 64 bits")


def uvarint_length(number: int) -> int:
    """Count the bytes of the shortest form."""
    return max(1, (number.bit_length() + 6) // 7)


def put_length(length: int) -> bytes:
    """Write a length in its zig-zag form."""
    return put_uvarint(length << 1)


def get_length(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Read a zig-zag length; a negative one is damage."""
    number, at = get_uvarint(data, at, end)
    if number & 1:
        raise Corruption("a length is negative")
    return number >> 1, at
