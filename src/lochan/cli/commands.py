# SPDX-License-Identifier: Apache-2.0
"""Every first word of the command line: its module, and its line in the help.

A module is imported when its word is typed and no sooner: with all of them `lochan --help` took
0.6 s of processor time, most of it for the server that it does not start. This is the way of
`lochan.plugins`, not an import inside a function: names lead to modules in this one table, which
tests walk from end to end.
"""

from typing import NamedTuple

_SERVER = "Server"
_REFS = "Repositories and refs"
_HISTORY = "History"
_DATA = "Objects"
_PIPELINES = "Pipelines"
_USERS = "Users and settings"
_LAKE = "Care for a lake, beside its servers"
_OTHER = "Other"


class Word(NamedTuple):
    """A first word: `module`.app is the Typer application that takes the words after it.

    An application with one command, called like the word itself, is that command.
    """

    module: str
    help: str
    panel: str


WORDS = {
    "quickstart": Word("lochan.cli.quickstart", "Start a server to try things out on.", _SERVER),
    "serve": Word("lochan.cli.serve", "Serve a lake.", _SERVER),
    "setup": Word("lochan.cli.setup", "Make the first user of a lake.", _SERVER),
    "config": Word("lochan.cli.config", "Check and show settings.", _SERVER),
    "repo": Word("lochan.cli.repo", "Make, list and delete repositories.", _REFS),
    "branch": Word("lochan.cli.branch", "Make, list, reset and protect branches.", _REFS),
    "tag": Word("lochan.cli.tag", "Give commits names that they keep.", _REFS),
    "refs": Word("lochan.cli.refs", "Write all refs to files, and read them back.", _REFS),
    "gc": Word("lochan.cli.collect", "Say how long history is kept, and remove the rest.", _REFS),
    "commit": Word("lochan.cli.commit", "Commit what is staged on a branch.", _HISTORY),
    "log": Word("lochan.cli.log", "Show the commits that led to a ref.", _HISTORY),
    "show": Word("lochan.cli.show_commit", "Show a commit and what it changed.", _HISTORY),
    "diff": Word("lochan.cli.diff", "Show what changed.", _HISTORY),
    "merge": Word("lochan.cli.merge", "Bring what a ref changed to a branch.", _HISTORY),
    "revert": Word("lochan.cli.revert", "Undo a commit by a new one.", _HISTORY),
    "cherry-pick": Word("lochan.cli.cherry_pick", "Make a commit's changes here, too.", _HISTORY),
    "reset": Word("lochan.cli.reset", "Drop what is not committed.", _HISTORY),
    "merge-base": Word("lochan.cli.parted", "Show where two refs parted.", _HISTORY),
    "annotate": Word("lochan.cli.annotate", "Show who last changed each object.", _HISTORY),
    "fs": Word("lochan.cli.fs", "List, read, write, copy and delete objects.", _DATA),
    "import": Word("lochan.cli.imports", "Bring objects from elsewhere, uncopied.", _DATA),
    "export": Word("lochan.cli.export", "Write what a ref shows as plain files.", _DATA),
    "local": Word("lochan.cli.local", "Keep a folder of this machine and a branch alike.", _DATA),
    "pfs": Word("lochan.cli.pfs", "The verbs of 2016: commits that are started and filled.", _DATA),
    "spark": Word("lochan.cli.spark", "Run Spark on a lake: shell, script, cluster.", _DATA),
    "pipeline": Word("lochan.cli.pipeline", "Make pipelines, run them, see them.", _PIPELINES),
    "job": Word("lochan.cli.job", "Look at jobs, their datums and logs.", _PIPELINES),
    "provenance": Word("lochan.cli.provenance", "Show what made something.", _PIPELINES),
    "worker": Word("lochan.cli.worker", "Run the jobs of pipelines.", _PIPELINES),
    "auth": Word("lochan.cli.auth", "Users, groups, policies, credentials, login.", _USERS),
    "fsck": Word("lochan.cli.fsck", "Look for damage, and mend what can be.", _LAKE),
    "report": Word("lochan.cli.report", "Show how much storage refs hold.", _LAKE),
    "diagnose": Word("lochan.cli.diagnose", "Write a bundle for people who help.", _LAKE),
    "kv": Word("lochan.cli.kv", "Copy, save and restore the key-value store.", _LAKE),
    "completion": Word("lochan.cli.completion", "Let a shell complete commands.", _OTHER),
    "version": Word("lochan.cli.version", "Say which version this is.", _OTHER),
}
