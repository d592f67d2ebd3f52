# SPDX-License-Identifier: Apache-2.0
"""What a server has acknowledged, and whether it is still there."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from lochan.bootstrap.lake import open_lake
from lochan.environment import RealEnvironment
from lochan.operations.findings import Kind
from lochan.operations.fsck import fsck
from lochan.operations.repair import repair
from lochan.refs.repositories import list_repositories
from support.flight import Answer, Request, commit
from support.launcher import Launched

LEFT_BY_A_CRASH = {Kind.MISSING_CLOCK_ROW, Kind.LEFT_REACH_ROW}


@contextmanager
def client_of(server: Launched) -> Iterator[httpx.Client]:
    """Open a client of the API that is the administrator."""
    with httpx.Client(base_url=server.api, auth=server.auth, timeout=60) as client:
        yield client


def new_repository(client: httpx.Client, lake: Path, name: str) -> None:
    """Make a repository in the lake's own folder."""
    told = {"name": name, "storage_namespace": f"local://{lake}/objects/{name}"}
    answer = client.post("/repositories", json=told)
    assert answer.status_code == 201, answer.text


def every(client: httpx.Client, path: str, **query: Any) -> Iterator[Any]:  # noqa: ANN401 - JSON
    """Give all results of a listing, page by page."""
    more = True
    while more:
        page = client.get(path, params={"amount": 1000, **query}).raise_for_status().json()
        yield from page["results"]
        more = page["pagination"]["has_more"]
        query["after"] = page["pagination"]["next_offset"]


class Kept:
    """Acknowledged writes to one repository: what must be there, whatever happens."""

    def __init__(self, repository: str) -> None:
        self.repository = repository
        self.objects: dict[tuple[str, str], bytes] = {}
        self.commits: dict[str, set[str]] = {}
        self.branches: set[str] = set()
        self.tags: set[str] = set()
        self.users: set[str] = set()

    def note(self, request: Request, answer: Answer | None) -> None:
        """Remember what was acknowledged."""
        if answer is None or answer.status != 201:
            return
        parts = request.path.partition("?")[0].split("/")
        match parts[3:]:
            case ["branches", branch, "objects"]:
                self.objects[branch, answer.json()["path"]] = request.body
            case ["branches", branch, "commits"]:
                self.commits.setdefault(branch, set()).add(answer.json()["id"])
            case ["branches"]:
                self.branches.add(json.loads(request.body)["name"])
            case ["tags"]:
                self.tags.add(json.loads(request.body)["id"])
            case []:
                self.users.add(json.loads(request.body)["id"])

    def __len__(self) -> int:
        """Count what was acknowledged."""
        commits = sum(map(len, self.commits.values()))
        named = len(self.branches) + len(self.tags) + len(self.users)
        return len(self.objects) + commits + named

    def require_all(self, client: httpx.Client) -> None:
        """Demand that everything is there, contents included."""
        place = f"/repositories/{self.repository}"
        for (branch, path), data in self.objects.items():
            found = client.get(f"{place}/refs/{branch}/objects", params={"path": path})
            assert found.status_code == 200, f"lost: {path} on {branch}: {found.text}"
            assert found.content == data, f"other bytes: {path} on {branch}"
        for branch, ids in self.commits.items():
            log = {one["id"] for one in every(client, f"{place}/refs/{branch}/commits")}
            assert ids <= log, f"lost commits of {branch}: {ids - log}"
        assert self.branches <= {one["id"] for one in every(client, f"{place}/branches")}
        assert self.tags <= {one["id"] for one in every(client, f"{place}/tags")}
        assert self.users <= {one["id"] for one in every(client, "/auth/users")}


def require_sound(lake: Path) -> None:
    """Demand that nothing is wrong with a lake that no server uses."""
    with open_lake(f"sqlite://{lake}/kv.db", RealEnvironment()) as opened:
        found = list(fsck(opened))
        assert not found, found


def require_sound_after_kill(lake: Path) -> None:
    """Demand that a server that was killed has left nothing but rows to be written by the next.

    Between the swap that moves a branch and the row that names the commit's place there is a
    moment; whoever needs the row writes it, and so does a repair.
    """
    with open_lake(f"sqlite://{lake}/kv.db", RealEnvironment()) as opened:
        found = [one for one in fsck(opened) if one.kind not in LEFT_BY_A_CRASH]
        assert not found, found
        for repository in list_repositories(opened.store):
            repair(opened, repository)
    require_sound(lake)


def mixed(repository: str, branch: str, tail: str, number: int) -> Request:
    """Give the request of this number: mostly writes of objects, some of all else."""
    place = f"/repositories/{repository}"
    name = f"n-{tail}-{number}"
    match number % 20:
        case 3:
            return commit(repository, branch, name)
        case 7:
            body = {"name": name, "source": branch}
            return Request("POST", f"{place}/branches", json.dumps(body).encode())
        case 11:
            body = {"id": name, "ref": branch}
            return Request("POST", f"{place}/tags", json.dumps(body).encode())
        case 15:
            return Request("POST", "/auth/users", json.dumps({"id": name}).encode())
        case 19:
            return Request("GET", f"{place}/refs/{branch}/objects/ls")
    path = f"{place}/branches/{branch}/objects?path={tail}/{number}"
    return Request("POST", path, f"{name} of {branch} ".encode() * 20, "application/octet-stream")
