# SPDX-License-Identifier: Apache-2.0
"""`lochan local`: a folder of this machine and a prefix of a branch, kept alike.

A linked folder knows where it belongs and at which commit it was last alike (`link`). What was
changed here is found by comparing its files with that commit, by size and time first and by
checksum only then (`index`, `changes`).

    pull        brings what the branch changed; a file that was changed here, too, and otherwise, is
                a conflict: nothing is done, but with --force, which takes the branch's
    commit      makes the folder's changes on a hidden branch at the folder's commit, and merges it:
                one new commit of the branch, or a conflict that leaves everything as it was
    checkout    makes the folder what a ref is, and refuses to lose changes, but with --force

No file is replaced or deleted here that was changed and is not committed, unless --force says so,
nor one that changes while the command works. A file that only its time tells from a commit counts
as equal if its MD5 is the object's checksum; that of an object which was imported or uploaded in
parts may be something else, and then such a file counts as changed.
"""

from lochan.cli.local import checkout, clone, commit, pull, status
from lochan.cli.verb import new_app

app = new_app("Keep a folder of this machine and a prefix of a branch alike.")
for part in (clone, status, pull, commit, checkout):
    app.add_typer(part.app)
