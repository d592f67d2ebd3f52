# SPDX-License-Identifier: Apache-2.0
"""CRC-32C: the processor's instruction where it has one, else eight tables.

The instruction needs three cycles for eight bytes, and three of them may be under way at once: long
inputs are cut in three lanes whose remainders are joined by multiplying with x^(8 * lane length),
read from tables made at import.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from lochan.kernel.native.coding cimport load32, load64

cdef extern from *:
    """
    #if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
    #include <nmmintrin.h>
    #define LOCHAN_CRC_X86 1
    static int lochan_has_crc(void) {
        __builtin_cpu_init();
        return __builtin_cpu_supports("sse4.2");
    }
    __attribute__((target("sse4.2")))
    static void lochan_crc_lanes(const unsigned char *p, size_t lane, unsigned long long *c) {
        unsigned long long a = c[0], b = 0, d = 0, x, y, z;
        for (size_t i = 0; i < lane; i += 8) {
            __builtin_memcpy(&x, p + i, 8);
            __builtin_memcpy(&y, p + lane + i, 8);
            __builtin_memcpy(&z, p + 2 * lane + i, 8);
            a = _mm_crc32_u64(a, x); b = _mm_crc32_u64(b, y); d = _mm_crc32_u64(d, z);
        }
        c[0] = a; c[1] = b; c[2] = d;
    }
    __attribute__((target("sse4.2")))
    static unsigned lochan_crc_run(unsigned crc, const unsigned char *p, size_t n) {
        unsigned long long c = crc, x;
        for (; n >= 8; p += 8, n -= 8) { __builtin_memcpy(&x, p, 8); c = _mm_crc32_u64(c, x); }
        for (; n; p++, n--) c = _mm_crc32_u8((unsigned)c, *p);
        return (unsigned)c;
    }
    #else
    static int lochan_has_crc(void) { return 0; }
    static void lochan_crc_lanes(const unsigned char *p, size_t lane, unsigned long long *c) {}
    static unsigned lochan_crc_run(unsigned crc, const unsigned char *p, size_t n) { return crc; }
    #endif
    """
    int lochan_has_crc() noexcept nogil
    void lochan_crc_lanes(const uint8_t* p, size_t lane, unsigned long long* c) noexcept nogil
    uint32_t lochan_crc_run(uint32_t crc, const uint8_t* p, size_t n) noexcept nogil

cdef enum:
    POLYNOMIAL = 0x82F63B78  # Castagnoli's, bits reversed
    LANE = 256               # bytes a lane: a 4 KiB block takes five rounds of three,
    SHORT_LANE = 32          # and what is left goes through lanes of this length

cdef uint32_t table[8][256]
cdef uint32_t by_lane[4][256]    # remainder moved on by LANE zero bytes, a table for each byte
cdef uint32_t by_short[4][256]   # the same for SHORT_LANE
cdef bint has_instruction = lochan_has_crc()


cdef void make_tables() noexcept nogil:
    cdef uint32_t i, j, value
    for i in range(256):
        value = i
        for j in range(8):
            value = (value >> 1) ^ (<uint32_t>POLYNOMIAL if value & 1 else 0)
        table[0][i] = value
    for i in range(256):
        for j in range(1, 8):
            table[j][i] = (table[j - 1][i] >> 8) ^ table[0][table[j - 1][i] & 255]
    for j in range(4):
        for i in range(256):
            value = i << (8 * j)
            by_lane[j][i] = pass_zeros(value, LANE)
            by_short[j][i] = pass_zeros(value, SHORT_LANE)


cdef uint32_t pass_zeros(uint32_t value, int count) noexcept nogil:
    cdef int k
    for k in range(count):
        value = (value >> 8) ^ table[0][value & 255]
    return value


make_tables()


cdef inline uint32_t shifted(uint32_t[256]* tables, uint32_t value) noexcept nogil:
    return (tables[0][value & 255] ^ tables[1][(value >> 8) & 255]
            ^ tables[2][(value >> 16) & 255] ^ tables[3][value >> 24])


cdef inline uint32_t three_lanes(uint32_t value, const uint8_t* data, Py_ssize_t lane,
                                 uint32_t[256]* tables) noexcept nogil:
    cdef unsigned long long lanes[3]
    lanes[0] = value
    lochan_crc_lanes(data, lane, lanes)
    value = shifted(tables, <uint32_t>lanes[0]) ^ <uint32_t>lanes[1]
    return shifted(tables, value) ^ <uint32_t>lanes[2]


cdef uint32_t by_tables(uint32_t value, const uint8_t* p, Py_ssize_t n) noexcept nogil:
    cdef uint32_t low, high
    while n >= 8:
        low = load32(p) ^ value
        high = load32(p + 4)
        value = (table[7][low & 255] ^ table[6][(low >> 8) & 255] ^ table[5][(low >> 16) & 255]
                 ^ table[4][low >> 24] ^ table[3][high & 255] ^ table[2][(high >> 8) & 255]
                 ^ table[1][(high >> 16) & 255] ^ table[0][high >> 24])
        p += 8
        n -= 8
    while n:
        value = (value >> 8) ^ table[0][(value ^ p[0]) & 255]
        p += 1
        n -= 1
    return value


cdef uint32_t crc(const uint8_t* data, Py_ssize_t size) noexcept nogil:
    cdef uint32_t value = 0xFFFFFFFF
    if not has_instruction:
        return by_tables(value, data, size) ^ <uint32_t>0xFFFFFFFF
    while size >= 3 * LANE:
        value = three_lanes(value, data, LANE, by_lane)
        data += 3 * LANE
        size -= 3 * LANE
    while size >= 3 * SHORT_LANE:
        value = three_lanes(value, data, SHORT_LANE, by_short)
        data += 3 * SHORT_LANE
        size -= 3 * SHORT_LANE
    return lochan_crc_run(value, data, size) ^ <uint32_t>0xFFFFFFFF


def crc32c(const uint8_t[::1] data not None):
    """CRC-32C of data, unmasked."""
    return crc(&data[0], data.shape[0])


def crc32c_by_tables(const uint8_t[::1] data not None):
    """The same without the instruction, so that tests cover it on every machine."""
    return by_tables(0xFFFFFFFF, &data[0], data.shape[0]) ^ 0xFFFFFFFF
