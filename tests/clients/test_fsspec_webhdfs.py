# SPDX-License-Identifier: Apache-2.0
"""fsspec's own WebHDFS client, and pyarrow through it: further readers of the same edge.

fsspec creates a file empty and then appends to it, so it cannot write here.
"""

import io

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.webhdfs import WebHDFS

from support.server import Server


@pytest.fixture
def files(server: Server) -> WebHDFS:
    host, port = server.url.removeprefix("http://").split(":")
    key, secret = server.auth
    return WebHDFS(host, int(port), user=key, password=secret, skip_instance_cache=True)


def put(server: Server, repository: str, path: str, content: bytes) -> None:
    at = f"{server.api}/repositories/{repository}/branches/main/objects"
    sent = httpx.post(at, params={"path": path}, content=content, auth=server.auth)
    assert sent.status_code == 201, sent.text


def test_files_are_listed_and_read(files: WebHDFS, server: Server, repository: str) -> None:
    large = bytes(range(256)) * 2000
    put(server, repository, "a/b.bin", large)
    put(server, repository, "a/c/d.txt", b"text")
    root = f"/{repository}/main"
    assert files.find(root) == [f"{root}/a/b.bin", f"{root}/a/c/d.txt"]
    assert files.info(f"{root}/a/b.bin")["size"] == len(large)
    assert files.isdir(f"{root}/a/c")
    with files.open(f"{root}/a/b.bin") as opened:
        opened.seek(300_001)
        assert opened.read(1000) == large[300_001:301_001]
    assert files.cat(f"{root}/a/c/d.txt") == b"text"
    with pytest.raises(FileNotFoundError):
        files.info(f"{root}/none")


def test_files_are_moved_and_removed(files: WebHDFS, server: Server, repository: str) -> None:
    put(server, repository, "a/b", b"1")
    root = f"/{repository}/main"
    files.makedirs(f"{root}/d/e")
    files.mv(f"{root}/a", f"{root}/f")
    assert files.find(root) == [f"{root}/f/b"]
    files.rm(f"{root}/d", recursive=True)
    assert files.ls(root, detail=False) == [f"{root}/f"]


def test_pyarrow_reads_parquet_through_it(files: WebHDFS, server: Server, repository: str) -> None:
    table = pa.table({"id": list(range(1000))})
    for part in (1, 2):
        buffer = io.BytesIO()
        pq.write_table(table, buffer)
        put(server, repository, f"t/p={part}/x.parquet", buffer.getvalue())
    found = pq.read_table(f"/{repository}/main/t", filesystem=files, columns=["id", "p"])
    assert found.num_rows == 2000
    assert set(found["p"].to_pylist()) == {1, 2}


def test_no_answer_has_a_content_type_on_the_wire(server: Server, repository: str) -> None:
    put(server, repository, "small", b"1")
    put(server, repository, "large", bytes(1 << 20))
    at = f"{server.url}/webhdfs/v1/{repository}/main"
    for path, op in [("", "LISTSTATUS"), ("/small", "OPEN"), ("/large", "OPEN"), ("/no", "OPEN")]:
        answer = httpx.get(at + path, params={"op": op}, auth=server.auth, follow_redirects=True)
        assert "content-type" not in answer.headers
        for redirect in answer.history:
            assert "content-type" not in redirect.headers
