# SPDX-License-Identifier: Apache-2.0
"""A whole lake in any order of everything that can be done to it, beside dictionaries (V5).

The rules are in tests/support: lake_writes, lake_moves, lake_files; what must be so after each step
is in lake_ground, and the model in lake_model.
"""

from support.lake_runs import run_lakes


def test_rel_V5_rel_G14_a_lake_is_its_dictionary_after_every_step() -> None:
    print(run_lakes(examples=60, steps=40))
