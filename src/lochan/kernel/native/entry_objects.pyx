# SPDX-License-Identifier: Apache-2.0
"""The objects that entries name, as hashes: many small protobuf messages at once.

A step of FNV waits for the one before it, so addresses are hashed four at a time.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcmp

from lochan.kernel.native.buffers cimport Held, View, allocate, at, length, release, wrap_int64
from lochan.kernel.native.coding cimport get_uvarint

from lochan.errors import Corruption

cdef enum:
    ADDRESS = 1
    SIZE = 3
    BLOCKS = 100
    ABREAST = 4

cdef uint64_t START = 0xcbf29ce484222325ULL
cdef uint64_t PRIME = 0x100000001b3ULL


# What was found so far. Objects beyond `room` are counted, and nothing else.
cdef struct Found:
    int64_t* hashes
    int64_t* sizes
    Py_ssize_t count
    Py_ssize_t room
    const uint8_t* waiting[ABREAST]  # the addresses of the last objects, which have no hash yet
    Py_ssize_t lengths[ABREAST]
    Py_ssize_t waiting_count
    const uint8_t* inside
    Py_ssize_t inside_size


cdef bint is_full(const uint8_t* p, Py_ssize_t size) noexcept nogil:
    """Say whether an address has a scheme."""
    cdef Py_ssize_t i = 0
    while i < size and (48 <= p[i] <= 57 or 65 <= p[i] <= 90 or 97 <= p[i] <= 122):
        i += 1
    return i > 0 and size - i >= 3 and p[i] == 58 and p[i + 1] == 47 and p[i + 2] == 47


cdef void take(Found* found, const uint8_t* p, Py_ssize_t size, int64_t stored) noexcept nogil:
    """Count the object at an address, unless it lies elsewhere."""
    if size == 0:
        return
    if (found.inside_size and size > found.inside_size
            and memcmp(p, found.inside, found.inside_size) == 0):
        p += found.inside_size
        size -= found.inside_size
    elif is_full(p, size):
        return
    if found.count < found.room:
        found.sizes[found.count] = stored
        found.waiting[found.waiting_count] = p
        found.lengths[found.waiting_count] = size
        found.waiting_count += 1
        if found.waiting_count == ABREAST:
            hash_waiting(found, found.hashes + found.count + 1 - ABREAST)
    found.count += 1


cdef void hash_waiting(Found* found, int64_t* hashes) noexcept nogil:
    """Hash the addresses that wait."""
    cdef const uint8_t** p = found.waiting
    cdef uint64_t a = START, b = START, c = START, d = START
    cdef Py_ssize_t i, shortest = 0
    if found.waiting_count == ABREAST:
        shortest = min(min(found.lengths[0], found.lengths[1]),
                       min(found.lengths[2], found.lengths[3]))
    for i in range(shortest):
        a = (a ^ p[0][i]) * PRIME
        b = (b ^ p[1][i]) * PRIME
        c = (c ^ p[2][i]) * PRIME
        d = (d ^ p[3][i]) * PRIME
    cdef uint64_t[ABREAST] begun = [a, b, c, d]
    for i in range(found.waiting_count):
        hashes[i] = <int64_t>hash_on(begun[i], p[i] + shortest, found.lengths[i] - shortest)
    found.waiting_count = 0


cdef uint64_t hash_on(uint64_t hashed, const uint8_t* p, Py_ssize_t size) noexcept nogil:
    """Hash what is left of an address."""
    cdef Py_ssize_t i
    for i in range(size):
        hashed = (hashed ^ p[i]) * PRIME
    return hashed


cdef const uint8_t* skip(const uint8_t* p, const uint8_t* end, uint64_t wire,
                         uint64_t* number) noexcept nogil:
    """Pass over what follows a tag, keeping its number or length; NULL for what cannot be."""
    if wire == 0:
        return get_uvarint(p, end, number)
    if wire == 1:
        return p + 8 if end - p >= 8 else NULL
    if wire == 5:
        return p + 4 if end - p >= 4 else NULL
    if wire == 2:
        p = get_uvarint(p, end, number)
        return p + number[0] if p != NULL and number[0] <= <uint64_t>(end - p) else NULL
    return NULL


cdef bint read_entry(const uint8_t* p, const uint8_t* end, Found* found,
                     bint is_block) noexcept nogil:
    """Find the objects of one entry, or of one block of it. False where it is damaged."""
    cdef uint64_t tag, number = 0
    cdef const uint8_t* address = NULL
    cdef Py_ssize_t size = 0
    cdef int64_t stored = 0
    while p < end:
        p = get_uvarint(p, end, &tag)
        if p == NULL or tag >> 3 == 0:
            return False
        p = skip(p, end, tag & 7, &number)
        if p == NULL:
            return False
        if tag >> 3 == ADDRESS:
            if tag & 7 != 2:
                return False
            address = p - number
            size = <Py_ssize_t>number
        elif tag >> 3 == SIZE:
            if tag & 7 != 0:
                return False
            stored = <int64_t>number
        elif tag >> 3 == BLOCKS and not is_block:
            if tag & 7 != 2 or not read_entry(p - number, p, found, True):
                return False
    take(found, address, size, stored)
    return True


cdef Py_ssize_t read_all(const View* values, Found* found) noexcept nogil:
    """Read every entry; gives the number of one that is damaged, or -1."""
    cdef Py_ssize_t i
    found.count = 0
    found.waiting_count = 0
    for i in range(values.count):
        if not read_entry(at(values, i), at(values, i) + length(values, i), found, False):
            return i
    if found.waiting_count:
        hash_waiting(found, found.hashes + min(found.count, found.room) - found.waiting_count)
    return -1


def entry_objects(values not None, bytes inside not None):
    """Hash the addresses that entries name, and tell their sizes. Raises Corruption."""
    cdef Held held = Held()
    cdef View view = held.column(values)
    cdef Found found
    cdef Py_ssize_t damaged
    found.inside = inside
    found.inside_size = len(inside)
    found.count = view.count  # nearly every entry is one object; files of blocks are read again
    while True:
        make_room(&found, found.count)
        with nogil:
            damaged = read_all(&view, &found)
        if damaged < 0 and found.count <= found.room:
            break
        release(found.hashes, size_of(found.room))
        release(found.sizes, size_of(found.room))
        if damaged >= 0:
            raise Corruption(f"entry {damaged} of {view.count} is no Entry message")
    return (wrap_int64(found.hashes, found.count, size_of(found.room)),
            wrap_int64(found.sizes, found.count, size_of(found.room)))


cdef size_t size_of(Py_ssize_t count) noexcept nogil:
    return <size_t>(count + 1) * sizeof(int64_t)


cdef int make_room(Found* found, Py_ssize_t count) except -1:
    """Allocate both columns."""
    found.room = count
    found.hashes = <int64_t*>allocate(size_of(count))
    if found.hashes == NULL:
        raise MemoryError
    found.sizes = <int64_t*>allocate(size_of(count))
    if found.sizes == NULL:
        release(found.hashes, size_of(count))
        raise MemoryError
    return 0
