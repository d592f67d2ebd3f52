# SPDX-License-Identifier: Apache-2.0
"""The filesystem over a real server, from several threads."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fsspec
import pandas as pd
import pytest

import lochan
from lochan.fs.filesystem import LochanFileSystem
from support.server import KEY_ID, KEY_SECRET, Server, running_server

KEY = {"username": KEY_ID, "password": KEY_SECRET}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("server")
    with running_server(folder / "lake", workers=1) as started:
        with lochan.connect(
            started.url, access_key_id=KEY_ID, secret_access_key=KEY_SECRET
        ) as lake:
            lake.repository("served").create()
        yield started
    LochanFileSystem.clear_instance_cache()


def test_the_address_names_the_server(server: Server) -> None:
    place = f"lochan://{server.url.removeprefix('http://')}/served/main"
    frame = pd.DataFrame({"x": [1, 2, 3]})
    frame.to_parquet(f"{place}/x.parquet", storage_options=KEY)

    assert pd.read_parquet(f"{place}/x.parquet", storage_options=KEY).equals(frame)
    with fsspec.open(f"{place}/x.parquet", **KEY) as file:
        assert file.read(4) == b"PAR1"


def test_one_filesystem_serves_many_threads(server: Server) -> None:
    fs = fsspec.filesystem("lochan", host=server.url, **KEY)
    names = [f"served/main/many/{number}" for number in range(64)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda name: fs.pipe(name, name.encode() * 1000), names))
        read = list(threads.map(fs.cat, names))

    assert read == [name.encode() * 1000 for name in names]
    assert fs.find("served/main/many") == sorted(names)


def test_a_missing_right_is_a_permission_error(server: Server) -> None:
    admin = fsspec.filesystem("lochan", host=server.url, **KEY).lake
    admin.users.create("nobody")
    key = admin.users.create_credentials("nobody")
    fs = fsspec.filesystem(
        "lochan",
        host=server.url,
        username=key.access_key_id,
        password=key.secret_access_key,
    )

    with pytest.raises(PermissionError):
        fs.pipe("served/main/x", b"")
    with pytest.raises(PermissionError):
        fs.open("served/main/x", "rb")
