# SPDX-License-Identifier: Apache-2.0
"""Lakes as an fsspec filesystem: `lochan://repository/ref/path` in pandas, Arrow, DuckDB and others.

    filesystem    what fsspec asks of a filesystem
    file          an object that is read or written through fsspec
    transaction   writes that wait, and come by one commit
    place         paths of the filesystem, taken apart
    told          errors as the operating system's, which fsspec expects
"""
