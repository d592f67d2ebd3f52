# SPDX-License-Identifier: Apache-2.0
"""When jobs run: because a branch moved, a clock ticked, or somebody asked.

`scheduler` is the story: each turn compares heads with what was last decided on (`sweep`), decides
job sets, and starts drivers for what is ready.
"""
