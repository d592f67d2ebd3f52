# SPDX-License-Identifier: Apache-2.0
"""`ObjectStore` on S3, Google Cloud Storage and Azure.

Small requests go through obstore, the fastest client measured; what it lacks on S3 goes through
boto3 (s3_pages, s3_uploads). A put holds at most five parts of the body: one that fits into a
single part is one request, a longer one is streamed.

A conditional put is sent once. If its answer is lost the caller gets UnknownOutcome, never a
PredicateFailed that its own effect has caused (failures has the whole table). `modified` is the
store's time, except in what a put returns: stores do not tell it there, so it is this machine's.
"""

from collections.abc import Generator, Iterator
from datetime import timedelta
from itertools import chain
from typing import Literal

import obstore

from lochan.environment import Environment
from lochan.errors import InvalidInput, NotFound, Unavailable
from lochan.objects.body import chunks, cut
from lochan.objects.drivers.cloud.clients import Clients, Store
from lochan.objects.drivers.cloud.failures import Attempt, told
from lochan.objects.drivers.cloud.listing import FolderPages
from lochan.objects.drivers.cloud.paths import check_path
from lochan.objects.drivers.cloud.s3_pages import S3Pages
from lochan.objects.drivers.cloud.s3_uploads import S3Uploads
from lochan.objects.drivers.cloud.settings import CloudSettings, read_settings
from lochan.objects.drivers.cloud.stream import ObstoreStream, PartStream, part_sizes
from lochan.objects.drivers.cloud.versions import etag_of, info_of, mode_of
from lochan.objects.joined import JoinedUploads
from lochan.objects.namespace import Namespace, split_location
from lochan.objects.preconditions import check_precondition
from lochan.objects.store import (
    ALWAYS,
    PAGE,
    WHOLE,
    Always,
    Body,
    Extent,
    From,
    Last,
    ObjectInfo,
    Page,
    Precondition,
    Reading,
    Span,
    Uploads,
    Whole,
    resolve,
)

_CHUNK = 1 << 20
_COPY_LIMIT = 5 << 30  # S3 copies no larger object in one request


class CloudObjects:
    """The objects of one bucket or container, below a prefix."""

    def __init__(
        self, namespace: Namespace, settings: CloudSettings, environment: Environment
    ) -> None:
        """Connect on first use."""
        self._namespace = namespace
        self._scheme = namespace.scheme
        self._settings = settings
        self._environment = environment
        self._clients = Clients(namespace, settings)
        self._is_open = True
        self.uploads: Uploads
        if self._scheme == "s3":
            self.uploads = S3Uploads(self._clients, namespace, self.head)
            self._pages: S3Pages | FolderPages = S3Pages(self._clients, namespace)
        else:
            self.uploads = JoinedUploads(self, environment)
            self._pages = FolderPages(self._clients, self._scheme)

    @classmethod
    def open(cls, location: str, environment: Environment) -> "CloudObjects":
        """Open `s3://bucket/prefix?...`, `gs://...` or `az://...`; see settings for the options."""
        namespace, options = split_location(location)
        return cls(namespace, read_settings(namespace, options), environment)

    def put(
        self, address: str, body: Body, *, size: int | None = None, when: Precondition = ALWAYS
    ) -> ObjectInfo:
        """Send the body in one request, or in parts when it is longer than one."""
        self._check(address)
        sizes = part_sizes(self._settings.part_bytes, size)
        parts = cut(chunks(body, size, address), sizes)
        first, second = next(parts, b""), next(parts, None)
        if second is None:
            return self._put_whole(address, first, when)
        if not isinstance(when, Always):  # spares the sending of what must fail
            check_precondition(when, self._find(address), address)
        return self._put_parts(address, chain((first, second), parts), when)

    def get(self, address: str, extent: Extent = WHOLE) -> Reading:
        """Ask for the bytes; they arrive as they are read."""
        self._check(address)
        if isinstance(extent, Last) and self._scheme == "az":  # Azure counts from the front only
            extent = Span(*resolve(extent, self.head(address).size, address))
        client = self._clients.steady
        with told(self._reading(address)):
            match extent:
                case Whole():
                    found = obstore.get(client, address)
                case Span(start, stop):
                    found = obstore.get(client, address, options={"range": (start, stop)})
                case From(start):
                    found = obstore.get(client, address, options={"range": {"offset": start}})
                case Last(count):
                    found = obstore.get(client, address, options={"range": {"suffix": count}})
            info = info_of(self._scheme, found.meta)
            stream = iter(found.stream(_CHUNK))
        pieces = self._pieces(stream, address)
        return Reading(info, found.range, pieces, pieces.close)

    def head(self, address: str) -> ObjectInfo:
        """Ask the store."""
        self._check(address)
        with told(self._reading(address)):
            return info_of(self._scheme, obstore.head(self._clients.steady, address))

    def list(
        self, prefix: str = "", *, delimiter: str = "", start_after: str = "", limit: int = PAGE
    ) -> Page:
        """Ask for one page."""
        self._check_open()
        if limit < 1:
            raise InvalidInput(f"a page holds at least one item, not {limit}")
        return self._pages.page(prefix, delimiter, start_after, limit)

    def delete(self, *addresses: str) -> None:
        """Remove objects, a thousand by one request where the store can."""
        for address in addresses:
            self._check(address)
        if self._scheme == "s3" and addresses:
            with told(self._writing(addresses[0], is_repeated=True)):
                obstore.delete(self._clients.steady, [*addresses])
            return
        for address in addresses:
            try:
                with told(self._writing(address, is_repeated=True)):
                    obstore.delete(self._clients.steady, address)
            except NotFound:
                continue

    def copy(self, source: str, destination: str) -> ObjectInfo:
        """Let the store copy."""
        self._check(destination)
        size = self.head(source).size
        with told(self._writing(destination, is_repeated=True)):
            if self._scheme == "s3" and size > _COPY_LIMIT:
                self._copy_in_parts(source, destination)
            else:
                obstore.copy(self._clients.steady, source, destination)
        return self.head(destination)

    def close(self) -> None:
        """Let go of the connections."""
        self._is_open = False
        self._clients = Clients(self._namespace, self._settings)

    def presign_get(self, address: str, expires_s: int) -> str:
        """Sign a URL that reads."""
        return self._sign("GET", address, expires_s)

    def presign_put(self, address: str, expires_s: int) -> str:
        """Sign a URL that puts."""
        return self._sign("PUT", address, expires_s)

    def _put_whole(self, address: str, body: bytes, when: Precondition) -> ObjectInfo:
        is_repeated = isinstance(when, Always)
        client: Store = self._clients.steady if is_repeated else self._clients.once
        with told(self._writing(address, is_repeated=is_repeated)):
            mode = mode_of(self._scheme, when)
            result = obstore.put(client, address, body, mode=mode, use_multipart=False)
        etag = etag_of(self._scheme, result["e_tag"], result["version"])
        return ObjectInfo(len(body), etag, self._environment.now())

    def _put_parts(self, address: str, parts: Iterator[bytes], when: Precondition) -> ObjectInfo:
        if self._scheme == "s3":
            return PartStream(self.uploads, self._environment).put(address, parts, when)
        ObstoreStream(self._clients, self._scheme, self._environment).put(address, parts, when)
        return self.head(address)

    def _copy_in_parts(self, source: str, destination: str) -> None:
        bucket, path = self._namespace.authority, self._namespace.path
        origin, target = (f"{path}/{name}" if path else name for name in (source, destination))
        self._clients.boto_steady.copy({"Bucket": bucket, "Key": origin}, bucket, target)

    def _pieces(self, stream: Iterator[bytes], address: str) -> Generator[bytes, None, None]:
        while True:
            with told(self._reading(address)):
                piece = next(stream, None)
            if piece is None:
                return
            yield bytes(piece)

    def _sign(self, method: Literal["GET", "PUT"], address: str, expires_s: int) -> str:
        self._check(address)
        if expires_s < 1:
            raise InvalidInput(f"a URL lives for at least a second, not {expires_s}")
        with told(self._reading(address)):
            lifetime = timedelta(seconds=expires_s)
            return obstore.sign(self._clients.steady, method, address, lifetime)

    def _find(self, address: str) -> ObjectInfo | None:
        try:
            return self.head(address)
        except NotFound:
            return None

    def _reading(self, address: str) -> Attempt:
        return Attempt(address, scheme=self._scheme)

    def _writing(self, address: str, *, is_repeated: bool) -> Attempt:
        return Attempt(address, is_write=True, is_repeated=is_repeated, scheme=self._scheme)

    def _check(self, address: str) -> None:
        self._check_open()
        check_path(address, self._namespace)

    def _check_open(self) -> None:
        if not self._is_open:
            raise Unavailable(f"the store of {self._namespace} has been closed; open it again")
