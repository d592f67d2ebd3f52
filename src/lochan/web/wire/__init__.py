# SPDX-License-Identifier: Apache-2.0
"""HTTP/1.1 by plain threads: addresses beside the main one, for what an event loop is no good at.

Bytes of files pass here between a socket and a file as the kernel moves them: a thread has the
connection for itself, so nothing is handed from loop to thread, and nothing is copied on its way
out. The application is the same (`application`), with the same rules for who may do what.

    received      the bytes that came, up to a line's or a head's end
    head          a request's first lines, strictly read (S11)
    incoming      its body: of a length, or in chunks
    connection    requests one after the other, and their answers
    listener      who may connect, how many at once, and how it ends

No TLS: where the main address has it, none of these is opened (`config.check`).
"""
