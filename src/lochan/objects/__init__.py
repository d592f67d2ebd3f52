# SPDX-License-Identifier: Apache-2.0
"""Objects: whole byte strings under addresses, in memory, on a local disk or in a cloud.

The third store beside kv and sstable. A store is opened on a storage namespace
(`s3://bucket/prefix`, `local:///folder`, `mem://name`) and knows addresses inside it alone. It
promises that a put is whole or nothing, that an acknowledged put is durable and seen by every later
read, and that a conditional put has one winner. It does not know what the bytes mean.

Reading order: store (the contract), namespace and address (names), body (what goes in),
preconditions and paging (rules that drivers share), joined (multipart on any store), walk (all
pages of a listing), faulty (the wrapper that breaks things for tests), open; then drivers/.
Formats: docs/formats/object-layout.md.
"""
