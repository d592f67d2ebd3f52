# SPDX-License-Identifier: Apache-2.0
"""Which work there is: an input's parts, the datums they make, and which of them must run.

Work is proportional to what changed: trees are compared, not listed, and what any job ever computed
is remembered. `plan` is the story.
"""
