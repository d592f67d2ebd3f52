# SPDX-License-Identifier: Apache-2.0
"""The one seam between the client's objects and a server: a request out, an answer or error back.

What is sent again, and when (`repeat` says how often):

    nothing was sent (no connection)     any request
    429, 503                             GET, HEAD, PUT, DELETE, and uploads that can be read again
    the connection broke in between      GET, HEAD; of others nobody knows whether they were done,
                                         and they raise UnknownOutcome

A path is given as its segments, which are escaped here, so that no name can reach another route.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlencode

import httpx
import msgspec

from lochan.client.content import Content, Progress
from lochan.client.failures import error_of
from lochan.client.repeat import Repeats, retry_after_s
from lochan.environment import Environment
from lochan.errors import InvalidInput, LochanError, Unavailable, UnknownOutcome
from lochan.shapes.config import Config, StorageConfig

API: Final = "/api/v1"
JSON: Final = "application/json"
_LOST_BEFORE: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_SAFE: Final = frozenset({"GET", "HEAD"})
_IDEMPOTENT: Final = _SAFE | {"PUT", "DELETE"}
_REFUSED_FOR_NOW: Final = frozenset({429, 503})
_FIRST_ERROR: Final = 400

Shape = TypeVar("Shape")
Path = Sequence[str]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, in a form from which it can be made again."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes = b""
    content: Content | None = None
    progress: Progress | None = None
    signed: bool = False  # the URL says all; credentials are none of its business

    @property
    def is_idempotent(self) -> bool:
        """Say whether doing it twice is doing it once."""
        if self.content is not None and not self.content.is_repeatable:
            return False
        conditional = "if-match" in self.headers or "if-none-match" in self.headers
        return self.method in _IDEMPOTENT or (self.content is not None and not conditional)


class Transport:
    """Requests to one server; any number of threads may share it."""

    def __init__(
        self, http: httpx.Client, environment: Environment, *, retries: int, budget_s: float
    ) -> None:
        """Ask through an httpx client, which knows the address, credentials and timeouts."""
        self.environment = environment
        self._http = http
        self._retries = retries
        self._budget_s = budget_s

    @property
    def endpoint(self) -> str:
        """Give the server's address."""
        return str(self._http.base_url).rstrip("/")

    @cached_property
    def storage_config(self) -> StorageConfig:
        """Give what the server's object store can do; asked once."""
        return self.call("GET", ("config",), Config).storage_config

    def call(
        self,
        method: str,
        path: Path,
        answer: type[Shape],
        *,
        query: msgspec.Struct | None = None,
        body: msgspec.Struct | Sequence[msgspec.Struct] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Shape:
        """Send JSON, and decode the answer. Raises the error that the server tells of."""
        response = self.send(method, path, query=query, body=body, headers=headers)
        return decoded(response, answer)

    def send(
        self,
        method: str,
        path: Path,
        *,
        query: msgspec.Struct | None = None,
        body: msgspec.Struct | Sequence[msgspec.Struct] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """Send JSON, and give the answer as it came."""
        sent = {**(headers or {})}
        octets = b""
        if body is not None:
            octets = _json(body)
            sent["content-type"] = JSON
        with self._answer(Asked(method, url_of(path, query), sent, octets)) as response:
            response.read()
            return response

    def upload(
        self,
        method: str,
        path: Path,
        content: Content,
        *,
        query: msgspec.Struct | None = None,
        headers: Mapping[str, str] | None = None,
        progress: Progress | None = None,
    ) -> httpx.Response:
        """Send bytes as they are read, and give the answer."""
        asked = Asked(
            method,
            url_of(path, query),
            headers or {},
            content=content,
            progress=progress,
        )
        with self._answer(asked) as response:
            response.read()
            return response

    @contextmanager
    def download(
        self,
        path: Path,
        *,
        query: msgspec.Struct | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[httpx.Response]:
        """Give an answer whose bytes are read as they come; iterate over `chunks_of`."""
        sent = {"accept-encoding": "identity", **(headers or {})}
        with self._answer(Asked("GET", url_of(path, query), sent)) as response:
            yield response

    def put_signed(
        self, url: str, content: Content, *, headers: Mapping[str, str], progress: Progress | None
    ) -> httpx.Response:
        """Send bytes to a signed URL, which is shown no credentials."""
        asked = Asked("PUT", url, headers, content=content, progress=progress, signed=True)
        with self._answer(asked) as response:
            response.read()
            return response

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    @contextmanager
    def _answer(self, asked: Asked) -> Iterator[httpx.Response]:
        response = self._sent(asked)
        try:
            yield response
        except httpx.TransportError as error:
            raise self._broken(asked, error) from error
        finally:
            response.close()

    def _sent(self, asked: Asked) -> httpx.Response:
        repeats = Repeats(self.environment, most=self._retries, budget_s=self._budget_s)
        while True:
            try:
                response = self._send_once(asked)
            except httpx.TransportError as error:
                may = isinstance(error, _LOST_BEFORE) or asked.method in _SAFE
                if may and repeats.wait():
                    continue
                raise self._broken(asked, error) from error
            if response.status_code < _FIRST_ERROR:
                return response
            failure = self._failure(asked, response)
            if response.status_code in _REFUSED_FOR_NOW and asked.is_idempotent:
                said = response.headers.get("retry-after")
                if repeats.wait(retry_after_s(said, self.environment.now())):
                    continue
            raise failure

    def _send_once(self, asked: Asked) -> httpx.Response:
        if self._http.is_closed:
            raise Unavailable(
                f"the lake at {self.endpoint} is closed; open it again", code="closed"
            )
        headers, body = dict(asked.headers), asked.body or None
        source: Any = body
        if asked.content is not None:
            source = asked.content.chunks(asked.progress)
            if asked.content.size is not None:
                headers["content-length"] = str(asked.content.size)
        try:
            try:
                request = self._http.build_request(
                    asked.method,
                    asked.url,
                    headers=headers,
                    content=source,
                )
            except UnicodeEncodeError as error:
                message = f"{error.object!r} goes into a header: write it in ASCII"
                raise InvalidInput(message, code="not-ascii") from error
            if asked.signed:
                return self._http.send(request, stream=True, auth=None)
            return self._http.send(request, stream=True)
        except (httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
            message = f"{self.endpoint or asked.url!r} is no address of a server: {error}"
            raise InvalidInput(message, code="invalid-endpoint") from error

    def _failure(self, asked: Asked, response: httpx.Response) -> LochanError:
        try:
            response.read()
        except httpx.TransportError as error:
            return self._broken(asked, error)
        finally:
            response.close()
        return error_of(response)

    def _broken(self, asked: Asked, error: httpx.TransportError) -> LochanError:
        why = str(error) or type(error).__name__
        if isinstance(error, _LOST_BEFORE):
            message = f"no server answers at {self.endpoint}: {why}; start it, or mend the address"
            return Unavailable(message, code="no-connection")
        if asked.method in _SAFE:
            message = f"the connection to {self.endpoint} broke off: {why}; try again"
            return Unavailable(message, code="connection-broken")
        message = (
            f"the connection to {self.endpoint} broke off before {asked.method} was answered:"
            f" {why}; it may have been done, so look before you repeat it"
        )
        return UnknownOutcome(message)


def chunks_of(response: httpx.Response) -> Iterator[bytes]:
    """Give an answer's bytes as they come."""
    return response.iter_raw()


def decoded(response: httpx.Response, shape: type[Shape]) -> Shape:
    """Read an answer. Raises Unavailable for one that is not of that shape."""
    try:
        return msgspec.json.decode(response.content, type=shape)
    except msgspec.DecodeError as error:
        message = (
            f"{response.request.url.host} answered {response.request.url.path} with something else"
            f" than expected: {error}; is this the server's address, and its version near ours?"
        )
        raise Unavailable(message, code="unreadable-answer") from error


def url_of(path: Path, query: msgspec.Struct | None = None) -> str:
    """Join segments and a query to the address of a route; a field of several values is repeated.

    Raises InvalidInput for what is no segment.
    """
    for segment in path:
        if segment in {"", ".", ".."}:
            raise InvalidInput(f"{segment!r} is no name of anything; give one", value=segment)
    told: dict[str, object] = {} if query is None else msgspec.to_builtins(query)
    fields = [(name, _text(item)) for name, value in told.items() for item in _items(value)]
    try:
        address = "/".join((API, *(quote(segment, safe="") for segment in path)))
        return f"{address}?{urlencode(fields)}" if fields else address
    except UnicodeEncodeError as error:
        raise _not_utf_8(error) from error


def require_text(texts: Iterable[str]) -> None:
    """Refuse what cannot be sent, before anything is. Raises InvalidInput."""
    try:
        for text in texts:
            text.encode()
    except UnicodeEncodeError as error:
        raise _not_utf_8(error) from error


def _json(body: msgspec.Struct | Sequence[msgspec.Struct]) -> bytes:
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError as error:
        raise _not_utf_8(error) from error


def _not_utf_8(error: UnicodeEncodeError) -> InvalidInput:
    """Make the error for half of a surrogate pair: Python's way to keep bytes that are no text."""
    return InvalidInput(f"{error.object!r} is not UTF-8: write it in UTF-8", code="not-utf-8")


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, (list, tuple)) else (value,)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
