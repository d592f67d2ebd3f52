# SPDX-License-Identifier: Apache-2.0
"""Uncommitted writes: rows under staging tokens, and how tokens follow each other.

Reading order: area (rows of one token), sealed (which tokens are left to commit), layers (what of
their rows shows), fold (several tokens as one list of changes). Invariant: a sealed token may still
receive late writes that no commit will hold and that nobody was promised; what a sealed token holds
is never a reason not to write (reliability hole H4).
"""
