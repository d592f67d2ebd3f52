# SPDX-License-Identifier: Apache-2.0
# SHA-256 of one block in plain C: what every machine can do.

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcpy

from lochan.kernel.native.sha256_constants cimport lochan_k

cdef inline uint32_t rotated(uint32_t v, int n) noexcept nogil:
    return (v >> n) | (v << (32 - n))


cdef inline void plain_block(uint32_t* state, const uint8_t* p) noexcept nogil:
    cdef uint32_t w[64]
    cdef uint32_t v[8]
    cdef uint32_t t1, t2
    cdef int i, j
    for i in range(16):
        w[i] = ((<uint32_t>p[4 * i] << 24) | (<uint32_t>p[4 * i + 1] << 16)
                | (<uint32_t>p[4 * i + 2] << 8) | p[4 * i + 3])
    for i in range(16, 64):
        t1 = rotated(w[i - 15], 7) ^ rotated(w[i - 15], 18) ^ (w[i - 15] >> 3)
        t2 = rotated(w[i - 2], 17) ^ rotated(w[i - 2], 19) ^ (w[i - 2] >> 10)
        w[i] = w[i - 16] + t1 + w[i - 7] + t2
    memcpy(v, state, 32)
    for i in range(64):
        t1 = (v[7] + (rotated(v[4], 6) ^ rotated(v[4], 11) ^ rotated(v[4], 25))
              + ((v[4] & v[5]) ^ (~v[4] & v[6])) + lochan_k[i] + w[i])
        t2 = ((rotated(v[0], 2) ^ rotated(v[0], 13) ^ rotated(v[0], 22))
              + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2])))
        v[7] = v[6]; v[6] = v[5]; v[5] = v[4]; v[4] = v[3] + t1
        v[3] = v[2]; v[2] = v[1]; v[1] = v[0]; v[0] = t1 + t2
    for j in range(8):
        state[j] += v[j]
