# SPDX-License-Identifier: Apache-2.0
"""A repository as a WebHDFS client sees it, through the application in this process."""

from typing import Any
from urllib.parse import unquote, urlsplit

import falcon.testing

from support.object_routes import Objects
from support.web import Api

ROOT = "/lake/main"
Value = str | int | bool


class Hdfs:
    """Branch main of repository `lake`; paths are relative to it unless they begin with a slash."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.objects = Objects(api)

    def ask(self, method: str, op: str, path: str = "", **params: Value) -> falcon.testing.Result:
        sent = {"op": op, **{name: str(value).lower() for name, value in params.items()}}
        return self.api.ask(method, f"/webhdfs/v1{full(path)}", prefix="", params=sent)

    def get(self, op: str, path: str = "", **params: Value) -> falcon.testing.Result:
        return self.ask("GET", op, path, **params)

    def status(self, path: str) -> dict[str, Any]:
        """Describe a path that is there."""
        found: dict[str, Any] = self.get("GETFILESTATUS", path).json["FileStatus"]
        return found

    def names(self, path: str = "") -> list[str]:
        """Give the names in a directory; those of directories end with a slash."""
        answer = self.get("LISTSTATUS", path)
        assert answer.status_code == 200, answer.text
        rows = answer.json["FileStatuses"]["FileStatus"]
        return [row["pathSuffix"] + "/" * (row["type"] == "DIRECTORY") for row in rows]

    def read(self, path: str, **params: Value) -> bytes:
        """Open a file and follow to its bytes."""
        opened = self.get("OPEN", path)
        assert opened.status_code == 307, opened.text
        found = self.follow("GET", opened, b"", **params)
        assert found.status_code == 200, found.text
        return found.content

    def write(self, path: str, body: bytes = b"x", **params: Value) -> falcon.testing.Result:
        """Create a file, in two steps where the first is let through."""
        begun = self.ask("PUT", "CREATE", path, **params)
        return begun if begun.status_code != 307 else self.follow("PUT", begun, body)

    def follow(
        self,
        method: str,
        answer: falcon.testing.Result,
        body: bytes = b"",
        /,
        **params: Value,
    ) -> falcon.testing.Result:
        """Go where an answer sends its client."""
        to = urlsplit(answer.headers["location"])
        more = "".join(f"&{name}={value}" for name, value in params.items())
        return self.api.ask(
            method, unquote(to.path), prefix="", query_string=to.query + more, body=body
        )

    def rename(self, source: str, other: str, options: str | None = None) -> falcon.testing.Result:
        params = {"destination": full(other), **({"renameoptions": options} if options else {})}
        sent = {"op": "RENAME", **params}
        return self.api.ask("PUT", f"/webhdfs/v1{full(source)}", prefix="", params=sent)

    def renamed(self, source: str, other: str) -> bool:
        """Rename in the older form, which answers yes or no."""
        found: bool = self.rename(source, other).json["boolean"]
        return found

    def delete(self, path: str, *, recursive: bool = False) -> falcon.testing.Result:
        return self.ask("DELETE", "DELETE", path, recursive=recursive)

    def make(self, path: str) -> falcon.testing.Result:
        return self.ask("PUT", "MKDIRS", path, permission=755)

    def keys(self) -> list[str]:
        """Give the keys of the branch, as every other client sees them."""
        return self.objects.paths()


def full(path: str) -> str:
    """Give a path with repository and branch."""
    return path if path.startswith("/") else f"{ROOT}/{path}".rstrip("/")


def exception(answer: falcon.testing.Result) -> tuple[int, str]:
    """Give the status and the Java class of an answer that is an error."""
    assert answer.headers["content-type"] == ""
    return answer.status_code, answer.json["RemoteException"]["javaClassName"].rpartition(".")[2]
