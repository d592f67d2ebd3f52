# SPDX-License-Identifier: Apache-2.0
"""The filesystem that fsspec finds under `lochan`.

    pandas.read_parquet("lochan://repository/main/a.parquet", storage_options={...})
    fsspec.open("lochan://127.0.0.1:8000/repository/main/a.csv")

    storage options    lake=folder                     a lake in this process
                       host=, username=, password=     a server, and an access key with its secret
                       retries=                        how often a busy server is asked again
                       nothing                         as ~/.lochan.yaml and LOCHAN_* say

Writes are staged on the branch that the path names; committing is the lake's business (`fs.lake`).
An object appears when its file is closed, whole. Inside `with fs.transaction:` files wait, and all
are written at its end, or none after an error; whole-or-nothing by one commit is what
`branch.transact` gives.
"""

import io
import os
from pathlib import Path
from typing import Any, Final

from fsspec.callbacks import DEFAULT_CALLBACK, Callback
from fsspec.core import get_compression
from fsspec.utils import isfilelike, stringify_path

from lochan.bootstrap.connected import connect
from lochan.bootstrap.embedded import open_embedded
from lochan.client.content import Progress
from lochan.client.lake import Lake
from lochan.client.stored_object import StoredObject
from lochan.errors import InvalidInput, NotFound
from lochan.fs.file import LochanFile
from lochan.fs.moved import MovedFiles
from lochan.fs.packed import PackedFile
from lochan.fs.place import SCHEMES, place_of, server_of, stripped
from lochan.fs.told import missing, told_of_write
from lochan.text_writer import TextWriter

BLOCK_BYTES: Final = 1 << 20
_OF_TEXT: Final = ("encoding", "errors", "newline")


class LochanFileSystem(MovedFiles):
    """A lake's repositories, refs and objects as folders and files."""

    protocol = SCHEMES
    root_marker = ""
    default_block_size = BLOCK_BYTES

    def __init__(
        self,
        host: str | None = None,
        username: str | None = None,
        password: str | None = None,
        *,
        lake: str | os.PathLike[str] | Lake | None = None,
        retries: int | None = None,
        **options: Any,  # noqa: ANN401 - fsspec's
    ) -> None:
        """Open the lake in a folder, or connect to a server."""
        super().__init__(**options)
        if lake is not None and host is not None:
            raise InvalidInput("a lake in a folder has no host; give lake= or host=, not both")
        if isinstance(lake, Lake):
            self.lake = lake
        elif lake is not None:
            self.lake = open_embedded(lake)
        else:
            url = host if host is None or "://" in host else f"http://{host}"
            self.lake = connect(
                url, access_key_id=username, secret_access_key=password, retries=retries
            )

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:  # noqa: ANN401 - a path, or a list of them
        if isinstance(path, list):
            return [cls._strip_protocol(one) for one in path]
        return stripped(stringify_path(path))

    @staticmethod
    def _get_kwargs_from_urls(path: str) -> dict[str, str]:
        server = server_of(stringify_path(path))
        return {"host": f"http://{server}"} if server else {}

    def open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        cache_options: dict[str, Any] | None = None,
        compression: str | None = None,
        **options: Any,  # noqa: ANN401 - fsspec's signature
    ) -> Any:  # noqa: ANN401 - a file of any kind
        """Open a file, unpacked and decoded if asked; a write that fails leaves nothing."""
        said = {key: options.pop(key) for key in _OF_TEXT if key in options}
        octets = mode if "b" in mode else mode.replace("t", "") + "b"
        file = super().open(path, octets, block_size, cache_options, **options)
        codec = get_compression(self._strip_protocol(path), compression)
        if codec is not None:
            file = PackedFile(file, codec, octets)
        if "b" in mode:
            return file
        return io.TextIOWrapper(file, **said) if "r" in mode else TextWriter(file, **said)

    def _open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        autocommit: bool = True,  # noqa: FBT001, FBT002 - fsspec's signature
        cache_options: dict[str, Any] | None = None,
        **options: Any,  # noqa: ANN401 - fsspec's signature
    ) -> Any:  # noqa: ANN401 - a file of either kind
        with told_of_write(path):
            if mode == "rb":
                return LochanFile(
                    self,
                    path,
                    self._stored(path).reader(),
                    block_size=block_size or "default",
                    cache_options=cache_options,
                    cache_type=options.get("cache_type", "readahead"),
                )
            if mode not in {"wb", "xb"}:
                message = f"{path} cannot be opened with {mode!r}: objects are replaced whole"
                raise InvalidInput(message, code="no-append")
            if mode == "xb" and self.isfile(path):
                raise FileExistsError(path)
            said = {key: options[key] for key in ("content_type", "metadata") if key in options}
            return self._object(path).writer(
                autocommit=autocommit, if_none_match=mode == "xb", **said
            )

    def cat_file(
        self,
        path: str,
        start: int | None = None,
        end: int | None = None,
        **_: Any,  # noqa: ANN401 - fsspec's signature
    ) -> bytes:
        """Give a file's bytes, or those of a range; negative places count from the end."""
        name = self._strip_protocol(path)
        with told_of_write(name):
            if (start or 0) < 0 or (end or 0) < 0:
                size = self.info(name)["size"]
                start = max(0, size + start) if start and start < 0 else start
                end = max(0, size + end) if end and end < 0 else end
            return self._stored(name).read(start or 0, end)

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:  # noqa: ANN401 - fsspec's signature
        """Write bytes to a file; with mode "create" only to a new one."""
        name = self._strip_protocol(path)
        if self._intrans:
            super().pipe_file(name, value, mode=mode, **options)
            return
        with told_of_write(name):
            self._object(name).upload(value, if_none_match=mode == "create")

    def put_file(
        self,
        lpath: str,
        rpath: str,
        callback: Callback = DEFAULT_CALLBACK,
        mode: str = "overwrite",
        **options: Any,  # noqa: ANN401 - fsspec's signature
    ) -> None:
        """Upload a local file as it is read."""
        name = self._strip_protocol(rpath)
        local = Path(lpath)
        if local.is_dir():
            return
        if self._intrans:
            super().put_file(lpath, rpath, callback=callback, mode=mode, **options)
            return
        callback.set_size(local.stat().st_size)
        with told_of_write(name):
            self._object(name).upload(
                local, if_none_match=mode == "create", progress=_told_to(callback)
            )

    def get_file(
        self,
        rpath: str,
        lpath: Any,  # noqa: ANN401 - a path or an open file
        callback: Callback = DEFAULT_CALLBACK,
        outfile: Any = None,  # noqa: ANN401 - an open file
        **_: Any,  # noqa: ANN401 - fsspec's signature
    ) -> None:
        """Download a file as it comes; a local file appears whole."""
        name = self._strip_protocol(rpath)
        target = outfile or (lpath if isfilelike(lpath) else Path(lpath))
        with told_of_write(name):
            try:
                self._stored(name).download(target, progress=_sized(callback))
            except (NotFound, FileNotFoundError):
                if not isinstance(target, Path) or not self.isdir(name):
                    raise
                target.mkdir(parents=True, exist_ok=True)

    def _stored(self, name: str) -> StoredObject:
        place = place_of(name)
        if not place.path:
            raise missing(name)
        return self._reference(place).object(place.path)


def _told_to(callback: Callback) -> Progress:
    return lambda done, _: callback.absolute_update(done)


def _sized(callback: Callback) -> Progress:
    def told(done: int, total: int | None) -> None:
        if total is not None and callback.size != total:
            callback.set_size(total)
        callback.absolute_update(done)

    return told
