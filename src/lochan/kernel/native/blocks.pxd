# SPDX-License-Identifier: Apache-2.0
# Read one block: check it, expand it, walk its rows.

from libc.stdint cimport uint8_t, uint32_t, uint64_t

cdef enum Fault:
    FINE = 0
    OUT_OF_BOUNDS
    BAD_CHECKSUM
    BAD_COMPRESSION
    BAD_RESTARTS
    BAD_ROW
    BAD_KEY
    BAD_KIND
    BAD_ORDER
    BAD_SEPARATOR
    BAD_RECORD
    BAD_HANDLE
    EMPTY_BLOCK
    TOO_LARGE
    NO_MEMORY

# A block's bytes after expansion: rows, then the restart points. `owned` holds them when they were
# compressed; it is reused from block to block.
cdef struct Content:
    const uint8_t* data
    Py_ssize_t rows_end
    Py_ssize_t restarts      # how many
    uint8_t* owned
    Py_ssize_t capacity

# A walk over rows. `key` is the whole internal key; it grows as needed. A walk from the start of a
# block also checks the restart points: `restart` counts those met, or is -1 for one from elsewhere.
cdef struct Walk:
    const Content* content
    Py_ssize_t restart
    Py_ssize_t written
    const uint8_t* next
    const uint8_t* end
    const uint8_t* value
    Py_ssize_t value_size
    uint8_t* key
    Py_ssize_t key_size
    Py_ssize_t capacity

cdef Fault load_block(const uint8_t* file, Py_ssize_t file_size, uint64_t offset, uint64_t size,
                      bint check, Content* content) noexcept nogil
cdef void drop_content(Content* content) noexcept nogil
cdef void start_walk(Walk* walk, const Content* content, Py_ssize_t offset) noexcept nogil
cdef Fault step(Walk* walk) noexcept nogil
cdef Fault finish_walk(const Walk* walk) noexcept nogil
cdef void drop_walk(Walk* walk) noexcept nogil
cdef Py_ssize_t LARGEST, LONGEST_COMPONENT, LONGEST_KEY

cdef object corruption(Fault fault, object name, uint64_t offset)

cdef inline uint32_t restart_point(const Content* content, Py_ssize_t i) noexcept nogil:
    cdef const uint8_t* p = content.data + content.rows_end + 4 * i
    return p[0] | (<uint32_t>p[1] << 8) | (<uint32_t>p[2] << 16) | (<uint32_t>p[3] << 24)
