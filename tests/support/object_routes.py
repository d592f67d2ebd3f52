# SPDX-License-Identifier: Apache-2.0
"""One repository behind the API, and the requests that tests of objects make of it."""

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlsplit

import falcon.testing

from lochan.model.access import Statement
from lochan.model.ids import BranchName, RepositoryId, StorageNamespace
from lochan.model.records import Repository
from lochan.operations.create_repository import create_repository
from support.web import Api

Told = dict[str, Any]  # a JSON object
Headers = Mapping[str, str] | None
OBJECT = "arn:lakefs:fs:::repository/lake/object/"


class Objects:
    """The objects of branch main of repository `lake`, as one user reaches them."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.branch = "/repositories/lake/branches/main"
        self.ref = "/repositories/lake/refs/main"

    @classmethod
    def made(cls, api: Api) -> "Objects":
        make_repository(api, "lake")
        return cls(api)

    def put(self, path: str, body: bytes = b"x", **headers: str) -> falcon.testing.Result:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.upload(path, body, sent)

    def upload(self, path: str, body: bytes, headers: dict[str, str]) -> falcon.testing.Result:
        at = f"{self.branch}/objects"
        return self.api.post(at, params={"path": path}, body=body, headers=headers)

    def get(self, path: str, headers: Headers = None, **params: str) -> falcon.testing.Result:
        asked = {"path": path, **params}
        return self.api.get(f"{self.ref}/objects", params=asked, headers=headers)

    def head(self, path: str, headers: Headers = None) -> falcon.testing.Result:
        return self.api.head(f"{self.ref}/objects", params={"path": path}, headers=headers)

    def stat(self, path: str, **params: str) -> falcon.testing.Result:
        return self.api.get(f"{self.ref}/objects/stat", params={"path": path, **params})

    def listed(self, **params: str) -> Told:
        found: Told = self.api.get(f"{self.ref}/objects/ls", params=params).json
        return found

    def paths(self) -> list[str]:
        return [row["path"] for row in self.listed()["results"]]

    def as_user(self, name: str, *statements: Statement) -> "Objects":
        return Objects(self.api.user(name, *statements))

    def fetch(self, method: str, url: str, **rest: object) -> falcon.testing.Result:
        """Ask for a signed URL of the server's own, without credentials."""
        parts = urlsplit(url)
        nobody = self.api.nobody()
        return nobody.ask(
            method, parts.path, prefix="", query_string=parts.query, **cast("Any", rest)
        )


def make_repository(api: Api, name: str, place: str = "") -> Repository:
    namespace = StorageNamespace(place or f"{api.services.settings.namespace_prefix}/{name}")
    lake = api.services.lake
    return create_repository(lake, RepositoryId(name), namespace, BranchName("main"))


def allow(*actions: str, on: str = OBJECT + "*") -> Statement:
    return Statement(effect="allow", action=actions, resource=on)


def deny(*actions: str, on: str) -> Statement:
    return Statement(effect="deny", action=actions, resource=on)
