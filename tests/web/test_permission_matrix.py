# SPDX-License-Identifier: Apache-2.0
"""Every route against every single permission: what lets whom through, as one page to review.

The page is tests/golden/permissions.txt. After a change that is meant, write it anew with

    LOCHAN_WRITE_GOLDEN=1 pytest tests/web/test_permission_matrix.py

and read the difference. `a | b`: each of the two is enough; `a + b`: both are needed. Somebody was
let through who was not refused: what is then not found, or wrong, does not matter. A route that
judges each thing that it finds lets everybody in and shows less: `shows what ... allows`.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import falcon.testing
import pytest

from lochan.access.actions import ACTIONS
from lochan.access.decide import ALLOW, rules
from lochan.access.principal import Principal
from lochan.errors import Internal
from lochan.model.access import Statement
from lochan.model.ids import UniqueIdentifier
from lochan.web import token
from lochan.web.api import ROUTES
from lochan.web.application import PREFIX
from lochan.web.authenticate import PRINCIPAL
from lochan.web.check_routes import check_routes
from lochan.web.edges import edges
from lochan.web.hdfs import OPERATIONS
from lochan.web.needs import ANYBODY, SIGNED_IN, Each, Need, Open, names_of
from lochan.web.route import NOTHING, Route, Routes
from support.sample_requests import SampleRequest, accepts, sample_request
from support.web import Api, open_api
from support.web_pipelines import drive, said
from support.web_tasks import commit, put

GOLDEN = Path(__file__).parent.parent / "golden" / "permissions.txt"

# Whoever adds to this list lets the whole world in: lakeFS's own, health, and signed addresses.
OPEN_TO_ANYBODY = {
    "GET /",
    "GET /_health",
    "GET /docs",
    "GET /docs/{file}",
    "GET /livez",
    "GET /openapi.json",
    "GET /readyz",
    "POST /oauth2/token",
    "GET /api/v1/auth/capabilities",
    "POST /api/v1/auth/external/principal/login",
    "POST /api/v1/auth/login",
    "GET /api/v1/healthcheck",
    "GET /api/v1/repositories/{repository}/presigned",
    "PUT /api/v1/repositories/{repository}/presigned",
    "POST /api/v1/setup_comm_prefs",
    "GET /api/v1/setup_lakefs",
    "POST /api/v1/setup_lakefs",
    "POST /api/v1/sts/login",
}
PIPELINE = """\
pipeline: count
input: {repo: {name: text, repo: lake, glob: "/*"}}
transform: {files: "steps:count"}
output: {repo: lake, branch: counts}
"""
# What is there, by the names of path parameters; what has an id of its own is added when made.
FOUND = {"repository": "lake", "pipeline": "count"}
OUTSIDE = (*edges(lambda: b"{}"), *token.ROUTES, *(one.route for one in OPERATIONS))
PLACES = [*((PREFIX, route) for route in ROUTES), *(("", route) for route in OUTSIDE)]


def name_of(prefix: str, route: Route) -> str:
    op = operation_of(route)
    return f"{route.method} {prefix}{route.path}" + (f"?op={op}" if op else "")


def operation_of(route: Route) -> str:
    """Name the operation of a route that shares its address with others."""
    return route.operation_id.removeprefix("webhdfs") if route.tag == "webhdfs" else ""


def holder(*actions: str) -> Principal:
    """Give somebody who may do these to everything, and nothing else."""
    said = (Statement(ALLOW, actions, "*"),) if actions else ()
    return Principal("somebody", UniqueIdentifier("u1"), rules(said, "somebody"))


ALONE = {action: holder(action) for action in sorted(ACTIONS)}


class Door:
    """One route, and who gets through."""

    def __init__(self, api: Api, prefix: str, route: Route) -> None:
        self.api, self.prefix, self.route = api, prefix, route
        # What judges by itself what it finds must find something; others must change nothing.
        there = FOUND if isinstance(route.needs, Each) else {"repository": "no-such-lake"}
        names = {"partNumber": "1", "file": "docs.js", **there}
        self.request: SampleRequest = sample_request(route, names)
        if op := operation_of(route):
            self.request.params["op"] = op

    def fresh(self) -> dict[str, Any]:
        """Give what to send; what can be done once to a thing has a new one each time."""
        match self.route.operation_id:
            case "finishCommit" | "cancelCommit":
                opened = self.answer_to("POST", "/repositories/lake/pfs/start-commit", holder("*"))
                return {"json": {"id": opened.json["id"]}}
            case "mergeCommits":
                return {"json": {"from_commits": ["main"], "branch": "main"}}
            case "createPipeline" | "updatePipeline" | "checkPipeline":
                return {"json": said(PIPELINE)}
        return self.request.sent()

    def answer(self, who: Principal | None) -> falcon.testing.Result:
        return self.answer_to(self.route.method, self.request.path, who, **self.fresh())

    def answer_to(
        self,
        method: str,
        path: str,
        who: Principal | None,
        **sent: Any,  # noqa: ANN401 - Falcon's
    ) -> falcon.testing.Result:
        extras = {} if who is None else {PRINCIPAL: who}
        return self.api.ask(method, path, prefix=self.prefix, extras=extras, **sent)

    def opens(self, who: Principal | None) -> bool:
        answer = self.answer(who)
        if answer.status_code in {401, 403}:
            return False
        return '"status_code":403' not in answer.text  # one of many that were asked for

    def described(self) -> str:
        """Say who gets through."""
        if self.route.needs is ANYBODY:
            return "anybody"
        assert not self.opens(None), "somebody unknown is let in"
        if self.opens(holder()):
            asked = " + ".join(action for action, _ in names_of(self.route.needs))
            return f"signed in; shows what {asked} allows" if asked else "signed in"
        enough = [action for action, who in ALONE.items() if self.opens(who)]
        if enough:
            assert not self.opens(holder(*(set(ACTIONS) - set(enough)))), "others together do"
            return " | ".join(enough)
        return " + ".join(self.needed_together())

    def needed_together(self) -> list[str]:
        found = [a for a in sorted(ACTIONS) if not self.opens(holder(*(set(ACTIONS) - {a})))]
        assert self.opens(holder(*found)), f"{found} are not enough"
        return found


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with open_api(tmp_path_factory.mktemp("matrix") / "lake") as opened:
        made = {"name": "lake", "storage_namespace": "local://lake"}
        assert opened.post("/repositories", json=made).status_code == 201
        put(opened, "/repositories/lake", "a", b"one two")
        commit(opened, "/repositories/lake")
        assert opened.post("/pipelines", json=said(PIPELINE)).status_code == 201
        decided = opened.post("/pipelines/count/runs").json
        FOUND.update(job_set=decided["id"], job=decided["jobs"][0]["id"], shard="0")
        drive(opened.services.lake)  # so that it has a shard which can be shown
        opened.credential = None
        yield opened


def page(lines: Iterable[tuple[str, str]]) -> str:
    return "".join(f"{name}: {who}\n" for name, who in lines)


def test_rel_S16_every_route_asks_for_what_the_reviewed_page_says(api: Api) -> None:
    found = page((name_of(*place), Door(api, *place).described()) for place in PLACES)
    if os.environ.get("LOCHAN_WRITE_GOLDEN"):
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(found)
    assert found.splitlines() == GOLDEN.read_text().splitlines()


def test_rel_S16_rights_in_another_repository_open_nothing(api: Api) -> None:
    there = '["arn:lakefs:fs:::repository/other", "arn:lakefs:fs:::repository/other/*"]'
    said = (Statement(ALLOW, ("*",), there),)
    neighbour = Principal("somebody", UniqueIdentifier("u1"), rules(said, "somebody"))
    doors = [Door(api, *place) for place in PLACES if "{repository}" in place[1].path]
    inside = [door for door in doors if not isinstance(door.route.needs, Open)]
    assert [door.route.path for door in inside if door.opens(neighbour)] == []


def test_every_request_of_the_matrix_is_one_that_its_route_accepts(api: Api) -> None:
    doors = [Door(api, *place) for place in PLACES]
    assert [door.request for door in doors if not accepts(door.route, door.request)] == []


def test_what_is_open_to_anybody_is_written_down() -> None:
    assert {name_of(*place) for place in PLACES if place[1].needs is ANYBODY} == OPEN_TO_ANYBODY


def test_what_is_open_to_anybody_tells_a_known_user_no_more(api: Api) -> None:
    doors = [Door(api, *place) for place in PLACES if place[1].needs is ANYBODY]
    for door in doors:
        assert door.answer(None).status_code == door.answer(holder("*")).status_code


def test_every_action_that_a_route_declares_is_one_that_policies_know() -> None:
    declared = {action for _, route in PLACES for action, _ in names_of(route.needs)}
    assert declared <= ACTIONS
    undeclared = [name_of(*place) for place in PLACES if not names_of(place[1].needs)]
    signed_in = {name_of(*place) for place in PLACES if place[1].needs is SIGNED_IN}
    assert set(undeclared) == OPEN_TO_ANYBODY | signed_in


def test_rel_S16_a_route_without_a_permission_cannot_be_declared() -> None:
    routes = Routes("test")
    with pytest.raises((TypeError, KeyError)):
        routes.get("/x", answers={200: NOTHING})(lambda _: None)  # type: ignore[call-arg]
    assert list(routes) == []


@pytest.mark.parametrize(
    "needs",
    [
        pytest.param(None, id="nothing"),
        pytest.param(Need("fs:ReadObjects", "*"), id="an action that there is not"),
        pytest.param(Need("fs:ReadObject", "arn:lakefs:fs:::repository/{repo}"), id="a wrong name"),
        pytest.param(Each(()), id="no permission at all"),
    ],
)
def test_rel_S16_a_server_with_a_route_that_asks_for_nothing_known_does_not_start(
    needs: object,
) -> None:
    routes = Routes("test")
    routes.get("/repositories/{repository}", needs=needs, answers={200: NOTHING})(  # type: ignore[arg-type]
        lambda _: None
    )
    with pytest.raises(Internal):
        check_routes(routes)
