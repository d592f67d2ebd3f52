# SPDX-License-Identifier: Apache-2.0
"""The committed tree stands on either kernel. The other tests use the one that was chosen."""

from support.tree_runs import run_tree_tests


def test_the_tree_stands_on_the_twin() -> None:
    print(run_tree_tests("twin", scale=0.1))
