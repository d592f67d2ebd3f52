# SPDX-License-Identifier: Apache-2.0
"""The machine of a whole lake, for every change and by night (V5)."""

import pytest

from support.lake_runs import run_lakes

pytestmark = [pytest.mark.beside_others, pytest.mark.by_imports]


@pytest.mark.ci_campaign
def test_rel_V5_a_lake_is_its_dictionary_in_more_and_longer_runs() -> None:
    print(run_lakes(examples=300, steps=50))


@pytest.mark.campaign
def test_rel_V5_a_lake_is_its_dictionary_in_very_many_runs() -> None:
    print(run_lakes(examples=5_000, steps=80))
