# SPDX-License-Identifier: Apache-2.0
"""Answers without waiting: the same as the long way's, and never one that it would refuse."""

from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import msgspec
import pytest

from lochan.access.setup import setup
from lochan.bootstrap.lake import open_lake
from lochan.bootstrap.server import open_services
from lochan.config.server import Limits
from lochan.environment import RealEnvironment
from lochan.model.access import Statement
from lochan.model.ids import RepositoryId, StagingToken, valid_object_key
from lochan.model.records import Repository
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.delete_objects import delete_objects
from lochan.operations.lake import Lake
from lochan.operations.put_object import put_object
from lochan.operations.repositories import delete_repository
from lochan.refs.repositories import get_repository
from lochan.web.application import PREFIX, new_application
from lochan.web.at_once import Answer
from support.lakes import MAIN
from support.web import Api, settings_in

REQUEST_ID = "asked-by-a-test"
KEY = "a/b ü.csv"


class StoppedClock(RealEnvironment):
    """An environment in which time passes when a test says so."""

    def __init__(self) -> None:
        self.at = 1000.0

    def monotonic(self) -> float:
        return self.at


class Asked:
    """One lake with an object in a commit, asked the long way and the short one."""

    def __init__(self, api: Api, clock: StoppedClock) -> None:
        self.api, self.clock = api, clock
        self.told = new_application(api.services)
        told = {"name": "lake", "storage_namespace": "local://lake"}
        api.post("/repositories", json=told)
        branch = "/repositories/lake/branches/main"
        headers = {"content-type": "text/csv", "x-lakefs-meta-kind": "small"}
        api.post(f"{branch}/objects", params={"path": "a/b ü.csv"}, body=b"1,2\n", headers=headers)
        api.post(f"{branch}/objects", params={"path": "large"}, body=bytes(65_537))
        self.commit = api.post(f"{branch}/commits", json={"message": "one"}).json["id"]

    def path(self, what: str = "/stat", ref: str = "") -> str:
        return f"/repositories/lake/refs/{ref or self.commit}/objects{what}"

    def long(self, path: str, /, *, api: Api | None = None, **query: str) -> Answer:
        found = (api or self.api).get(path, params=query, headers={"x-request-id": REQUEST_ID})
        return Answer(found.status_code, sorted(found.headers.items()), found.content)

    def short(self, path: str, /, *, api: Api | None = None, **query: str) -> Answer | None:
        return self.raw(path, urlencode(query), [("authorization", basic(api or self.api))])

    def raw(self, path: str, query: str, headers: list[tuple[str, str]]) -> Answer | None:
        headers = [*headers, ("x-request-id", REQUEST_ID)]
        found = self.told.at_once(PREFIX + path, query, headers)
        found = found() if callable(found) else found
        return found and Answer(found.status, sorted(found.headers), found.body)

    @contextmanager
    def another_process(self) -> Iterator["Another"]:
        store = f"sqlite://{self.api.services.settings.lake}/kv.db"
        with open_lake(store, RealEnvironment()) as lake:
            yield Another(lake, get_repository(lake.store, lake.environment, RepositoryId("lake")))


class Another:
    """Somebody else with the same lake."""

    def __init__(self, lake: Lake, repository: Repository) -> None:
        self.lake, self.repository = lake, repository
        self.key = valid_object_key(KEY)

    def put(self, body: bytes) -> None:
        put_object(self.lake, self.repository, MAIN, self.key, [body])

    def delete(self) -> None:
        delete_objects(self.lake, self.repository, MAIN, [self.key])

    def commit(self) -> None:
        commit(self.lake, self.repository, MAIN, CommitRequest("other", "more"))

    def seal(self) -> None:
        branches = self.lake.tables(self.repository).branches
        old = branches.get(MAIN.encode()).record
        sealed = msgspec.structs.replace(
            old,
            staging_token=StagingToken("next"),
            sealed_tokens=(old.staging_token, *old.sealed_tokens),
        )
        branches.set(MAIN.encode(), sealed)

    def delete_repository(self) -> None:
        delete_repository(self.lake, self.repository)


def basic(api: Api) -> str:
    assert api.credential is not None
    pair = f"{api.credential.access_key_id}:{api.credential.secret_access_key}"
    return "Basic " + b64encode(pair.encode()).decode()


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Asked]:
    clock, workers = StoppedClock(), tmp_path / "workers"
    workers.mkdir()
    limits = Limits(requests_per_second=1000)
    with open_services(settings_in(tmp_path, limits=limits), clock, workers) as services:
        yield Asked(Api(services, setup(services.access, "admin")), clock)


@pytest.mark.parametrize("query", [{}, {"user_metadata": "false"}, {"presign": "false"}])
@pytest.mark.parametrize("what", ["/stat", ""])
def test_the_short_way_says_what_the_long_way_says(
    asked: Asked, what: str, query: dict[str, str]
) -> None:
    query = {"path": "a/b ü.csv"} | (query if what else {})
    long = asked.long(asked.path(what), api=None, **query)
    assert long.status == 200
    assert asked.short(asked.path(what), api=None, **query) == long


def test_what_is_not_plain_goes_the_long_way(asked: Asked) -> None:
    for path in (asked.path(), asked.path(""), asked.path(ref="main~0"), asked.path(ref="main@")):
        asked.long(path, path="a/b ü.csv")
    asked.long(asked.path(""), path="large")
    assert asked.short(asked.path(), path="a/b ü.csv") is not None
    assert asked.short(asked.path(ref="main~0"), path="a/b ü.csv") is None
    assert asked.short(asked.path(ref="main@"), path="a/b ü.csv") is None
    assert asked.short(asked.path(), path="a/b ü.csv", presign="true") is None
    assert asked.short(asked.path(), path="not there") is None
    assert asked.short(asked.path(), path="") is None
    assert asked.short(asked.path(), path="a", amount="5", user_metadata="neither") is None
    assert asked.short(asked.path(""), path="large") is None
    assert asked.short(asked.path(ref="0" * 64), path="a/b ü.csv") is None


@pytest.mark.parametrize("what", ["/stat", ""])
def test_a_branch_is_read_again_each_time(asked: Asked, what: str) -> None:
    path = asked.path(what, ref="main")
    committed = asked.long(path, path=KEY)
    assert asked.short(path, path=KEY) == committed
    with asked.another_process() as other:
        other.put(b"3,4\n")
        staged = asked.short(path, path=KEY)
        assert staged == asked.long(path, path=KEY) != committed
        other.delete()
        assert asked.short(path, path=KEY) is None
        assert asked.long(path, path=KEY).status == 404
        other.put(b"5,6\n")
        other.commit()
        assert asked.short(path, path=KEY) is None  # the branch is another one, and not seen yet
        after = asked.long(path, path=KEY)
        assert after.status == 200
        assert asked.short(path, path=KEY) == after


def test_a_branch_of_a_deleted_repository_is_not_answered_for(asked: Asked) -> None:
    path = asked.path(ref="main")
    asked.long(path, path=KEY)
    assert asked.short(path, path=KEY) is not None
    with asked.another_process() as other:
        other.delete_repository()
    assert asked.short(path, path=KEY) is None


def test_what_is_being_committed_takes_the_long_way(asked: Asked) -> None:
    path = asked.path(ref="main")
    with asked.another_process() as other:
        other.put(b"3,4\n")
        other.seal()
        assert asked.long(path, path=KEY).status == 200
        assert asked.short(path, path=KEY) is None


@pytest.mark.parametrize("name", ["range", "if-none-match", "if-range", "authorization"])
def test_conditions_and_headers_said_twice_go_the_long_way(asked: Asked, name: str) -> None:
    asked.long(asked.path(""), path="a/b ü.csv")
    query = urlencode({"path": "a/b ü.csv"})
    known = ("authorization", basic(asked.api))
    assert asked.raw(asked.path(""), query, [known]) is not None
    assert asked.raw(asked.path(""), query, [known, (name, "bytes=0-1")]) is None


def test_rel_S16_nobody_is_answered_who_may_not_read(asked: Asked) -> None:
    bound = Statement("allow", ("fs:ReadObject",), "arn:lakefs:fs:::repository/lake/object/other*")
    bob = asked.api.user("bob", bound)
    for api in (asked.api, bob):
        asked.long(asked.path(), api=api, path="a/b ü.csv")
    assert asked.short(asked.path(), path="a/b ü.csv") is not None
    assert asked.short(asked.path(), api=bob, path="a/b ü.csv") is None
    query, name = urlencode({"path": "a/b ü.csv"}), asked.api.credential
    assert name is not None
    wrong = b64encode(f"{name.access_key_id}:wrong".encode()).decode()
    for headers in ([], [("authorization", f"Basic {wrong}")], [("authorization", "Bearer x")]):
        assert asked.raw(asked.path(), query, headers) is None


def test_what_was_remembered_for_a_second_is_read_again(asked: Asked) -> None:
    asked.long(asked.path(), path="a/b ü.csv")
    asked.clock.at += 0.9
    assert asked.short(asked.path(), path="a/b ü.csv") is not None
    asked.clock.at += 0.2
    assert asked.short(asked.path(), path="a/b ü.csv") is None


def test_rel_S18_a_user_at_its_rate_gets_429_by_the_long_way(asked: Asked) -> None:
    asked.long(asked.path(), path="a/b ü.csv")
    answers = [asked.short(asked.path(), path="a/b ü.csv") for _ in range(1001)]
    assert answers[0] is not None
    assert answers[-1] is None
    assert asked.long(asked.path(), path="a/b ü.csv").status == 429


def test_it_is_written_down_like_any_other(asked: Asked) -> None:
    asked.long(asked.path(), path="a/b ü.csv")
    asked.short(asked.path(), path="a/b ü.csv")
    services = asked.api.services
    services.requests.flush()
    lines = (services.settings.lake / "log").read_text().splitlines()
    long, short = (line.partition('"request_id"')[2] for line in lines[-2:])
    assert long.partition('"ms"')[0] == short.partition('"ms"')[0]
    assert long.partition('"bytes"')[2] == short.partition('"bytes"')[2]
    numbers = services.metrics.numbers()["api_request_duration_seconds"]
    counts = {labels: sum(found[:-1]) for labels, found in numbers}
    assert counts["statObject", "GET", "200"] == 2
