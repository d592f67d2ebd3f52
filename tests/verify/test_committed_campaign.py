# SPDX-License-Identifier: Apache-2.0
"""The properties of the committed tree with many more examples, on both kernels."""

import pytest

from support.tree_runs import run_tree_tests

pytestmark = pytest.mark.beside_others


@pytest.mark.campaign
@pytest.mark.parametrize(("kernel", "scale"), [("native", 40), ("twin", 3)])
def test_the_tree_stands_after_many_more_examples(kernel: str, scale: float) -> None:
    print(run_tree_tests(kernel, scale))
