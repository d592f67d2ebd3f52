# SPDX-License-Identifier: Apache-2.0
"""Entries of objects that lie elsewhere, from columns: identities and messages, many at once."""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from lochan.kernel.native.buffers cimport (
    Builder, Held, View, at, drop_builder, finish_builder, length, start_builder,
)
from lochan.kernel.native.coding cimport put_uvarint, uvarint_length
from lochan.kernel.native.sha256 cimport Message, hash_messages

from lochan.errors import InvalidInput

cdef enum:
    BATCH = 128
    DIGEST = 32
    FRAME = 64  # more than tags, lengths and numbers of one message take
    FULL = 2
    SECOND = 1_000_000_000


cdef inline uint8_t* put_int64(uint8_t* p, int64_t number) noexcept nogil:
    cdef int i
    p[0] = 2
    p[1] = 8
    for i in range(8):
        p[2 + i] = <uint8_t>((<uint64_t>number) >> (56 - 8 * i))
    return p + 10


cdef inline uint8_t* put_string(uint8_t* p, const uint8_t* text, Py_ssize_t size) noexcept nogil:
    p[0] = 1
    p = put_int64(p + 1, size)
    memcpy(p, text, size)
    return p + size


cdef inline uint8_t* put_identity(uint8_t* p, int64_t size, const uint8_t* e_tag, Py_ssize_t tag,
                                  const uint8_t* kind, Py_ssize_t kind_size) noexcept nogil:
    p = put_int64(p, size)
    p = put_string(p, e_tag, tag)
    p[0] = 4  # an empty map
    p = put_int64(p + 1, 0)
    return put_string(p, kind, kind_size) if kind_size else p


cdef inline uint8_t* put_text(uint8_t* p, uint8_t tag, const uint8_t* text,
                              Py_ssize_t size) noexcept nogil:
    if size == 0:
        return p
    p[0] = tag
    p = put_uvarint(p + 1, size)
    memcpy(p, text, size)
    return p + size


cdef inline uint8_t* put_number(uint8_t* p, uint8_t tag, uint64_t number) noexcept nogil:
    if number == 0:
        return p
    p[0] = tag
    return put_uvarint(p + 1, number)


cdef inline uint8_t* put_time(uint8_t* p, int64_t moment) noexcept nogil:
    cdef int64_t seconds = moment // SECOND, rest = moment % SECOND
    cdef uint8_t* size = p + 1
    if moment == 0:  # no time
        return p
    if rest < 0:  # before 1970
        rest += SECOND
        seconds -= 1
    p[0] = 0x12
    p = put_number(size + 1, 0x08, <uint64_t>seconds)
    p = put_number(p, 0x10, <uint64_t>rest)
    size[0] = <uint8_t>(p - size - 1)
    return p



def encode_objects(addresses not None, const int64_t[::1] sizes not None, e_tags not None,
                   const int64_t[::1] times not None, bytes content_type not None):
    """Make identities and entries of objects that lie elsewhere. Raises InvalidInput."""
    cdef Held held = Held()
    cdef View address = held.column(addresses), tag = held.column(e_tags)
    cdef Py_ssize_t count = address.count, i, k, n, needed = 1, most = 0, room, kind_size
    cdef const uint8_t* kind = content_type
    cdef Builder identities, values
    cdef Message messages[BATCH]
    cdef uint8_t* scratch
    cdef uint8_t* p
    kind_size = len(content_type)
    if tag.count != count or sizes.shape[0] != count or times.shape[0] != count:
        raise InvalidInput("columns of objects have different lengths")
    for i in range(count):
        if sizes[i] < 0:
            raise InvalidInput(f"object {i} has {sizes[i]} bytes; no object has so few")
        room = FRAME + length(&address, i) + length(&tag, i) + kind_size
        needed += room
        if room > most:
            most = room
    scratch = <uint8_t*>malloc(BATCH * (most + FRAME))
    if scratch == NULL:
        raise MemoryError
    if start_builder(&identities, count * DIGEST + 1, count):
        free(scratch)
        raise MemoryError
    if start_builder(&values, needed, count):
        free(scratch)
        drop_builder(&identities)
        raise MemoryError
    try:
        with nogil:
            i = 0
            while i < count:
                n = count - i if count - i < BATCH else BATCH
                p = scratch
                for k in range(n):
                    messages[k].data = p
                    p = put_identity(p, sizes[i + k], at(&tag, i + k), length(&tag, i + k), kind,
                                     kind_size)
                    messages[k].size = p - messages[k].data
                    messages[k].digest = identities.data + identities.size
                    identities.size += DIGEST
                    identities.count += 1
                    identities.offsets[identities.count] = identities.size
                hash_messages(messages, n)
                for k in range(i, i + n):
                    p = values.data + values.size
                    p = put_text(p, 0x0A, at(&address, k), length(&address, k))
                    p = put_time(p, times[k])
                    p = put_number(p, 0x18, <uint64_t>sizes[k])
                    p = put_text(p, 0x22, at(&tag, k), length(&tag, k))
                    p = put_number(p, 0x30, FULL)
                    p = put_text(p, 0x3A, kind, kind_size)
                    values.size = p - values.data
                    values.count += 1
                    values.offsets[values.count] = values.size
                i += n
        return finish_builder(&identities), finish_builder(&values)
    finally:
        free(scratch)
        drop_builder(&identities)
        drop_builder(&values)
