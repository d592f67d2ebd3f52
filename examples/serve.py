# SPDX-License-Identifier: Apache-2.0
"""Look at the demo lake with a browser: folders and objects of branch main, read only.

`make serve` runs it, on this machine's own address alone. It is no part of the package: the server
with REST, S3 and a user interface comes later, and this file goes then. What it shows is true all
the same: every page is read from the branch record, the commit, and the table files.
"""

import argparse
from collections.abc import Iterator
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, unquote

import demo
from rich.console import Console

from lochan.errors import NotFound
from lochan.kv.open import open_store
from lochan.kv.store import Store
from lochan.model import codec
from lochan.model.entry import Entry
from lochan.model.records import Commit
from lochan.objects.address import metadata_address
from lochan.objects.open import open_objects
from lochan.objects.store import ObjectStore
from lochan.sstable import StoredTable, read_table


class Lake:
    """The demo lake, opened for reading."""

    def __init__(self) -> None:
        """Open both stores."""
        self.store: Store = open_store(f"sqlite://{demo.LAKE}/kv.db", demo.environment)
        location = f"local://{demo.LAKE.resolve()}/objects"
        self.objects: ObjectStore = open_objects(location, demo.environment)

    def head(self) -> Commit:
        """Read the commit that main names now."""
        record = self.store.get(b"graveler", b"repos/weather").value
        repository = codec.decode_repository(record)
        partition = f"{repository.repository_id}-{repository.unique_identifier}".encode()
        branch = codec.decode_branch(self.store.get(partition, b"branches/main").value)
        key = b"commits/" + branch.commit_id.encode()
        return codec.decode_commit(self.store.get(partition, key).value)

    def ranges(self) -> Iterator[StoredTable]:
        """Open the ranges of main's tree, in key order."""
        for range_id in self._file(self.head().meta_range_id).records().identities:
            yield self._file(range_id.decode())

    def folder(self, prefix: bytes) -> list[bytes]:
        """Name what lies directly under a prefix; a name with a slash is a folder."""
        names = {
            name[: name.find(b"/") + 1] or name
            for table in self.ranges()
            for name in (
                key.removeprefix(prefix) for key in table.records().keys if key.startswith(prefix)
            )
        }
        return sorted(names)

    def entry(self, key: bytes) -> Entry:
        """Find one entry. Raises NotFound."""
        for table in self.ranges():
            if found := table.get(key):
                return codec.decode_entry(found[1])
        raise NotFound(f"{key!r} is not on main")

    def _file(self, file_id: str) -> StoredTable:
        address = metadata_address(file_id)
        return read_table(self.objects.get(address).read(), address)


class Pages(BaseHTTPRequestHandler):
    """A page for a folder, the bytes for an object."""

    lake: Lake

    def do_GET(self) -> None:
        """Answer with a folder's page or an object's bytes."""
        key = unquote(self.path.removeprefix("/")).encode()
        try:
            if not key or key.endswith(b"/"):
                self._answer(200, "text/html; charset=utf-8", self._page(key))
            else:
                entry = self.lake.entry(key)
                self._answer(200, entry.content_type, self.lake.objects.get(entry.address).read())
        except NotFound as error:
            self._answer(404, "text/plain; charset=utf-8", f"{error}\n".encode())

    def _page(self, prefix: bytes) -> bytes:
        names = [name.decode() for name in self.lake.folder(prefix)]
        if not names:
            raise NotFound(f"nothing lies under {prefix!r} on main")
        links = "".join(f"<li><a href='{quote(name)}'>{escape(name)}</a></li>" for name in names)
        commit = self.lake.head()
        title = f"lochan://weather/main/{escape(prefix.decode())}"
        head = f"<!doctype html><title>{title}</title><h1>{title}</h1>"
        return f"{head}<p>commit {commit.id}: {escape(commit.message)}</p><ul>{links}</ul>".encode()

    def _answer(self, status: int, content_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    """Make the demo lake if it is not there, and serve it until interrupted."""
    parser = argparse.ArgumentParser(description="look at the demo lake with a browser")
    parser.add_argument("--port", type=int, default=8000, help="0 takes a free one")
    wanted = parser.parse_args()
    if not (demo.LAKE / "kv.db").exists():
        demo.main()
    Pages.lake = Lake()
    server = ThreadingHTTPServer(("127.0.0.1", wanted.port), Pages)
    console = Console(soft_wrap=True)
    console.print("a read-only view of the demo lake; REST and S3 come with the server, later")
    console.print(f"http://127.0.0.1:{server.server_address[1]}/ (Ctrl-C ends it)")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main()
