# SPDX-License-Identifier: Apache-2.0
"""Two servers on one PostgreSQL and one storage keep every promise, over HTTP."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple

import httpx
import psycopg
import pytest

from support.kept import every
from support.launcher import Launched, Launcher
from support.server import KEY_ID, KEY_SECRET

ADMIN = {
    "username": "admin",
    "key": {"access_key_id": KEY_ID, "secret_access_key": KEY_SECRET},
}
_numbers = count(1)


class Pair(NamedTuple):
    """Two servers, a client of each, and what each said when both were set up at once."""

    servers: tuple[Launched, Launched]
    folder: Path
    a: httpx.Client
    b: httpx.Client
    set_up: list[int]

    def create(self, client: httpx.Client, name: str) -> int:
        """Create a repository in a place of its own, and give the status."""
        place = f"local://{self.folder}/objects/{next(_numbers)}"
        told = {"name": name, "storage_namespace": place}
        return client.post("/repositories", json=told).status_code

    def at_once(self, ask: Callable[[httpx.Client], int]) -> list[int]:
        """Ask both at the same time; gives the statuses in order."""
        with ThreadPoolExecutor(2) as pool:
            return sorted(pool.map(ask, (self.a, self.b)))


def set_up(client: httpx.Client) -> int:
    return httpx.post(f"{client.base_url}setup_lakefs", json=ADMIN).status_code


@pytest.fixture(scope="module")
def pair(
    launcher: Launcher, postgres_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pair]:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE two_servers")
    folder: Path = tmp_path_factory.mktemp("two")
    shared = {
        "LOCHAN_KV": f"{postgres_url.rpartition('/')[0]}/two_servers",
        "LOCHAN_BLOCKSTORE_DEFAULT_NAMESPACE_PREFIX": f"local://{folder}/objects",
    }
    first = launcher.start(folder / "a", settings=shared)
    second = launcher.start(folder / "b", settings=shared)
    with (
        httpx.Client(base_url=first.api, auth=first.auth, timeout=60) as a,
        httpx.Client(base_url=second.api, auth=second.auth, timeout=60) as b,
    ):
        servers = Pair((first, second), folder, a, b, [])
        servers.set_up.extend(servers.at_once(set_up))
        yield servers
    assert [first.stop(), second.stop()] == [0, 0]


@pytest.fixture
def repository(pair: Pair) -> str:
    name = f"rep-{next(_numbers)}"
    assert pair.create(pair.a, name) == 201
    return f"/repositories/{name}"


def put(
    client: httpx.Client, repository: str, path: str, data: bytes, if_none_match: str = ""
) -> int:
    headers = {"content-type": "application/octet-stream"}
    if if_none_match:
        headers["if-none-match"] = if_none_match
    place = f"{repository}/branches/main/objects"
    return client.post(place, params={"path": path}, content=data, headers=headers).status_code


def commit(client: httpx.Client, repository: str, branch: str = "main") -> httpx.Response:
    told = {"message": "a change", "allow_empty": True}
    return insistent(lambda: client.post(f"{repository}/branches/{branch}/commits", json=told))


def insistent(ask: Callable[[], httpx.Response]) -> httpx.Response:
    """Ask again where others came first, or have staged what a merge must not step over."""
    for _ in range(200):
        answer = ask()
        if answer.is_success or answer.json()["code"] not in {"contended", "dirty-branch"}:
            break
    return answer


def test_rel_S28_set_up_works_once_for_both(pair: Pair) -> None:
    assert pair.set_up == [200, 409]


def test_rel_G1_what_one_acknowledged_the_other_reads(pair: Pair, repository: str) -> None:
    for number in range(20):
        writer, reader = (pair.a, pair.b) if number % 2 else (pair.b, pair.a)
        data = f"{number}".encode()
        assert put(writer, repository, "one-key", data) == 201
        found = reader.get(f"{repository}/refs/main/objects", params={"path": "one-key"})
        assert found.content == data


def test_rel_G7_G15_commits_and_merges_of_both_on_one_branch_all_land(
    pair: Pair, repository: str
) -> None:
    def work(worker: int) -> list[str]:
        client = (pair.a, pair.b)[worker % 2]
        side = {"name": f"side-{worker}", "source": "main"}
        assert client.post(f"{repository}/branches", json=side).status_code == 201
        place = f"{repository}/branches/side-{worker}/objects"
        client.post(place, params={"path": f"side/{worker}"}, content=b"s").raise_for_status()
        commit(client, repository, f"side-{worker}").raise_for_status()
        ids = []
        for number in range(4):
            assert put(client, repository, f"main/{worker}-{number}", b"m") == 201
            ids.append(commit(client, repository).raise_for_status().json()["id"])
        merge = f"{repository}/refs/side-{worker}/merge/main"
        merged = insistent(lambda: client.post(merge, json={})).raise_for_status()
        return [*ids, merged.json()["reference"]]

    with ThreadPoolExecutor(6) as pool:
        acknowledged = [one for ids in pool.map(work, range(6)) for one in ids]
    log = [one["id"] for one in every(pair.b, f"{repository}/refs/main/commits")]
    assert set(acknowledged) <= set(log)
    listed = {one["path"] for one in every(pair.a, f"{repository}/refs/{log[0]}/objects/ls")}
    expected = {f"main/{worker}-{number}" for worker in range(6) for number in range(4)}
    assert expected | {f"side/{worker}" for worker in range(6)} == listed


def test_rel_R1_of_two_that_create_one_repository_one_wins(pair: Pair) -> None:
    for number in range(5):
        assert pair.at_once(partial(pair.create, name=f"wanted-{number}")) == [201, 409]


def test_rel_H5_of_two_that_write_where_nothing_is_one_wins(pair: Pair, repository: str) -> None:
    for number in range(5):
        path = f"new/{number}"
        ask = partial(put, repository=repository, path=path, data=b"mine", if_none_match="*")
        assert pair.at_once(ask) == [201, 412]


def test_rel_R17_a_repository_deleted_on_one_takes_no_writes_on_the_other(
    pair: Pair, repository: str
) -> None:
    assert put(pair.b, repository, "before", b"x") == 201
    assert pair.a.delete(repository).status_code == 204
    assert put(pair.b, repository, "after", b"x") in {404, 410}
    assert commit(pair.b, repository).status_code in {404, 410}


def test_rel_H14_protection_set_on_one_binds_the_other_at_once(pair: Pair, repository: str) -> None:
    assert put(pair.b, repository, "before", b"x") == 201
    rules = f"{repository}/settings/branch_protection"
    assert pair.a.put(rules, json=[{"pattern": "main"}]).status_code == 204
    assert put(pair.b, repository, "after", b"x") == 403
    assert commit(pair.b, repository).status_code == 403


def test_rel_S33_credentials_revoked_on_one_are_dead_on_the_other_within_a_second(
    pair: Pair,
) -> None:
    assert pair.a.post("/auth/users", json={"id": "guest"}).status_code == 201
    pair.a.put("/auth/groups/Admins/members/guest").raise_for_status()
    made = pair.a.post("/auth/users/guest/credentials").raise_for_status().json()
    key = (made["access_key_id"], made["secret_access_key"])
    assert pair.b.get("/user", auth=key).status_code == 200
    assert pair.a.delete(f"/auth/users/guest/credentials/{key[0]}").status_code == 204
    dead_by = monotonic() + 1.0
    while monotonic() < dead_by and pair.b.get("/user", auth=key).status_code == 200:
        sleep(0.02)
    assert pair.b.get("/user", auth=key).status_code == 401
