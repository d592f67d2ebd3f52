# SPDX-License-Identifier: Apache-2.0
"""Who may do what: users, groups, policies, credentials and logins on the key-value store.

    access           what every function here is given: store, environment, keys, memory
    users, groups, policies, credentials       the things themselves
    memberships, attachments                   what joins them
    entities, rows, paging                     how things begin and end, are joined, are listed
    setup, builtin                             the first user; groups and policies of a new lake
    authenticate, login, limit                 who is asking
    principal, effective, decide               what they may do
    needed, actions, arn                       what a request needs
    keyring, rotate                            secrets at rest

Formats and promises: docs/formats/access.md.
"""
