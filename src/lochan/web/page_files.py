# SPDX-License-Identifier: Apache-2.0
"""The files of our own pages, read once from the package: each a page, a script or a style."""

from functools import cache
from importlib.resources import files
from typing import Final

from lochan.errors import NotFound
from lochan.web.reply import Reply

_KINDS: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
}
# Nothing but our own files may be loaded, run or asked for by our pages.
_HEADERS: Final = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self';"
    " connect-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


@cache
def _pages() -> dict[str, bytes]:
    folder = files("lochan.web").joinpath("pages")
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def page_file(name: str) -> Reply:
    """Answer with a file of a page. Raises NotFound."""
    found = _pages().get(name)
    kind = _KINDS.get(name.rpartition(".")[2])
    if found is None or kind is None:
        raise NotFound(f"there is no page {name!r}", code="no-such-address")
    return Reply(found, content_type=kind, headers=_HEADERS)
