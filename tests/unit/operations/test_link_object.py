# SPDX-License-Identifier: Apache-2.0
"""Objects uploaded past Lochan and linked: which addresses, until when, and which objects."""

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput, LochanError, NotFound, PredicateFailed, Refused
from lochan.faults import Fault
from lochan.model.entry import AddressType, Entry
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.instant import Instant
from lochan.objects.drivers.memory import MemoryObjects
from lochan.operations.conditions import if_absent
from lochan.operations.lake import Lake
from lochan.operations.link_object import (
    CLOCK_SKEW_S,
    LINK_EXPIRY_S,
    Uploaded,
    link_object,
    new_address,
)
from support.branch_content import FAULTS, WORLD, content, fail_each_call, with_stores
from support.lakes import MAIN, Stage, open_stage

KEY = ObjectKey(b"a.csv.gz")


class Later(RealEnvironment):
    """The same world, some seconds later."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def now(self) -> float:
        return super().now() + self._seconds


def upload(stage: Stage, body: bytes = b"body") -> str:
    address = new_address(stage.lake, stage.repository, MAIN, KEY).address
    stage.storage.objects.put(address, body)
    return address


def link(stage: Stage, address: str, size: int = 4, **options: object) -> Entry:
    uploaded = Uploaded(address, size, '"abc"', metadata={"a": "b"})
    return link_object(stage.lake, stage.repository, MAIN, KEY, uploaded, **options)  # type: ignore[arg-type]


def later(stage: Stage, seconds: float) -> Stage:
    lake = Lake.of(stage.lake.store, Later(seconds), stage.lake.storage)
    return Stage(lake, stage.repository, stage.storage)


def test_an_uploaded_object_is_linked_by_either_form_of_its_address() -> None:
    stage = open_stage()
    given = new_address(stage.lake, stage.repository, MAIN, KEY)
    assert given.physical_address == f"{stage.repository.storage_namespace}/{given.address}"
    assert given.address.endswith(".csv.gz")
    stage.storage.objects.put(given.address, b"body")
    for address in given:
        made = link(stage, address)
        assert (made.address, made.address_type) == (given.address, AddressType.RELATIVE)
        assert (made.e_tag, made.metadata) == ("abc", {"a": "b"})
    assert content(stage) == {KEY: b"body"}


def test_the_time_of_the_object_may_be_said() -> None:
    stage = open_stage()
    uploaded = Uploaded(upload(stage), 4, "abc", last_modified=Instant(7))
    made = link_object(stage.lake, stage.repository, MAIN, KEY, uploaded)
    assert made.last_modified == 7


def code_of(stage: Stage, address: str, size: int = 4) -> str:
    with pytest.raises(LochanError) as told:
        link(stage, address, size)
    assert content(stage) == {}
    return told.value.code


def test_an_address_is_good_for_a_day_and_not_before_its_time() -> None:
    stage = open_stage()
    address = upload(stage)
    assert code_of(later(stage, LINK_EXPIRY_S + 60), address) == "link-expired"
    assert code_of(later(stage, -CLOCK_SKEW_S - 60), address) == "link-invalid"
    for seconds in (LINK_EXPIRY_S - 60, 60 - CLOCK_SKEW_S):
        link(later(stage, seconds), address)


@pytest.mark.parametrize(
    "address", ["_lakefs/abc", "data/1/2", "a", "", "_work/uploads/1", "data/", "../data/1/2"]
)
def test_other_places_of_the_namespace_are_refused(address: str) -> None:
    stage = open_stage()
    assert code_of(stage, address) == "link-invalid"
    assert (
        code_of(stage, f"{stage.repository.storage_namespace}/{address or 'x'}") == "link-invalid"
    )


def test_what_is_absent_or_of_another_size_is_refused() -> None:
    stage = open_stage()
    fresh = new_address(stage.lake, stage.repository, MAIN, KEY).address
    assert code_of(stage, fresh) == "link-missing"
    assert code_of(stage, upload(stage), 5) == "link-size"


def test_addresses_elsewhere_are_linked_only_where_it_is_allowed() -> None:
    bucket = MemoryObjects(WORLD)
    bucket.put("raw/a", b"body")
    stage = with_stores(open_stage(), {"s3://bucket": bucket})
    with pytest.raises(Refused, match="outside of the repository's namespace"):
        link(stage, "s3://bucket/raw/a")
    made = link(stage, "s3://bucket/raw/a", allow_foreign=True)
    assert (made.address_type, content(stage)) == (AddressType.FULL, {KEY: b"body"})
    with pytest.raises(NotFound, match="nothing was uploaded"):
        link(stage, "s3://bucket/raw/b", allow_foreign=True)
    with pytest.raises(InvalidInput, match="no driver opens"):
        link(stage, "s3://other/raw/a", allow_foreign=True)


def test_a_link_may_be_conditional() -> None:
    stage = open_stage()
    first, second = upload(stage), upload(stage)
    link(stage, first, condition=if_absent)
    with pytest.raises(PredicateFailed):
        link(stage, second, condition=if_absent)


def test_a_branch_that_is_not_there_gets_no_address() -> None:
    stage = open_stage()
    with pytest.raises(NotFound, match="no branch"):
        new_address(stage.lake, stage.repository, BranchName("nobody"), KEY)


@pytest.mark.parametrize("fault", FAULTS)
def test_rel_G7_a_link_is_whole_or_absent_whatever_fails(fault: Fault) -> None:
    addresses: list[str] = []

    def check(stage: Stage, answered: bool) -> None:  # noqa: FBT001 - told by fail_each_call
        assert content(stage) in ({KEY: b"body"}, *([] if answered else [{}]))

    done = fail_each_call(
        fault,
        lambda stage: addresses.append(upload(stage)),
        lambda stage: link(stage, addresses[-1]),
        check,
    )
    assert done > 3
