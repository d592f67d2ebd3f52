# SPDX-License-Identifier: Apache-2.0
"""Columns as C sees them: views of what Python holds, and builders of new ones."""

from cpython.buffer cimport PyBuffer_FillInfo
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memset

from lochan.kernel.native.coding cimport SLACK

from lochan.kernel.records import Column, Records

cdef extern from *:
    """
    #include <pthread.h>
    #include <stdlib.h>
    #include <string.h>
    #if defined(__linux__)
    #include <sys/mman.h>
    #endif
    /* A range's columns are tens of megabytes, written once and dropped soon. With small pages the
       faults would cost more than the decoding, and with fresh pages the kernel's clearing of them
       a fifth of it. So large blocks ask for large pages, and a bounded number of freed ones is
       kept for the next range. Every large block starts with its capacity, in a line of its own. */
    #define LOCHAN_LARGE ((size_t)1 << 20)
    #define LOCHAN_HEAD ((size_t)64)
    #define LOCHAN_SLOTS 32
    #define LOCHAN_KEPT ((size_t)128 << 20)
    static pthread_mutex_t lochan_lock = PTHREAD_MUTEX_INITIALIZER;
    static char *lochan_slot[LOCHAN_SLOTS];
    static size_t lochan_kept = 0;

    /* A child forked while another thread held the lock would wait for it for ever. */
    static void lochan_before_fork(void) { pthread_mutex_lock(&lochan_lock); }
    static void lochan_after_fork(void) { pthread_mutex_unlock(&lochan_lock); }
    static int lochan_prepare(void) {
        return pthread_atfork(lochan_before_fork, lochan_after_fork, lochan_after_fork);
    }

    static size_t lochan_capacity(const char *block) { size_t n; memcpy(&n, block,
                                                                        sizeof n); return n; }

    static char *lochan_reuse(size_t size) {
        char *found = NULL;
        pthread_mutex_lock(&lochan_lock);
        for (int i = 0; i < LOCHAN_SLOTS && !found; i++) {
            size_t n = lochan_slot[i] ? lochan_capacity(lochan_slot[i]) : 0;
            if (n >= size && n / 4 <= size) {
                found = lochan_slot[i];
                lochan_slot[i] = NULL;
                lochan_kept -= n;
            }
        }
        pthread_mutex_unlock(&lochan_lock);
        return found;
    }
    static void *lochan_large(size_t size) {
        char *block = lochan_reuse(size);
        void *fresh = NULL;
        if (block == NULL) {
            if (posix_memalign(&fresh, (size_t)2 << 20, size + LOCHAN_HEAD)) return NULL;
    #if defined(__linux__) && defined(MADV_HUGEPAGE)
            (void)madvise(fresh, size + LOCHAN_HEAD, MADV_HUGEPAGE);
    #endif
            block = (char *)fresh;
            memcpy(block, &size, sizeof size);
        }
        return block + LOCHAN_HEAD;
    }
    static void lochan_release_large(void *p) {
        char *block = (char *)p - LOCHAN_HEAD;
        size_t n = lochan_capacity(block);
        pthread_mutex_lock(&lochan_lock);
        for (int i = 0; i < LOCHAN_SLOTS && block && lochan_kept + n <= LOCHAN_KEPT; i++)
            if (lochan_slot[i] == NULL) { lochan_slot[i] = block; lochan_kept += n; block = NULL; }
        pthread_mutex_unlock(&lochan_lock);
        free(block);
    }
    static void *lochan_allocate(size_t size) {
        return size < LOCHAN_LARGE ? malloc(size ? size : 1) : lochan_large(size);
    }
    static void lochan_release(void *p, size_t size) {
        if (p == NULL || size < LOCHAN_LARGE) free(p); else lochan_release_large(p);
    }
    static void *lochan_enlarge(void *old, size_t used, size_t had, size_t size) {
        void *p;
        if (had < LOCHAN_LARGE && size < LOCHAN_LARGE) return realloc(old, size);
        p = lochan_allocate(size);
        if (p == NULL) return NULL;
        if (used) memcpy(p, old, used);
        lochan_release(old, had);
        return p;
    }
    """
    int lochan_prepare() noexcept nogil
    void* lochan_allocate(size_t size) noexcept nogil
    void lochan_release(void* p, size_t size) noexcept nogil
    void* lochan_enlarge(void* old, size_t used, size_t had, size_t size) noexcept nogil


if lochan_prepare():
    raise MemoryError


cdef class Memory:
    """A block of memory from C, freed when the last view of it goes."""

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        PyBuffer_FillInfo(buffer, self, self.pointer, self.size, 1, flags)

    def __dealloc__(self):
        lochan_release(self.pointer, self.allocated)


cdef void* allocate(size_t size) noexcept nogil:
    return lochan_allocate(size)


cdef void release(void* pointer, size_t size) noexcept nogil:
    lochan_release(pointer, size)


cdef void* enlarge(void* old, size_t used, size_t had, size_t size) noexcept nogil:
    return lochan_enlarge(old, used, had, size)


cdef object wrap(void* pointer, Py_ssize_t size, size_t allocated):
    cdef Memory memory = Memory.__new__(Memory)
    memory.pointer = <uint8_t*>pointer
    memory.size = size
    memory.allocated = allocated
    return memoryview(memory)


cdef object wrap_int64(int64_t* pointer, Py_ssize_t count, size_t allocated):
    return wrap(pointer, count * sizeof(int64_t), allocated).cast("q")


cdef class Held:
    """The buffers that a call reads; they are released when the call ends."""

    def __cinit__(self):
        self.views = []

    cdef View column(self, object column) except *:
        cdef const uint8_t[::1] data = column.data
        cdef const int64_t[::1] offsets = column.offsets
        cdef View view
        cdef Py_ssize_t i, count = offsets.shape[0]
        cdef bint descends = False
        if count < 1 or offsets[0] < 0 or offsets[count - 1] > data.shape[0]:
            raise ValueError("a column's offsets must lie inside its buffer")
        for i in range(1, count):
            descends |= offsets[i] < offsets[i - 1]
        if descends:
            raise ValueError("a column's offsets must never decrease")
        self.views.append(data)
        self.views.append(offsets)
        view.data = &data[0]
        view.offsets = &offsets[0]
        view.count = offsets.shape[0] - 1
        return view

    cdef RowsView rows(self, object records) except *:
        cdef RowsView view
        view.keys = self.column(records.keys)
        view.identities = self.column(records.identities)
        view.values = self.column(records.values)
        if not view.keys.count == view.identities.count == view.values.count:
            raise ValueError("the columns of records must have equal lengths")
        return view


cdef int start_builder(Builder* b, Py_ssize_t bytes_expected,
                       Py_ssize_t rows_expected) noexcept nogil:
    memset(b, 0, sizeof(Builder))
    b.capacity = bytes_expected + SLACK
    b.offset_capacity = rows_expected + 16
    b.data = <uint8_t*>allocate(b.capacity + SLACK)
    b.offsets = <int64_t*>allocate(b.offset_capacity * sizeof(int64_t))
    if b.data == NULL or b.offsets == NULL:
        drop_builder(b)
        return -1
    b.offsets[0] = 0
    return 0


cdef void drop_builder(Builder* b) noexcept nogil:
    release(b.data, b.capacity + SLACK)
    release(b.offsets, b.offset_capacity * sizeof(int64_t))
    b.data = NULL
    b.offsets = NULL


cdef int reserve_bytes(Builder* b, Py_ssize_t more) noexcept nogil:
    cdef Py_ssize_t wanted = b.size + more
    cdef uint8_t* moved
    if wanted <= b.capacity:
        return 0
    wanted += wanted >> 1
    moved = <uint8_t*>enlarge(b.data, b.size, b.capacity + SLACK, wanted + SLACK)
    if moved == NULL:
        return -1
    b.data = moved
    b.capacity = wanted
    return 0


cdef int reserve_rows(Builder* b, Py_ssize_t more) noexcept nogil:
    cdef Py_ssize_t wanted = b.count + more + 1
    cdef int64_t* moved
    if wanted <= b.offset_capacity:
        return 0
    wanted += wanted >> 1
    moved = <int64_t*>enlarge(b.offsets, (b.count + 1) * sizeof(int64_t),
                              b.offset_capacity * sizeof(int64_t), wanted * sizeof(int64_t))
    if moved == NULL:
        return -1
    b.offsets = moved
    b.offset_capacity = wanted
    return 0


cdef int append_run(Builder* b, const View* source, Py_ssize_t start,
                    Py_ssize_t stop) noexcept nogil:
    cdef int64_t first = source.offsets[start]
    cdef int64_t delta = b.size - first
    cdef Py_ssize_t size = <Py_ssize_t>(source.offsets[stop] - first)
    cdef Py_ssize_t i
    cdef int64_t* target
    if reserve_bytes(b, size) or reserve_rows(b, stop - start):
        return -1
    memcpy(b.data + b.size, source.data + first, size)
    target = b.offsets + b.count + 1 - (start + 1)
    for i in range(start + 1, stop + 1):
        target[i] = source.offsets[i] + delta
    b.size += size
    b.count += stop - start
    return 0


cdef object finish_builder(Builder* b):
    """Hand the buffers over to Python; the builder is empty afterwards, also when that fails."""
    cdef uint8_t* bytes_given = b.data
    cdef int64_t* offsets_given
    b.data = NULL
    data = wrap(bytes_given, b.size, b.capacity + SLACK)
    offsets_given = b.offsets
    b.offsets = NULL
    offsets = wrap_int64(offsets_given, b.count + 1, b.offset_capacity * sizeof(int64_t))
    return Column(data, offsets)


cdef int start_rows(RowsBuilder* b, Py_ssize_t keys, Py_ssize_t identities, Py_ssize_t values,
                    Py_ssize_t rows) noexcept nogil:
    memset(b, 0, sizeof(RowsBuilder))
    if (start_builder(&b.keys, keys, rows) or start_builder(&b.identities, identities, rows)
            or start_builder(&b.values, values, rows)):
        drop_rows(b)
        return -1
    return 0


cdef void drop_rows(RowsBuilder* b) noexcept nogil:
    drop_builder(&b.keys)
    drop_builder(&b.identities)
    drop_builder(&b.values)


cdef int append_rows(RowsBuilder* b, const RowsView* source, Py_ssize_t start,
                     Py_ssize_t stop) noexcept nogil:
    if start >= stop:
        return 0
    if (append_run(&b.keys, &source.keys, start, stop)
            or append_run(&b.identities, &source.identities, start, stop)
            or append_run(&b.values, &source.values, start, stop)):
        return -1
    return 0


cdef object finish_rows(RowsBuilder* b):
    return Records(finish_builder(&b.keys), finish_builder(&b.identities),
                   finish_builder(&b.values))
