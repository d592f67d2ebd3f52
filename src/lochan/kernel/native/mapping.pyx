# SPDX-License-Identifier: Apache-2.0
"""Map a file for reading and hold no descriptor: a process has few, a lake has many files."""

from cpython.buffer cimport PyBuffer_FillInfo
from libc.errno cimport errno
from posix.fcntl cimport O_CLOEXEC, O_RDONLY, open as open_file
from posix.mman cimport MAP_FAILED, MAP_SHARED, PROT_READ, mmap, munmap
from posix.stat cimport fstat, struct_stat
from posix.unistd cimport close

import os


cdef class Mapping:
    """The bytes of a file, unmapped when the last view of them goes."""

    cdef void* start
    cdef Py_ssize_t size

    def __cinit__(self, bytes path not None):
        cdef struct_stat status
        cdef const char* name = path
        cdef int handle, failed
        with nogil:
            handle = open_file(name, O_RDONLY | O_CLOEXEC)
        if handle < 0:
            raise OSError(errno, os.strerror(errno), os.fsdecode(path))
        failed = fstat(handle, &status)
        self.size = <Py_ssize_t>status.st_size if not failed else 0
        if self.size:
            self.start = mmap(NULL, self.size, PROT_READ, MAP_SHARED, handle, 0)
            failed = self.start == MAP_FAILED
        if failed:
            self.start = NULL
            reason = errno
            close(handle)
            raise OSError(reason, os.strerror(reason), os.fsdecode(path))
        close(handle)

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        PyBuffer_FillInfo(buffer, self, self.start if self.size else <void*>b"", self.size, 1,
                          flags)

    def __dealloc__(self):
        if self.start != NULL:
            munmap(self.start, self.size)


def map_file(path):
    """Show a file's bytes without reading them. Raises OSError."""
    return memoryview(Mapping(os.fsencode(path)))
