# SPDX-License-Identifier: Apache-2.0
"""The facts that a lake is made of, as immutable values; nothing here reads or writes anything.

Reading order: `ids` (names and what they may be), `instant` (points in time), `records` (what the
key-value store holds), `entry` (what a key of the lake stands for), `changes` (how two trees
differ), `uri` (how people write an address). `ident` is the encoding that hashes are taken over,
`commit_id` and `entry` say what is hashed. `codec` turns records into bytes and back, by the
messages of records.proto; nobody else knows them. docs/formats/records.md shows the bytes.

A record is equal to another exactly if their bytes are equal.
"""
