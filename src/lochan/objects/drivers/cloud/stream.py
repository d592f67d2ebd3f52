# SPDX-License-Identifier: Apache-2.0
"""Bodies that do not fit into one request: a few parts at a time, whole or nothing at the end.

On S3 the parts are those of an upload, which is completed under the put's precondition. Elsewhere
obstore streams to the address itself; for `IF_ABSENT` it streams to a private address, from which
the store copies to the real one if that is absent.
"""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress

import obstore

from lochan.environment import Environment
from lochan.errors import InvalidInput, LochanError, UnknownOutcome
from lochan.objects.drivers.cloud.clients import Clients
from lochan.objects.drivers.cloud.failures import Attempt, told
from lochan.objects.joined import MAX_PARTS
from lochan.objects.store import Always, IfAbsent, ObjectInfo, Part, Precondition, Uploads

_AT_ONCE = 4
_STEP = 1000  # parts of one size, where the size of the whole is not known
_LARGEST_PART = 512 << 20
INCOMING = "_work/incoming"


def part_sizes(part_bytes: int, size: int | None) -> Iterator[int]:
    """Say how large each part is, so that at most 10,000 hold the body.

    Without a declared size, parts double after every thousand, up to 512 MiB: small bodies need
    little memory, and 2 TiB still fit.
    """
    if size is not None:
        part_bytes = max(part_bytes, -(-size // MAX_PARTS))
        return iter([part_bytes] * MAX_PARTS)
    largest = max(part_bytes, _LARGEST_PART)
    return (min(part_bytes << (number // _STEP), largest) for number in range(MAX_PARTS))


class PartStream:
    """Streams a body through an upload in parts."""

    def __init__(self, uploads: Uploads, environment: Environment) -> None:
        """Put parts side by side in threads of the environment."""
        self._uploads = uploads
        self._environment = environment

    def put(self, address: str, parts: Iterator[bytes], when: Precondition) -> ObjectInfo:
        """Store parts as one object; on any failure none of them."""
        upload = self._uploads.create(address)
        try:
            stored = self._put_all(address, upload, parts)
            return self._uploads.complete(address, upload, stored, when=when)
        except UnknownOutcome:
            raise  # it may be completing: what exists perhaps must not be aborted
        except BaseException:
            # The first failure is the one to report; a failed abort leaves parts that nobody sees.
            with suppress(LochanError):
                self._uploads.abort(address, upload)
            raise

    def _put_all(self, address: str, upload: str, parts: Iterator[bytes]) -> list[Part]:
        stored: list[Part] = []
        waiting: deque[Future[Part]] = deque()
        with self._environment.executor(_AT_ONCE) as pool:
            for number, part in enumerate(parts, 1):
                waiting.append(pool.submit(self._uploads.put_part, address, upload, number, part))
                if len(waiting) == _AT_ONCE:
                    stored.append(waiting.popleft().result())
            stored += [future.result() for future in waiting]
        return stored


class ObstoreStream:
    """Streams a body through obstore, where it has all that is needed."""

    def __init__(self, clients: Clients, scheme: str, environment: Environment) -> None:
        """Stream to what these clients reach."""
        self._clients = clients
        self._scheme = scheme
        self._environment = environment

    def put(self, address: str, parts: Iterator[bytes], when: Precondition) -> None:
        """Store parts as one object. Raises InvalidInput for a condition that cannot be kept."""
        if isinstance(when, Always):
            self._send(address, parts)
            return
        if not isinstance(when, IfAbsent):
            message = f"{self._scheme} replaces a version only in one request; {address} is larger"
            raise InvalidInput(message, code="body-too-large")
        incoming = f"{INCOMING}/{self._environment.new_id()}"
        try:
            self._send(incoming, parts)
            with told(Attempt(address, is_write=True, scheme=self._scheme)):
                obstore.copy(self._clients.once, incoming, address, overwrite=False)
        finally:
            # Whatever happened is told already; an object left here is nobody's.
            with suppress(LochanError), told(Attempt(incoming, is_write=True)):
                obstore.delete(self._clients.steady, incoming)

    def _send(self, address: str, parts: Iterator[bytes]) -> None:
        guarded = _Guarded(parts)
        try:
            with told(Attempt(address, is_write=True, is_repeated=True, scheme=self._scheme)):
                obstore.put(
                    self._clients.steady, address, guarded, use_multipart=True, max_concurrency=4
                )
        except BaseException:
            if guarded.error is not None:
                raise guarded.error from None
            raise


class _Guarded:
    """A body that remembers its error, which a library may wrap or take for one of its own."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts
        self.error: BaseException | None = None

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            return next(self._parts)
        except StopIteration:
            raise
        except BaseException as error:
            self.error = error
            raise
