# SPDX-License-Identifier: Apache-2.0
"""Look at the demo lake with a browser: folders and objects of its branches, read only.

`make serve` runs it, on this machine's own address alone. It is no part of the package: the server
with REST, S3 and a user interface comes later, and this file goes then. What it shows is true all
the same: every page is read from the branch record, the commit and the table files, when asked.
"""

import argparse
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, unquote

import demo
import lake
from rich.console import Console

from lochan.errors import NotFound
from lochan.kernel.records import Record
from lochan.model.ids import ObjectKey
from lochan.operations.list_objects import list_objects
from lochan.operations.read_object import get_object
from lochan.operations.reference import commit_of
from lochan.refs.branches import list_branches


class Pages(BaseHTTPRequestHandler):
    """A page for the branches, a page for each folder, the bytes for an object."""

    shown: lake.Opened

    def do_GET(self) -> None:
        """Answer /, /ref/, /ref/folder/ or /ref/object."""
        ref, _, path = unquote(self.path.removeprefix("/")).partition("/")
        try:
            if not ref:
                branches = list_branches(self.shown.lake.tables(self.shown.repository))
                names = [f"{branch.branch_id}/" for branch in branches]
                self._answer(200, "text/html; charset=utf-8", page("branches", names))
            elif not path or path.endswith("/"):
                self._answer(200, "text/html; charset=utf-8", self._folder(ref, path))
            else:
                self._answer(200, *self._object(ref, path))
        except NotFound as error:
            self._answer(404, "text/plain; charset=utf-8", f"{error}\n".encode())

    def _folder(self, ref: str, prefix: str) -> bytes:
        commit = commit_of(*self.shown, ref)
        shown = list_objects(*self.shown, ref, prefix.encode(), delimiter=b"/")
        names = [
            (item.key if isinstance(item, Record) else item.prefix).decode() for item in shown.items
        ]
        if not names:
            raise NotFound(f"nothing lies under {prefix!r} on {ref}")
        title = f"lochan://{lake.NAME}/{ref}/{prefix} at {commit.id[:12]}: {commit.message}"
        return page(title, [name.removeprefix(prefix) for name in names])

    def _object(self, ref: str, path: str) -> tuple[str, bytes]:
        entry, body = get_object(*self.shown, ref, ObjectKey(path.encode()))
        with body:
            return entry.content_type, body.read()

    def _answer(self, status: int, content_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def page(title: str, names: list[str]) -> bytes:
    """List names as links."""
    links = "".join(f"<li><a href='{quote(name)}'>{escape(name)}</a></li>" for name in names)
    return f"<!doctype html><title>lochan</title><h1>{escape(title)}</h1><ul>{links}</ul>".encode()


def main() -> None:
    """Make the demo lake if it is not there, and serve it until interrupted."""
    parser = argparse.ArgumentParser(description="look at the demo lake with a browser")
    parser.add_argument("--port", type=int, default=8000, help="0 takes a free one")
    wanted = parser.parse_args()
    if not (lake.FOLDER / "kv.db").exists():
        demo.main()
    console = Console(soft_wrap=True, highlight=False)
    with lake.open_demo() as shown:
        Pages.shown = shown
        server = ThreadingHTTPServer(("127.0.0.1", wanted.port), Pages)
        console.print("a read-only view of the demo lake; REST and S3 come with the server, later")
        console.print(f"http://127.0.0.1:{server.server_address[1]}/ (Ctrl-C ends it)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            server.server_close()


if __name__ == "__main__":
    main()
