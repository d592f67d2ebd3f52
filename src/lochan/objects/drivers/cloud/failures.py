# SPDX-License-Identifier: Apache-2.0
"""What libraries raise, told as our errors, and above all whether a write was applied.

    the store said                                a read             a write
    404                                           NotFound           NotFound
    412; 409 from Azure                           -                  PredicateFailed
    416                                           InvalidInput       -
    401, 403                                      Unauthenticated, PermissionDenied
    408, 409, 429, 503                            Unavailable        Unavailable
    any other 4xx                                 InvalidInput       InvalidInput
    any other 5xx, or nothing                     Unavailable        UnknownOutcome
    nothing, for no connection came about         Unavailable        Unavailable

409 is how S3 answers a conditional write that met another one: nothing was applied, try again. A
write that the library sent more than once is UnknownOutcome wherever the table says Unavailable,
for an earlier sending may have been applied.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ParamValidationError,
)
from obstore.exceptions import BaseError

from lochan.errors import (
    InvalidInput,
    LochanError,
    NotFound,
    PermissionDenied,
    PredicateFailed,
    Unauthenticated,
    Unavailable,
    UnknownOutcome,
)

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>(\w+)</Code>")
# Azurite answers a range behind the end with one that runs backwards, where Azure says 416.
_BACKWARDS = re.compile(r'CONTENT_RANGE header: "bytes (\d+)-(-?\d+)/')
_CONNECT = re.compile(r"kind: Connect\b")
_TRY_AGAIN = {408, 409, 429, 503}


class Attempt(NamedTuple):
    """A request: what it is about, and what its failure can mean."""

    address: str
    is_write: bool = False
    is_repeated: bool = False
    scheme: str = "s3"


class Answer(NamedTuple):
    """What came back: the status (0 for none), the store's code, and a line for people."""

    status: int
    code: str
    line: str
    reached: bool = True


@contextmanager
def told(attempt: Attempt) -> Iterator[None]:
    """Turn what the libraries raise inside the block into our errors."""
    try:
        yield
    except (BaseError, FileNotFoundError, NotImplementedError) as error:
        raise translate(_heard(error), attempt) from error
    except ClientError as error:
        raise translate(_heard_by_boto(error), attempt) from error
    except ParamValidationError as error:
        raise InvalidInput(f"{attempt.address} is refused: {error}") from error
    except BotoCoreError as error:
        reached = not isinstance(error, EndpointConnectionError | ConnectTimeoutError)
        raise translate(Answer(0, "", str(error), reached), attempt) from error


def translate(answer: Answer, attempt: Attempt) -> LochanError:
    """Choose the error that says what the caller must know."""
    status, address = answer.status, attempt.address
    if status == 404:  # noqa: PLR2004  statuses are numbers
        code = {"NoSuchBucket": "bucket-not-found", "NoSuchUpload": "upload-not-found"}
        return NotFound(f"{address} is not there: {answer.line}", code=code.get(answer.code))
    if status == 412 or (status == 409 and attempt.scheme == "az"):  # noqa: PLR2004
        return PredicateFailed(f"{address} is not as the precondition says: {answer.line}")
    if status == 416:  # noqa: PLR2004
        return InvalidInput(f"no such part of {address}", code="range-not-satisfiable")
    if status in {401, 403}:
        kind = Unauthenticated if status == 401 else PermissionDenied  # noqa: PLR2004
        return kind(f"{address} is refused: {answer.line}")
    return _unanswered(answer, attempt)


def _unanswered(answer: Answer, attempt: Attempt) -> LochanError:
    is_again = answer.status in _TRY_AGAIN or not answer.reached
    if 400 <= answer.status < 500 and not is_again:  # noqa: PLR2004
        return InvalidInput(f"{attempt.address} is refused: {answer.line}", code=_known(answer))
    if attempt.is_write and (attempt.is_repeated or not is_again):
        message = f"{attempt.address} may have been written or not: {answer.line}"
        return UnknownOutcome(f"{message}; read before repeating")
    return Unavailable(f"{attempt.address} cannot be reached now: {answer.line}")


def _known(answer: Answer) -> str | None:
    parts = {"InvalidPart", "InvalidPartOrder", "EntityTooSmall", "MalformedXML"}
    return "invalid-parts" if answer.code in parts else None


def _heard(error: Exception) -> Answer:
    text = str(error)
    status, code = _STATUS.search(text), _CODE.search(text)
    line = text.partition("\n")[0]
    known = 404 if isinstance(error, FileNotFoundError) else 0
    span = _BACKWARDS.search(text)
    if "InvalidRangeRequest" in text or (span and int(span[2]) < int(span[1])):
        known = 416
    reached = not _CONNECT.search(text)
    return Answer(int(status[1]) if status else known, code[1] if code else "", line, reached)


def _heard_by_boto(error: ClientError) -> Answer:
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    code = error.response.get("Error", {}).get("Code", "")
    # S3 may begin to answer 200 and then find out that it failed.
    return Answer(500 if status == 200 else status, code, str(error))  # noqa: PLR2004
