# SPDX-License-Identifier: Apache-2.0
"""Run the machine of a whole lake so many times, and say what it did."""

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from support.lake_files import Lakes
from support.lake_ground import TestLakeGround

UNHURRIED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


def run_lakes(*, examples: int, steps: int) -> str:
    """Make so many lakes, each in so many steps. Raises the first difference from the model."""
    before = TestLakeGround.runs, TestLakeGround.steps_taken, TestLakeGround.commits_made
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=UNHURRIED,
    )
    run_state_machine_as_test(Lakes, settings=chosen)
    rules = len(Lakes().rules)
    runs, taken, commits = (
        now - then
        for now, then in zip(
            (TestLakeGround.runs, TestLakeGround.steps_taken, TestLakeGround.commits_made),
            before,
            strict=True,
        )
    )
    return f"V5: {rules} rules, {runs} lakes, {taken} steps, {commits} commits: none wrong"
