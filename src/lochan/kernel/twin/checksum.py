# SPDX-License-Identifier: Apache-2.0
"""CRC-32C and its masked form.

The polynomial is Castagnoli's, reflected: 0x82F63B78. Blocks store the checksum masked (rotated and
shifted by a constant), because the checksum of bytes that hold their own checksum is weak.
"""

POLYNOMIAL = 0x82F63B78
MASK_DELTA = 0xA282EAD8


def _byte_table() -> list[int]:
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (POLYNOMIAL if crc & 1 else 0)
        table.append(crc)
    return table


_TABLE = _byte_table()


def crc32c(data: bytes) -> int:
    """CRC-32C (Castagnoli), unmasked."""
    table, crc = _TABLE, 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def masked(crc: int) -> int:
    """Rotate right by 15 bits and add the delta: what a block trailer stores."""
    return ((crc >> 15 | crc << 17) + MASK_DELTA) & 0xFFFFFFFF
