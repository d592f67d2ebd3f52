# SPDX-License-Identifier: Apache-2.0
"""A set of hashes: eight bytes each in open addressing, for more of them than Python's set holds.

A slot of 0 is empty, so that 0 itself is kept apart. Where a hash goes is asked for some hashes
ahead: nearly every one is somewhere that no cache has.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free

cdef extern from *:
    """
    #include <stdint.h>
    #include <stdlib.h>
    #if defined(__linux__)
    #include <sys/mman.h>
    #endif
    #if defined(__GNUC__) || defined(__clang__)
    #define lochan_fetch(place) __builtin_prefetch(place, 1)
    #else
    #define lochan_fetch(place) ((void)0)
    #endif
    /* Slots are met in no order: with small pages nearly each one misses the page tables too. */
    static int64_t *lochan_slots(size_t count) {
        int64_t *slots = (int64_t *)calloc(count, sizeof *slots);
    #if defined(__linux__) && defined(MADV_HUGEPAGE)
        const uintptr_t page = (uintptr_t)2 << 20;
        uintptr_t first = ((uintptr_t)slots + page - 1) & ~(page - 1);
        uintptr_t end = ((uintptr_t)slots + count * sizeof *slots) & ~(page - 1);
        if (slots && first < end) (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
    #endif
        return slots;
    }
    """
    void lochan_fetch(const void* place) noexcept nogil
    int64_t* lochan_slots(size_t count) noexcept nogil

cdef enum:
    AHEAD = 16
    FIRST_BITS = 12

# Spreads hashes that have their differences in few bits; 2^64 divided by the golden ratio.
cdef uint64_t SPREAD = 0x9E3779B97F4A7C15ULL


cdef class HashSet:
    """Hashes (int64). One thread at a time uses it: another one is refused, not made to wait."""

    cdef int64_t* slots
    cdef int bits
    cdef Py_ssize_t used
    cdef bint has_zero
    cdef bint is_busy

    def __cinit__(self):
        self.bits = FIRST_BITS
        self.slots = lochan_slots(<size_t>1 << FIRST_BITS)
        if self.slots == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.slots)

    def __len__(self):
        return self.used + self.has_zero

    def __contains__(self, number):
        cdef int64_t hashed = number
        if self.is_busy:
            raise RuntimeError("another thread changes this set")
        if hashed == 0:
            return self.has_zero
        return self.slots[self.find(hashed)] == hashed

    def update(self, const int64_t[::1] hashes not None):
        """Add hashes."""
        cdef Py_ssize_t count = hashes.shape[0]
        cdef int failed
        if self.is_busy:
            raise RuntimeError("another thread changes this set")
        if count == 0:
            return
        self.is_busy = True
        with nogil:
            failed = self.add(&hashes[0], count)
        self.is_busy = False
        if failed:
            raise MemoryError

    cdef int add(self, const int64_t* hashes, Py_ssize_t count) noexcept nogil:
        """Add hashes; gives -1 where there is no memory for them."""
        cdef Py_ssize_t i
        cdef size_t slot
        for i in range(count):
            if i + AHEAD < count:
                lochan_fetch(&self.slots[self.place(hashes[i + AHEAD])])
            if hashes[i] == 0:
                self.has_zero = True
                continue
            slot = self.find(hashes[i])
            if self.slots[slot] == 0:
                self.slots[slot] = hashes[i]
                self.used += 1
                if 5 * <uint64_t>self.used > 3 * (<uint64_t>1 << self.bits) and self.grow() != 0:
                    return -1
        return 0

    cdef inline size_t place(self, int64_t hashed) noexcept nogil:
        """Say where a hash is looked for first."""
        return <size_t>((<uint64_t>hashed * SPREAD) >> (64 - self.bits))

    cdef inline size_t find(self, int64_t hashed) noexcept nogil:
        """Give the slot that has a hash, or the empty one where it goes; some are always empty."""
        cdef size_t last = (<size_t>1 << self.bits) - 1
        cdef size_t slot = self.place(hashed)
        while self.slots[slot] != 0 and self.slots[slot] != hashed:
            slot = (slot + 1) & last
        return slot

    cdef int grow(self) noexcept nogil:
        """Move to twice the room; gives -1 where there is none."""
        cdef int64_t* old = self.slots
        cdef size_t i, count = <size_t>1 << self.bits
        cdef int64_t* room = lochan_slots(2 * count)
        if room == NULL:
            return -1
        self.slots = room
        self.bits += 1
        for i in range(count):
            if old[i] != 0:
                self.slots[self.find(old[i])] = old[i]
        free(old)
        return 0


def hash_set():
    """Make an empty set of hashes."""
    return HashSet()
