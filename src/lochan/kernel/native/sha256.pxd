# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uint8_t, uint32_t

# One message to hash: `size` bytes at `data`, 32 bytes of digest to `digest`.
cdef struct Message:
    const uint8_t* data
    Py_ssize_t size
    uint8_t* digest

# Hash independent messages, two at a time where the processor gains from it.
cdef void hash_messages(const Message* messages, Py_ssize_t count) noexcept nogil

# One long message in pieces of whole 64-byte blocks, then the rest.
cdef struct Stream:
    uint32_t state[8]
    Py_ssize_t size

cdef void stream_start(Stream* s) noexcept nogil
cdef void stream_blocks(Stream* s, const uint8_t* data, Py_ssize_t blocks) noexcept nogil
cdef void stream_finish(Stream* s, const uint8_t* rest, Py_ssize_t size,
                        uint8_t* digest) noexcept nogil
