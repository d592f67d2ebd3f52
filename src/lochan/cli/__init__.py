# SPDX-License-Identifier: Apache-2.0
"""The command `lochan`: what a person or a script types, and what it answers.

    app         the program: global options, and from the first word to its command
    commands    every first word, the module that has it, and its line in --help
    verb        how a function becomes a command, with --json and a `Show`
    show        results: tables and lines for people, JSON for programs
    progress    bars for long work: bytes, rates, time left
    failing     errors as one line on stderr, and the exit codes
    on_lake     commands that are given an open lake: a folder's, or the one behind a server
    address     what people type for a repository, ref or object
    options     options that several commands take
    shown       how refs, commits and changes look
    files, transfers    files of this machine, and many of them at the same time

Results go to stdout, everything else to stderr. A command's function is given a `Show`, does its
work by one call into the parts below, and shows what came of it; errors are raised and end in
`failing`. Each module with commands holds one `app`, named in `commands`.
"""
