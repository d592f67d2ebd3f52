# SPDX-License-Identifier: Apache-2.0
"""Join the parts: the only place where stores, stories, server and client meet.

    lake         a lake from the url of its key-value store
    server       the web application over a lake: what one worker holds
    process      the processes that serve it
    background   what they do beside answering
    embedded     a lake in this process, `lochan.open`
    connected    a lake behind a server, `lochan.connect`
    secret_key   the secret of a lake in a folder

Nothing is imported here: who connects to a server needs no stores.
"""
