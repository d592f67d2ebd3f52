# SPDX-License-Identifier: Apache-2.0
"""SHA-256 of sixteen blocks at once, one in each lane of 512-bit registers.

The SHA instructions finish one round of one message after another; sixteen lanes of plain additions
and rotations get through more blocks in the same time where the registers are this wide.
"""

from libc.stdint cimport uint8_t, uint32_t

from lochan.kernel.native.sha256_constants cimport lochan_k

cdef extern from *:
    """
    #if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
    #include <immintrin.h>
    #define LOCHAN_WIDE __attribute__((target("avx512f,avx512bw")))
    static int lochan_has_wide(void) {
        __builtin_cpu_init();
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
    }
    #define LOCHAN_ADD _mm512_add_epi32
    #define LOCHAN_XOR3(a, b, c) _mm512_ternarylogic_epi32(a, b, c, 0x96)
    #define LOCHAN_SIGMA(v, r, s, t) \\
        LOCHAN_XOR3(_mm512_ror_epi32(v, r), _mm512_ror_epi32(v, s), _mm512_ror_epi32(v, t))
    #define LOCHAN_MIX(v, r, s, t) \\
        LOCHAN_XOR3(_mm512_ror_epi32(v, r), _mm512_ror_epi32(v, s), _mm512_srli_epi32(v, t))

    /* Word j of all blocks comes into w[j]: rows become columns, in 32, 64, then 128-bit steps. */
    LOCHAN_WIDE static inline void lochan_turn(const unsigned char *const *p, __m512i *w) {
        const __m512i swap = _mm512_broadcast_i32x4(
            _mm_set_epi64x(0x0c0d0e0f08090a0bULL, 0x0405060700010203ULL));
        __m512i r[16], t[16];
        #pragma GCC unroll 16
        for (int i = 0; i < 16; i++)
            r[i] = _mm512_shuffle_epi8(_mm512_loadu_si512((const void *)p[i]), swap);
        #pragma GCC unroll 8
        for (int i = 0; i < 16; i += 2) {
            t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
            t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
        }
        #pragma GCC unroll 4
        for (int i = 0; i < 16; i += 4) {
            r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
            r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
            r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
            r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
        }
        #pragma GCC unroll 4
        for (int j = 0; j < 4; j++) {
            __m512i x = _mm512_shuffle_i32x4(r[j], r[4 + j], 0x44);
            __m512i y = _mm512_shuffle_i32x4(r[8 + j], r[12 + j], 0x44);
            __m512i u = _mm512_shuffle_i32x4(r[j], r[4 + j], 0xEE);
            __m512i v = _mm512_shuffle_i32x4(r[8 + j], r[12 + j], 0xEE);
            w[j] = _mm512_shuffle_i32x4(x, y, 0x88);
            w[4 + j] = _mm512_shuffle_i32x4(x, y, 0xDD);
            w[8 + j] = _mm512_shuffle_i32x4(u, v, 0x88);
            w[12 + j] = _mm512_shuffle_i32x4(u, v, 0xDD);
        }
    }
    LOCHAN_WIDE static void lochan_hash_wide(unsigned *state, const unsigned char **p) {
        __m512i w[16], s[8];
        lochan_turn(p, w);
        #pragma GCC unroll 8
        for (int j = 0; j < 8; j++) s[j] = _mm512_loadu_si512((const void *)(state + 16 * j));
        __m512i a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
        #pragma GCC unroll 64
        for (int i = 0; i < 64; i++) {
            if (i >= 16)
                w[i & 15] = LOCHAN_ADD(
                    LOCHAN_ADD(w[i & 15], LOCHAN_MIX(w[(i + 1) & 15], 7, 18, 3)),
                    LOCHAN_ADD(w[(i + 9) & 15], LOCHAN_MIX(w[(i + 14) & 15], 17, 19, 10)));
            __m512i t = LOCHAN_ADD(LOCHAN_ADD(h, LOCHAN_SIGMA(e, 6, 11, 25)),
                LOCHAN_ADD(_mm512_ternarylogic_epi32(e, f, g, 0xCA),
                           LOCHAN_ADD(w[i & 15], _mm512_set1_epi32((int)lochan_k[i]))));
            __m512i u = LOCHAN_ADD(LOCHAN_SIGMA(a, 2, 13, 22), _mm512_ternarylogic_epi32(a, b, c,
                                                                                         0xE8));
            h = g; g = f; f = e; e = LOCHAN_ADD(d, t);
            d = c; c = b; b = a; a = LOCHAN_ADD(t, u);
        }
        __m512i z[8] = {a, b, c, d, e, f, g, h};
        #pragma GCC unroll 8
        for (int j = 0; j < 8; j++)
            _mm512_storeu_si512((void *)(state + 16 * j), LOCHAN_ADD(s[j], z[j]));
    }
    #else
    static int lochan_has_wide(void) { return 0; }
    static void lochan_hash_wide(unsigned *state, const unsigned char **p) {}
    #endif
    """
    int lochan_has_wide() noexcept nogil
    void lochan_hash_wide(uint32_t* state, const uint8_t** blocks) noexcept nogil


cdef bint can_hash_wide() noexcept nogil:
    return lochan_has_wide()


cdef void hash_wide(uint32_t* state, const uint8_t** blocks) noexcept nogil:
    lochan_hash_wide(state, blocks)
