# SPDX-License-Identifier: Apache-2.0
"""The stories: what a user of a lake does, one file a verb, read from top to bottom.

A story takes a `Lake` and a repository, which it keeps for its whole length, and plain arguments.
What it must get right against others is written where it does so, with the number of the property
or hole (G.., H..) that asks for it; docs/guarantees.md has the list.

Reading order: lake (what a story is given), branch_reads (the branch, surely fresh), stage (the
writer's protocol), view (the reader's), reference (what a ref shows), then the verbs; those of seed
002 are in `open_commits`.
"""
