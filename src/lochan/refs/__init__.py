# SPDX-License-Identifier: Apache-2.0
"""Names that move: repositories, branches, tags, and the commits that they name.

Every record is one key (`lochan.model.keys`); what changes a record does so by compare-and-swap.
Reading order: tables (the records, typed), fresh (reads that are surely the newest).
"""
