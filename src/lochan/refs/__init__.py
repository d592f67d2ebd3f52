# SPDX-License-Identifier: Apache-2.0
"""Names that move: repositories, branches, tags, and the commits that they name.

Every record is one key (`lochan.model.keys`); what changes a record does so by compare-and-swap.
Reading order: tables (the records, typed), fresh (reads that are surely the newest); branches,
tags, commits (each kind of record and its listings, with seek); ancestry, log (history), reachable
(what is part of it); expression, resolve (from what people write to a commit); repositories,
creation, deletion, notes, cleaner (a repository's life); clock_index, reach, kinship (descent).
"""
