# SPDX-License-Identifier: Apache-2.0
"""A repository over REST, in few words: put, commit, branch, and what a ref holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import falcon.testing

from support.web import Api

NAME = "readings"
HERE = f"/repositories/{NAME}"


@dataclass(frozen=True, slots=True)
class WebLake:
    """One repository, asked by one user."""

    api: Api

    @classmethod
    def made(cls, api: Api) -> "WebLake":
        """Make the repository; its branch is main."""
        told = {"name": NAME, "storage_namespace": ""}
        assert api.post("/repositories", json=told).status_code == 201
        return cls(api)

    def get(self, path: str, **params: object) -> falcon.testing.Result:
        return self.api.get(HERE + path, params=params)

    def post(self, path: str, told: Mapping[str, Any], **params: object) -> falcon.testing.Result:
        return self.api.post(HERE + path, json=told, params=params)

    def put(self, branch: str, path: str, body: bytes = b"x") -> None:
        """Stage an object."""
        where = f"{HERE}/branches/{branch}/objects"
        kind = {"content-type": "application/octet-stream"}
        sent = self.api.post(where, params={"path": path}, body=body, headers=kind)
        assert sent.status_code == 201, sent.text

    def remove(self, branch: str, path: str) -> None:
        """Stage the removal of an object."""
        gone = self.api.delete(f"{HERE}/branches/{branch}/objects", params={"path": path})
        assert gone.status_code == 204, gone.text

    def commit(self, branch: str, message: str = "x", **told: object) -> dict[str, Any]:
        """Commit what is staged."""
        said = {"message": message, "allow_empty": True, **told}
        made = self.post(f"/branches/{branch}/commits", said)
        assert made.status_code == 201, made.text
        found: dict[str, Any] = made.json
        return found

    def branch(self, name: str, source: str = "main", **told: object) -> str:
        """Make a branch, and give its commit."""
        made = self.post("/branches", {"name": name, "source": source, **told})
        assert made.status_code == 201, made.text
        return made.text

    def merge(self, source: str, branch: str, **told: object) -> falcon.testing.Result:
        return self.post(f"/refs/{source}/merge/{branch}", told)

    def head(self, ref: str = "main") -> dict[str, Any]:
        """Give the commit of a ref."""
        found: dict[str, Any] = self.get(f"/commits/{ref}").json
        return found

    def paths(self, where: str, **params: object) -> list[tuple[str, str]]:
        """Give kind and path of every difference of a diff's address."""
        return [(each["type"], each["path"]) for each in self.get(where, **params).json["results"]]
