# SPDX-License-Identifier: Apache-2.0
"""Everything that changes lives here: small records in an ordered key-value store.

Branch pointers, repository records and staged entries are records in a `Store`; what is committed
lies in the object store and never changes. The store offers no transactions over two keys, only a
compare-and-swap of one: all protocols above are built from that.

Reading order:
    store.py      the seam: seven operations, their contract K1-K8, two optional capabilities
    read.py       find, scan_prefix: comfort for readers
    update.py     the optimistic loop, and what it does when nobody knows whether a write landed
    table.py      typed records under one partition and prefix
    set_many.py   many records of one partition at once
    open.py       an address such as sqlite:///lake/kv.db becomes a Store
    faulty.py     a Store that fails where a test wants it to
    drivers/      memory, sqlite, postgres: reached by entry point only

Stored formats: docs/formats/kv-store.md. Conformance: `lochan.testing.kv`.
"""
