# SPDX-License-Identifier: Apache-2.0
"""The verbs of seed 002: commits that are started and finished, files that grow by appending.

    start_commit    put_file      inspect_file    merge_commits
    finish_commit   delete_file   get_file        history
    cancel_commit   link_file     diffs           inspect_commit, list_commit
                    list_file

A started commit has an id of its own and a private staging token; nobody sees it but by that id. It
gets its clock and its hash when it is finished, by the compare-and-swap that moves its branch: so
two of them never get one clock, nothing must be given back after a crash, and a commit that is
never finished is in nobody's way.

What a file is made of is a list of blocks, and its *epoch*: the clock of the commit that created it
from nothing. While the epoch is the same, the blocks of a commit are those of its parent and more,
but for reverts and merges that prefer one side; so "what came since that commit" takes two
look-ups, however long history is. The seed's Diff rows are computed from two trees (`diffs`).

Reading order: file_change (what a commit does to a file), file_view (what a commit shows), slot and
start_commit, writing and put_file, file_tree and land, finish_commit; alignment,
three_way and brought (what a commit did, done to another version), merge_commits.
"""
