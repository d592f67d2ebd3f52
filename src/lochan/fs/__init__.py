# SPDX-License-Identifier: Apache-2.0
"""Lakes as an fsspec filesystem: `lochan://repository/ref/path` in pandas, Arrow, DuckDB, others.

filesystem    the filesystem, and how files are opened, read and written whole
moved         copies, renames and deletions
seen          what there is: listings, and what is known of a path
file          an object that is read through fsspec's caches
lent          files that threads of Arrow still hold, awaited at the end of a process
packed        a file that is compressed on its way
place         paths of the filesystem, taken apart
told          errors as the operating system's, which fsspec expects
"""
