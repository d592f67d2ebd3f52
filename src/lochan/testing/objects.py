# SPDX-License-Identifier: Apache-2.0
"""The conformance suite of the object seam: the promises of `lochan.objects.store`, as tests.

A driver counts when this passes against its real server:

    class TestMyObjects(SharedObjectStoreConformance):
        keeps_any_address = False

        @pytest.fixture
        def location(self): return "mystore://..."       # a namespace that no other test uses

Stores that only this process can see inherit `ObjectStoreConformance` and supply a fixture `store`
instead. What a store may differ in is said by the attributes of `Given`.
"""

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from typing import cast

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from lochan.objects.store import ObjectStore
from lochan.testing.objects_given import ENVIRONMENT, Given, increment, opened
from lochan.testing.objects_lists import ListConformance
from lochan.testing.objects_machine import ObjectMachine
from lochan.testing.objects_process import compete
from lochan.testing.objects_puts import (
    ConditionalConformance,
    IncompleteConformance,
    PutConformance,
    RemovalConformance,
)
from lochan.testing.objects_reads import DoorConformance, GetConformance
from lochan.testing.objects_uploads import UploadConformance

__all__ = ["ENVIRONMENT", "ObjectStoreConformance", "SharedObjectStoreConformance", "opened"]


class ModelConformance(Given):
    """Everything at once against a model."""

    def test_any_sequence_of_operations_does_what_a_dictionary_would(
        self, store: ObjectStore
    ) -> None:
        if not self.keeps_any_address:
            pytest.skip("the store does not keep all of the machine's addresses apart")
        run_state_machine_as_test(
            cast("type[ObjectMachine]", partial(ObjectMachine, store)),  # it is only called
            settings=settings(
                max_examples=15,
                stateful_step_count=30,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            ),
        )


class ObjectStoreConformance(
    PutConformance,
    IncompleteConformance,
    ConditionalConformance,
    RemovalConformance,
    GetConformance,
    DoorConformance,
    ListConformance,
    UploadConformance,
    ModelConformance,
):
    """The suite for any store."""


class SharedObjectStoreConformance(ObjectStoreConformance):
    """The suite for stores that several processes use at once; needs a fixture `location`."""

    @pytest.fixture
    def store(self, location: str) -> Iterator[ObjectStore]:
        """The store under test."""
        yield from opened(location)

    @pytest.fixture
    def other(self, location: str) -> Iterator[ObjectStore]:
        """The same namespace, opened once more."""
        yield from opened(location)

    def test_processes_that_compete_have_one_winner_and_lose_nothing(
        self, store: ObjectStore, location: str
    ) -> None:
        times = 20
        store.put("data/race/counter", b"0")
        command = [sys.executable, "-m", "lochan.testing.objects_process", location]
        others = [
            subprocess.Popen(  # noqa: S603 - ourselves
                [*command, f"{number}", f"{times}"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for number in range(2)
        ]
        for other in others:
            assert other.stdin
            other.stdin.write("go\n")
            other.stdin.flush()
        won = compete(store, "here", times)
        increment(store, "data/race/counter", times)
        for other in others:
            won += map(int, other.communicate(timeout=60)[0].split())
            assert other.returncode == 0
        assert sorted(won) == list(range(times))
        assert store.get("data/race/counter").read() == b"%d" % (3 * times)
