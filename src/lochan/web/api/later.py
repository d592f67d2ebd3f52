# SPDX-License-Identifier: Apache-2.0
"""What lakeFS's clients may ask for and this server does not have yet: each says what it waits for.

Permissions are declared as if it were there, so that nobody without them learns more than later.
"""

from typing import Final, NamedTuple

from lochan.errors import InvalidInput
from lochan.shapes.errors import Error
from lochan.web.call import Call
from lochan.web.needs import ANYBODY, Need, Needs, every
from lochan.web.route import Handler, Routes

_REPOSITORY: Final = "arn:lakefs:fs:::repository/{repository}"
_USER: Final = "arn:lakefs:auth:::user/{userId}"

_RUNS: Final = "/repositories/{repository}/actions/runs"
_PULLS: Final = "/repositories/{repository}/pulls"
_COLLECT: Final = "/repositories/{repository}/gc"
_PRINCIPALS: Final = "/auth/users/{userId}/external/principals"

_HOOKS: Final = "hooks"
_REQUESTS: Final = "pull requests"
_COLLECTOR: Final = "the garbage collector"
_FEDERATION: Final = "log-in by other identity providers"
_READ_RUNS: Final = Need("ci:ReadAction", _REPOSITORY)
_WRITE_PULL: Final = Need("pr:WritePullRequest", _REPOSITORY)
_COLLECT_COMMITS: Final = Need("retention:PrepareGarbageCollectionCommits", _REPOSITORY)


class Later(NamedTuple):
    """An operation that is not there yet."""

    tag: str
    name: str
    method: str
    path: str
    needs: Needs
    waits_for: str


LATER: Final = (
    Later("actions", "list_repository_runs", "GET", _RUNS, _READ_RUNS, _HOOKS),
    Later("actions", "get_run", "GET", _RUNS + "/{run_id}", _READ_RUNS, _HOOKS),
    Later("actions", "list_run_hooks", "GET", _RUNS + "/{run_id}/hooks", _READ_RUNS, _HOOKS),
    Later(
        "actions",
        "get_run_hook_output",
        "GET",
        _RUNS + "/{run_id}/hooks/{hook_run_id}/output",
        _READ_RUNS,
        _HOOKS,
    ),
    Later(
        "pulls",
        "list_pull_requests",
        "GET",
        _PULLS,
        Need("pr:ListPullRequests", _REPOSITORY),
        _REQUESTS,
    ),
    Later("pulls", "create_pull_request", "POST", _PULLS, _WRITE_PULL, _REQUESTS),
    Later(
        "pulls",
        "get_pull_request",
        "GET",
        _PULLS + "/{pull_request}",
        Need("pr:ReadPullRequest", _REPOSITORY),
        _REQUESTS,
    ),
    Later(
        "pulls", "update_pull_request", "PATCH", _PULLS + "/{pull_request}", _WRITE_PULL, _REQUESTS
    ),
    Later(
        "pulls",
        "merge_pull_request",
        "PUT",
        _PULLS + "/{pull_request}/merge",
        every(_WRITE_PULL, Need("fs:CreateCommit", _REPOSITORY)),
        _REQUESTS,
    ),
    Later(
        "internal",
        "prepare_garbage_collection_commits",
        "POST",
        _COLLECT + "/prepare_commits",
        _COLLECT_COMMITS,
        _COLLECTOR,
    ),
    Later(
        "internal",
        "prepare_garbage_collection_commits_async",
        "POST",
        _COLLECT + "/prepare_commits/async",
        _COLLECT_COMMITS,
        _COLLECTOR,
    ),
    Later(
        "internal",
        "prepare_garbage_collection_commits_status",
        "GET",
        _COLLECT + "/prepare_commits/status",
        _COLLECT_COMMITS,
        _COLLECTOR,
    ),
    Later(
        "internal",
        "prepare_garbage_collection_uncommitted",
        "POST",
        _COLLECT + "/prepare_uncommited",  # lakeFS's spelling
        Need("retention:PrepareGarbageCollectionUncommitted", _REPOSITORY),
        _COLLECTOR,
    ),
    Later(
        "internal",
        "get_usage_report_summary",
        "GET",
        "/usage-report/summary",
        Need("fs:ReadConfig", "*"),
        "a count of requests by month; /metrics has those of the running server",
    ),
    Later(
        "auth",
        "create_user_external_principal",
        "POST",
        _PRINCIPALS,
        Need("auth:CreateUserExternalPrincipal", _USER),
        _FEDERATION,
    ),
    Later(
        "auth",
        "delete_user_external_principal",
        "DELETE",
        _PRINCIPALS,
        Need("auth:DeleteUserExternalPrincipal", _USER),
        _FEDERATION,
    ),
    Later(
        "auth",
        "list_user_external_principals",
        "GET",
        _PRINCIPALS + "/ls",
        Need("auth:ReadUser", _USER),
        _FEDERATION,
    ),
    Later(
        "auth",
        "get_external_principal",
        "GET",
        "/auth/external/principals",
        Need("auth:ReadExternalPrincipal", "*"),
        _FEDERATION,
    ),
    Later(
        "auth",
        "external_principal_login",
        "POST",
        "/auth/external/principal/login",
        ANYBODY,
        _FEDERATION,
    ),
    Later("experimental", "sts_login", "POST", "/sts/login", ANYBODY, _FEDERATION),
)


def _refusing(later: Later) -> Handler:
    def refuse(_: Call) -> None:
        message = f"{later.method} {later.path} is not there yet; it waits for {later.waits_for}"
        raise InvalidInput(message, code="not-implemented", operation=later.name)

    refuse.__name__ = later.name
    refuse.__doc__ = f"Refuse, until there is more: it waits for {later.waits_for}."
    return refuse


def _routes() -> list[Routes]:
    found: dict[str, Routes] = {}
    for later in LATER:
        routes = found.setdefault(later.tag, Routes(later.tag))
        declare = routes.add(later.method, later.path, needs=later.needs, answers={501: Error})
        declare(_refusing(later))
    return list(found.values())


ROUTES: Final = tuple(route for routes in _routes() for route in routes)
