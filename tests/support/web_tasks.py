# SPDX-License-Identifier: Apache-2.0
"""Repositories for tests of the API, and tasks that are asked about until they are over."""

import threading
from typing import Any

from support.web import Api


def make_repository(api: Api, name: str = "lake-1", **params: object) -> str:
    """Make a repository and give the beginning of its addresses."""
    made = api.post("/repositories", json={"name": name, "storage_namespace": ""}, params=params)
    assert made.status_code == 201, made.text
    return f"/repositories/{name}"


def put(api: Api, repository: str, key: str, data: bytes, branch: str = "main") -> None:
    path = f"{repository}/branches/{branch}/objects"
    answer = api.post(path, params={"path": key}, body=data)
    assert answer.status_code == 201, answer.text


def commit(api: Api, repository: str, message: str = "m", branch: str = "main") -> str:
    answer = api.post(f"{repository}/branches/{branch}/commits", json={"message": message})
    assert answer.status_code == 201, answer.text
    return str(answer.json["id"])


def read(api: Api, repository: str, key: str, ref: str = "main") -> bytes:
    answer = api.get(f"{repository}/refs/{ref}/objects", params={"path": key})
    assert answer.status_code == 200, answer.text
    return bytes(answer.content)


def settled(api: Api, path: str, **params: str) -> dict[str, Any]:
    """Ask about a task until it is over, as clients do."""
    pause = threading.Event()
    for _ in range(1000):
        answer = api.get(path, params=params)
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json
        if told.get("completed") or told.get("done") or told.get("error"):
            return told
        pause.wait(0.01)
    raise AssertionError(f"{path} is not over after ten seconds: {told}")
