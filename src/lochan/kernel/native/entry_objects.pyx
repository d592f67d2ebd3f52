# SPDX-License-Identifier: Apache-2.0
"""The objects that entries name, as hashes: many small protobuf messages at once.

A step of FNV waits for the one before it, so addresses are hashed four at a time.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcmp, memset

from lochan.kernel.native.buffers cimport (
    Held, View, at, enlarge, length, release, wrap_int64,
)
from lochan.kernel.native.coding cimport get_uvarint

from lochan.errors import Corruption

cdef enum:
    ADDRESS = 1
    SIZE = 3
    BLOCKS = 100

cdef uint64_t START = 0xcbf29ce484222325ULL
cdef uint64_t PRIME = 0x100000001b3ULL


cdef bint is_full(const uint8_t* p, Py_ssize_t size) noexcept nogil:
    """Say whether an address has a scheme."""
    cdef Py_ssize_t i = 0
    while i < size and (48 <= p[i] <= 57 or 65 <= p[i] <= 90 or 97 <= p[i] <= 122):
        i += 1
    return i > 0 and size - i >= 3 and p[i] == 58 and p[i + 1] == 47 and p[i + 2] == 47


cdef inline bint take(Objects* found, const uint8_t* p, Py_ssize_t size,
                      int64_t stored) noexcept nogil:
    """Add the object at an address, unless it lies elsewhere. False where there is no memory."""
    if size == 0:
        return True
    if (found.inside_size and size > found.inside_size and p[0] == found.inside[0]
            and memcmp(p, found.inside, found.inside_size) == 0):
        p += found.inside_size
        size -= found.inside_size
    elif is_full(p, size):
        return True
    if found.count == found.sizes.room and make_room(found):
        return False
    found.sizes.items[found.count] = stored
    found.count += 1
    found.waiting[found.waiting_count] = p
    found.lengths[found.waiting_count] = size
    found.waiting_count += 1
    if found.waiting_count == ABREAST:
        hash_waiting(found)
    return True


cdef void hash_waiting(Objects* found) noexcept nogil:
    """Hash the addresses that wait."""
    cdef int64_t* hashes = found.hashes.items + found.count - found.waiting_count
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


cdef inline const uint8_t* skip(const uint8_t* p, const uint8_t* end, uint64_t wire,
                                uint64_t* number) noexcept nogil:
    """Pass over what follows a tag, keeping its number or length; NULL for what cannot be."""
    if wire == 2:
        p = get_uvarint(p, end, number)
        return p + number[0] if p != NULL and number[0] <= <uint64_t>(end - p) else NULL
    if wire == 0:
        return get_uvarint(p, end, number)
    if wire == 1:
        return p + 8 if end - p >= 8 else NULL
    if wire == 5:
        return p + 4 if end - p >= 4 else NULL
    return NULL


cdef inline bint read_entry(const uint8_t* p, const uint8_t* end, Objects* found,
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
    return take(found, address, size, stored)


cdef Py_ssize_t read_objects(const View* values, Objects* found) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(values.count):
        if not read_entry(at(values, i), at(values, i) + length(values, i), found, False):
            return NO_ROOM if found.is_memory_out else i
    if found.waiting_count:
        hash_waiting(found)
    return ALL_READ


def entry_objects(values not None, bytes inside not None):
    """Hash the addresses that entries name, and tell their sizes. Raises Corruption."""
    cdef Held held = Held()
    cdef View view = held.column(values)
    cdef Objects found
    cdef Py_ssize_t at_entry
    if start_objects(&found, view.count, inside, len(inside)):
        raise MemoryError
    try:
        with nogil:
            at_entry = read_objects(&view, &found)
        if at_entry == NO_ROOM:
            raise MemoryError
        if at_entry != ALL_READ:
            raise damaged_entry(at_entry, view.count, "", 0)
        return finish_objects(&found)
    finally:
        drop_objects(&found)


cdef int start_objects(Objects* found, Py_ssize_t expected, const uint8_t* inside,
                       Py_ssize_t inside_size) noexcept nogil:
    memset(found, 0, sizeof(Objects))
    found.inside = inside
    found.inside_size = inside_size
    if enlarge_numbers(&found.hashes, 0, expected) or enlarge_numbers(&found.sizes, 0, expected):
        drop_objects(found)
        return -1
    return 0


cdef int make_room(Objects* found) noexcept nogil:
    """Make room for more objects; gives -1 where there is no memory for them."""
    cdef Py_ssize_t room = found.count + (found.count >> 1) + 64
    if (enlarge_numbers(&found.hashes, found.count, room)
            or enlarge_numbers(&found.sizes, found.count, room)):
        found.is_memory_out = True
        return -1
    return 0


cdef int enlarge_numbers(Numbers* numbers, Py_ssize_t used, Py_ssize_t room) noexcept nogil:
    cdef int64_t* moved = <int64_t*>enlarge(numbers.items, used * sizeof(int64_t),
                                            size_of(numbers), (room + 1) * sizeof(int64_t))
    if moved == NULL:
        return -1
    numbers.items = moved
    numbers.room = room
    return 0


cdef inline size_t size_of(const Numbers* numbers) noexcept nogil:
    return <size_t>(numbers.room + 1) * sizeof(int64_t) if numbers.items != NULL else 0


cdef void drop_objects(Objects* found) noexcept nogil:
    release(found.hashes.items, size_of(&found.hashes))
    release(found.sizes.items, size_of(&found.sizes))
    found.hashes.items = NULL
    found.sizes.items = NULL


cdef object finish_objects(Objects* found):
    """Hand both columns over to Python."""
    hashes = wrap_int64(found.hashes.items, found.count, size_of(&found.hashes))
    found.hashes.items = NULL
    sizes = wrap_int64(found.sizes.items, found.count, size_of(&found.sizes))
    found.sizes.items = NULL
    return hashes, sizes


cdef object damaged_entry(Py_ssize_t number, Py_ssize_t count, object file, uint64_t offset):
    return Corruption(f"entry {number} of {count} is no Entry message", file=file, offset=offset)
