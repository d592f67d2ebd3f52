# SPDX-License-Identifier: Apache-2.0
"""Typed settings of the server and of the clients, from arguments, environment and files.

One rule names a setting everywhere. Its key is its path in the file, `auth.encrypt.secret_key`; its
variable is the same path in capitals behind LOCHAN_, LOCHAN_AUTH_ENCRYPT_SECRET_KEY. A key or
variable that no type names is refused, with the names nearest to it.

    server       what a server may be told, as types
    client       what a client may be told, and lakectl's file and variables
    leaf         one setting: its key, variable, type, default and meaning
    values       the types of single settings: addresses, sizes, locations
    secret       a text that is never shown
    gather       sources become a typed object, or findings that say what to write
    check        what types cannot say: settings that do not go together
    read         the settings of this process
    show         settings as text, without what is secret
    surroundings the one reader of the environment variables
"""
