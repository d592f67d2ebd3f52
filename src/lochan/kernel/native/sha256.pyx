# SPDX-License-Identifier: Apache-2.0
"""SHA-256 of very many short messages, by the fastest way that the machine has.

1. Sixteen messages side by side in 512-bit registers (`sha256_wide`).
2. Else the SHA instructions, two messages side by side: one message alone waits for each round's
   result, so a second one costs less than it.
3. Else the `SHA256_Transform` of the libcrypto that Python has loaded already, found at run time,
   so that no header or library is needed to build; it chooses the best code for the processor.
4. Else plain C.
"""

try:
    import _hashlib
except ImportError:  # a Python without OpenSSL
    _hashlib = None

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from lochan.kernel.native.sha256_constants cimport lochan_k
from lochan.kernel.native.sha256_plain cimport plain_block
from lochan.kernel.native.sha256_wide cimport can_hash_wide, hash_wide

cdef extern from *:
    uint32_t __builtin_bswap32(uint32_t value) noexcept nogil
    uint64_t __builtin_bswap64(uint64_t value) noexcept nogil

cdef extern from "dlfcn.h" nogil:
    void* dlopen(const char* name, int flags)
    void* dlsym(void* handle, const char* name)
    int RTLD_LAZY

cdef extern from *:
    """
    #if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
    #include <immintrin.h>
    #include <cpuid.h>
    static int lochan_has_sha(void) {
        unsigned a, b, c, d;
        __builtin_cpu_init();
        return __builtin_cpu_supports("sse4.1") && __get_cpuid_count(7, 0, &a, &b, &c, &d)
            && ((b >> 29) & 1);
    }
    /* The instructions keep a..h as (a b e f) and (c d g h). */
    #define LOCHAN_ENTER(st, x, y) { \\
        __m128i t = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(st)), 0xB1); \\
        __m128i u = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(st) + 1), 0x1B); \\
        x = _mm_alignr_epi8(t, u, 8); y = _mm_blend_epi16(u, t, 0xF0); }
    #define LOCHAN_LEAVE(st, x, y) { \\
        __m128i t = _mm_shuffle_epi32(x, 0x1B), u = _mm_shuffle_epi32(y, 0xB1); \\
        _mm_storeu_si128((__m128i *)(st), _mm_blend_epi16(t, u, 0xF0)); \\
        _mm_storeu_si128((__m128i *)(st) + 1, _mm_alignr_epi8(u, t, 8)); }
    #define LOCHAN_SCHEDULE(m, i, p) \\
        if ((i) < 4) \\
            m[(i) & 3] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(p) + (i)), swap); \\
        else m[(i) & 3] = _mm_sha256msg2_epu32(_mm_add_epi32( \\
            _mm_sha256msg1_epu32(m[(i) & 3], m[((i) + 1) & 3]), \\
            _mm_alignr_epi8(m[((i) + 3) & 3], m[((i) + 2) & 3], 4)), m[((i) + 3) & 3]);
    __attribute__((target("sha,sse4.1,ssse3")))
    static void lochan_sha_one(unsigned *st, const unsigned char *p, size_t blocks) {
        const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bULL, 0x0405060700010203ULL);
        __m128i x, y, m[4], w;
        LOCHAN_ENTER(st, x, y)
        for (; blocks; blocks--, p += 64) {
            __m128i x0 = x, y0 = y;
            #pragma GCC unroll 16
            for (int i = 0; i < 16; i++) {
                LOCHAN_SCHEDULE(m, i, p)
                w = _mm_add_epi32(m[i & 3], _mm_load_si128((const __m128i *)lochan_k + i));
                y = _mm_sha256rnds2_epu32(y, x, w);
                x = _mm_sha256rnds2_epu32(x, y, _mm_shuffle_epi32(w, 0x0E));
            }
            x = _mm_add_epi32(x, x0); y = _mm_add_epi32(y, y0);
        }
        LOCHAN_LEAVE(st, x, y)
    }
    __attribute__((target("sha,sse4.1,ssse3")))
    static void lochan_sha_two(unsigned *sa, const unsigned char *pa,
                               unsigned *sb, const unsigned char *pb, size_t blocks) {
        const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bULL, 0x0405060700010203ULL);
        __m128i xa, ya, xb, yb, ma[4], mb[4], wa, wb, k;
        LOCHAN_ENTER(sa, xa, ya)
        LOCHAN_ENTER(sb, xb, yb)
        for (; blocks; blocks--, pa += 64, pb += 64) {
            __m128i xa0 = xa, ya0 = ya, xb0 = xb, yb0 = yb;
            #pragma GCC unroll 16
            for (int i = 0; i < 16; i++) {
                k = _mm_load_si128((const __m128i *)lochan_k + i);
                LOCHAN_SCHEDULE(ma, i, pa)
                LOCHAN_SCHEDULE(mb, i, pb)
                wa = _mm_add_epi32(ma[i & 3], k);
                wb = _mm_add_epi32(mb[i & 3], k);
                ya = _mm_sha256rnds2_epu32(ya, xa, wa);
                yb = _mm_sha256rnds2_epu32(yb, xb, wb);
                xa = _mm_sha256rnds2_epu32(xa, ya, _mm_shuffle_epi32(wa, 0x0E));
                xb = _mm_sha256rnds2_epu32(xb, yb, _mm_shuffle_epi32(wb, 0x0E));
            }
            xa = _mm_add_epi32(xa, xa0); ya = _mm_add_epi32(ya, ya0);
            xb = _mm_add_epi32(xb, xb0); yb = _mm_add_epi32(yb, yb0);
        }
        LOCHAN_LEAVE(sa, xa, ya)
        LOCHAN_LEAVE(sb, xb, yb)
    }
    #else
    static int lochan_has_sha(void) { return 0; }
    static void lochan_sha_one(unsigned *st, const unsigned char *p, size_t n) {}
    static void lochan_sha_two(unsigned *a, const unsigned char *p, unsigned *b,
                               const unsigned char *q, size_t n) {}
    #endif
    """
    int lochan_has_sha() noexcept nogil
    void lochan_sha_one(uint32_t* state, const uint8_t* p, size_t blocks) noexcept nogil
    void lochan_sha_two(uint32_t* a, const uint8_t* p, uint32_t* b, const uint8_t* q,
                        size_t blocks) noexcept nogil

# libcrypto's SHA256_CTX: eight words of state, then what Transform never reads.
cdef struct LibcryptoContext:
    uint32_t state[8]
    uint32_t rest[24]

ctypedef void (*Transform)(LibcryptoContext*, const uint8_t*) noexcept nogil

cdef enum Way:
    WIDE
    INSTRUCTIONS
    LIBCRYPTO
    PLAIN

cdef uint32_t* START = [0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
                        0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19]
cdef Transform transform = NULL
cdef Way way = PLAIN
cdef bint has_instructions = False  # for single messages, whichever way many are hashed


cdef Transform find_libcrypto():
    cdef bytes path = _hashlib.__file__.encode() if getattr(_hashlib, "__file__", None) else b""
    cdef void* handle = dlopen(<const char*>path, RTLD_LAZY) if path else NULL
    return <Transform>dlsym(handle, b"SHA256_Transform") if handle != NULL else NULL


def choose_way(str name=""):
    """Set the way to hash: wide, instructions, libcrypto, plain, or "" for the best; name it."""
    global way, transform, has_instructions
    transform = find_libcrypto()
    ways = []
    if can_hash_wide():
        ways.append("wide")
    if lochan_has_sha():
        ways.append("instructions")
    if transform != NULL:
        ways.append("libcrypto")
    ways.append("plain")
    chosen = name or ways[0]
    if chosen not in ways:
        raise ValueError(f"this machine hashes by {', '.join(ways)}; not by {chosen}")
    known = {"wide": WIDE, "instructions": INSTRUCTIONS, "libcrypto": LIBCRYPTO, "plain": PLAIN}
    way = known[chosen]
    has_instructions = "instructions" in ways and chosen in ("wide", "instructions")
    return chosen


choose_way()


cdef void blocks_one(uint32_t* state, const uint8_t* p, Py_ssize_t blocks) noexcept nogil:
    cdef LibcryptoContext context
    cdef Py_ssize_t i
    if has_instructions:
        lochan_sha_one(state, p, blocks)
        return
    if way == PLAIN or transform == NULL:
        for i in range(blocks):
            plain_block(state, p + 64 * i)
        return
    memcpy(context.state, state, 32)
    for i in range(blocks):
        transform(&context, p + 64 * i)
    memcpy(state, context.state, 32)


cdef inline Py_ssize_t pad(const uint8_t* rest, Py_ssize_t size, Py_ssize_t total,
                           uint8_t* tail) noexcept nogil:
    # The last one or two blocks: the rest, 0x80, zeros, the length in bits.
    cdef Py_ssize_t blocks = 1 if size < 56 else 2
    cdef uint64_t bits = __builtin_bswap64(<uint64_t>total * 8)
    memset(tail, 0, 128)  # a fixed size is a few stores, a variable one a call
    memcpy(tail, rest, size)
    tail[size] = 0x80
    memcpy(tail + blocks * 64 - 8, &bits, 8)
    return blocks


cdef inline void put_digest(const uint32_t* state, uint8_t* digest) noexcept nogil:
    cdef int i
    cdef uint32_t word
    for i in range(8):
        word = __builtin_bswap32(state[i])
        memcpy(digest + 4 * i, &word, 4)


cdef uint8_t PAD_OF_64[64]
memset(PAD_OF_64, 0, 64)
PAD_OF_64[0] = 0x80
PAD_OF_64[62] = 2  # 512 bits


# A message on its way: whole blocks first, then the padded tail.
cdef struct Lane:
    uint32_t state[8]
    const uint8_t* next
    Py_ssize_t blocks
    Py_ssize_t tail_blocks
    uint8_t* digest
    const uint8_t* tail_start
    uint8_t tail[128]


cdef inline void board(Lane* lane, const Message* message) noexcept nogil:
    cdef Py_ssize_t whole = message.size & ~<Py_ssize_t>63
    memcpy(lane.state, START, 32)
    lane.digest = message.digest
    lane.next = message.data
    lane.blocks = message.size >> 6
    if message.size == 64:  # one in three: the pair of hashes that names a record
        lane.tail_start = PAD_OF_64
        lane.tail_blocks = 1
    else:
        lane.tail_start = lane.tail
        lane.tail_blocks = pad(message.data + whole, message.size - whole, message.size, lane.tail)
    if lane.blocks == 0:
        turn_to_tail(lane)


cdef inline void turn_to_tail(Lane* lane) noexcept nogil:
    lane.next = lane.tail_start
    lane.blocks = lane.tail_blocks
    lane.tail_blocks = 0


cdef inline bint advance(Lane* lane, Py_ssize_t blocks) noexcept nogil:
    """Note that blocks are done; true when the message is."""
    lane.next += 64 * blocks
    lane.blocks -= blocks
    if lane.blocks == 0 and lane.tail_blocks:
        turn_to_tail(lane)
    if lane.blocks:
        return False
    put_digest(lane.state, lane.digest)
    return True


cdef void finish_lane(Lane* lane) noexcept nogil:
    cdef Py_ssize_t n = lane.blocks
    blocks_one(lane.state, lane.next, n)
    while not advance(lane, n):
        n = lane.blocks
        blocks_one(lane.state, lane.next, n)


cdef void hash_by_pairs(const Message* messages, Py_ssize_t count) noexcept nogil:
    cdef Lane a, b
    cdef Py_ssize_t taken, n
    cdef bint a_done, b_done
    board(&a, &messages[0])
    board(&b, &messages[1])
    taken = 2
    while True:
        n = a.blocks if a.blocks < b.blocks else b.blocks
        lochan_sha_two(a.state, a.next, b.state, b.next, n)
        a_done = advance(&a, n)
        b_done = advance(&b, n)
        if a_done and taken < count:
            board(&a, &messages[taken])
            taken += 1
            a_done = False
        if b_done and taken < count:
            board(&b, &messages[taken])
            taken += 1
            b_done = False
        if a_done or b_done:
            break
    if not a_done:
        finish_lane(&a)
    if not b_done:
        finish_lane(&b)


cdef inline void set_column(uint32_t* states, int lane, const uint32_t* state) noexcept nogil:
    cdef int j
    for j in range(8):
        states[16 * j + lane] = state[j]


cdef inline void get_column(const uint32_t* states, int lane, uint32_t* state) noexcept nogil:
    cdef int j
    for j in range(8):
        state[j] = states[16 * j + lane]


cdef void hash_by_sixteen(const Message* messages, Py_ssize_t count) noexcept nogil:
    """Keep sixteen messages under way; the last ones of all are finished singly."""
    cdef Lane lanes[16]
    cdef uint32_t states[128]
    cdef const uint8_t* blocks[16]
    cdef Py_ssize_t taken = 16
    cdef int i, under_way = 16
    cdef Lane* lane
    for i in range(16):
        board(&lanes[i], &messages[i])
        set_column(states, i, START)
    while under_way == 16:
        for i in range(16):
            blocks[i] = lanes[i].next
        hash_wide(states, blocks)
        for i in range(16):
            lane = &lanes[i]
            lane.next += 64
            lane.blocks -= 1
            if lane.blocks:
                continue
            if lane.tail_blocks:
                turn_to_tail(lane)
                continue
            get_column(states, i, lane.state)
            put_digest(lane.state, lane.digest)
            if taken < count:
                board(lane, &messages[taken])
                set_column(states, i, START)
                taken += 1
            else:
                under_way -= 1
    for i in range(16):
        if lanes[i].blocks:
            get_column(states, i, lanes[i].state)
            finish_lane(&lanes[i])


cdef void hash_messages(const Message* messages, Py_ssize_t count) noexcept nogil:
    cdef Lane lane
    cdef Py_ssize_t i
    if way == WIDE and count >= 16:
        hash_by_sixteen(messages, count)
    elif has_instructions and count >= 2:
        hash_by_pairs(messages, count)
    else:
        for i in range(count):
            board(&lane, &messages[i])
            finish_lane(&lane)


cdef void stream_start(Stream* s) noexcept nogil:
    memcpy(s.state, START, 32)
    s.size = 0


cdef void stream_blocks(Stream* s, const uint8_t* data, Py_ssize_t blocks) noexcept nogil:
    blocks_one(s.state, data, blocks)
    s.size += 64 * blocks


cdef void stream_finish(Stream* s, const uint8_t* rest, Py_ssize_t size,
                        uint8_t* digest) noexcept nogil:
    cdef uint8_t tail[128]
    cdef Py_ssize_t blocks = pad(rest, size, s.size + size, tail)
    blocks_one(s.state, tail, blocks)
    put_digest(s.state, digest)


def sha256_many(list messages):
    """Hash a list of byte strings: the digests, in order. For tests and measurements."""
    cdef Py_ssize_t n = len(messages), i, k = 0
    cdef bytearray digests = bytearray(32 * n)
    cdef uint8_t* out = digests
    cdef Message[64] batch
    for i in range(n):
        batch[k].data = <const uint8_t*><bytes>messages[i]
        batch[k].size = len(<bytes>messages[i])
        batch[k].digest = out + 32 * i
        k += 1
        if k == 64 or i == n - 1:
            hash_messages(batch, k)
            k = 0
    return [bytes(digests[32 * i:32 * i + 32]) for i in range(n)]
