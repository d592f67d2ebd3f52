# SPDX-License-Identifier: Apache-2.0
"""Every first word of the command line: its module, and its line in the help.

A module is imported when its word is typed and no sooner: with all of them `lochan --help` took
0.6 s of processor time, most of it for the server that it does not start. This is the way of
`lochan.plugins`, not an import inside a function: names lead to modules in this one table, which
tests walk from end to end.
"""

from typing import NamedTuple

_SERVER = "Server"
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
    "fsck": Word("lochan.cli.fsck", "Look for damage, and mend what can be.", _LAKE),
    "diagnose": Word("lochan.cli.diagnose", "Write a bundle for people who help.", _LAKE),
    "kv": Word("lochan.cli.kv", "Copy, save and restore the key-value store.", _LAKE),
    "completion": Word("lochan.cli.completion", "Let a shell complete commands.", _OTHER),
    "version": Word("lochan.cli.version", "Say which version this is.", _OTHER),
}
