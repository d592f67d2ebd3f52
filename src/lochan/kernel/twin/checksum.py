# SPDX-License-Identifier: Apache-2.0
"""CRC-32C and its masked form.

The polynomial is Castagnoli's, reflected: 0x82F63B78. Blocks store the checksum masked (rotated and
shifted by a constant), because the checksum of bytes that hold their own checksum is weak.
"""

from struct import unpack_from

POLYNOMIAL = 0x82F63B78
MASK_DELTA = 0xA282EAD8


def _advance(crc: int, bits: int) -> int:
    for _ in range(bits):
        crc = crc >> 1 ^ (POLYNOMIAL if crc & 1 else 0)
    return crc


# Checksums are half of the time it takes to read a block, so two bytes are taken at a step.
_BYTE = [_advance(byte, 8) for byte in range(256)]
_PAIR = [
    _BYTE[(_BYTE[low] ^ high) & 0xFF] ^ _BYTE[low] >> 8 for high in range(256) for low in range(256)
]


def crc32c(data: bytes | memoryview) -> int:
    """CRC-32C (Castagnoli), unmasked."""
    table, crc = _PAIR, 0xFFFFFFFF
    for pair in unpack_from(f"<{len(data) // 2}H", data):
        crc = table[(crc ^ pair) & 0xFFFF] ^ crc >> 16
    if len(data) % 2:
        crc = _BYTE[(crc ^ data[-1]) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def masked(crc: int) -> int:
    """Rotate right by 15 bits and add the delta: what a block trailer stores."""
    return ((crc >> 15 | crc << 17) + MASK_DELTA) & 0xFFFFFFFF
