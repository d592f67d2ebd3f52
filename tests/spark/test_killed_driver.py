# SPDX-License-Identifier: Apache-2.0
"""A driver that dies at any of its requests: the branch shows all of a write, or none of it."""

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import lochan.spark
from lochan.cli.app import run
from lochan.client import Lake, Repository


class Killed(BaseException):
    """The process is no more."""


class Dying:
    """A transport whose process dies at one request: before it is sent, or behind its effect."""

    def __init__(self, within: object, lives: int, *, behind: bool) -> None:
        self._within = within
        self._left = lives
        self._behind = behind

    def __getattr__(self, name: str) -> object:
        found = getattr(self._within, name)
        if name not in {"call", "send", "upload", "download"}:
            return found

        def ask(*words: object, **named: object) -> object:
            self._left -= 1
            if self._left < 0 or (self._left == 0 and not self._behind):
                raise Killed
            answer = found(*words, **named)
            if self._left == 0:
                raise Killed
            return answer

        return ask


def hidden(repository: Repository) -> list[str]:
    """Name the private branches of jobs that are gone."""
    every = {one.id for one in repository.branches(show_hidden=True)}
    return sorted(every - {one.id for one in repository.branches()})


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> DataFrame:
    return spark.range(0, 30, 1, 3)


@pytest.mark.parametrize("behind", [False, True])
def test_rel_V14_a_driver_that_is_killed_at_any_step_leaves_all_or_nothing(
    spark: SparkSession, lake: Lake, repository: Repository, frame: DataFrame, *, behind: bool
) -> None:
    outcomes = []
    for lives in range(1, 100):
        branch = repository.branch(f"b{lives}").create("main")
        dying: Any = Dying(lake.transport, lives, behind=behind)
        try:
            lochan.spark.write(frame, f"{branch.uri}/t", lake=Lake(dying, name=lake.name))
        except Killed:
            files = len(list(branch.objects("t/")))
            outcomes.append(files)
            assert list(branch.uncommitted()) == []
            continue
        break

    assert set(outcomes) == {0, 3}
    assert outcomes == sorted(outcomes)
    assert lochan.spark.read(spark, f"{branch.uri}/t").count() == 30
    assert len(hidden(repository)) > 1
    assert run(["gc", "run", repository.id, "--lake", lake.name, "--idle-days", "0"]) == 0
    assert hidden(repository) == []
