# SPDX-License-Identifier: Apache-2.0
"""Every error that Lochan raises, grouped by what the caller will do about it.

    LochanError
    |- NotFound             the thing named does not exist           look elsewhere
    |  `- RepositoryNotFound
    |- Gone                 it existed and is being removed          stop using it
    |  |- RepositoryDeleting
    |  `- ObjectExpired         collected: no commit that is kept holds it
    |- AlreadyExists        the name is taken                        choose another
    |  `- NotUnique
    |- Conflict             somebody else changed it                 read again, decide, repeat
    |  `- PredicateFailed       a conditional write was not applied
    |- Refused              a rule of the lake forbids it            change the rule or the request
    |- PermissionDenied     known, but not allowed
    |- Unauthenticated      not known
    |- InvalidInput         the request itself is wrong              mend the request
    |- Throttled            too many requests                        wait, then try again
    |- Unavailable          a store did not answer                   try again later
    |  `- UnknownOutcome        it may or may not have been applied    read before repeating
    |- JobFailed            a pipeline's code or check said no       look at its log, mend the code
    |- Corruption           stored bytes are not what was written    restore, run fsck
    `- Internal             a bug of ours                            report it

Each class knows its HTTP status, S3 code and whether a plain repeat may help, so that every edge
can translate it without a table of its own. `code` is stable for ever; a message may change. Facts
are keyword arguments and stay readable in `facts`.

A subclass exists only where some caller catches it.
"""

from typing import ClassVar


class LochanError(Exception):
    """An error that a person or program can act on: message, stable code, and the facts."""

    status: ClassVar[int] = 500
    s3_code: ClassVar[str] = "InternalError"
    retryable: ClassVar[bool] = False
    default_code: ClassVar[str] = "internal"

    def __init__(self, message: str, *, code: str | None = None, **facts: object) -> None:
        """Keep the message, the stable code and the facts behind it."""
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.facts = facts

    def __str__(self) -> str:
        """Give the one line that a person reads."""
        return self.message


class NotFound(LochanError, LookupError):
    """The thing named does not exist."""

    status = 404
    s3_code = "NoSuchKey"
    default_code = "not-found"


class RepositoryNotFound(NotFound):
    """No active repository has this name."""

    s3_code = "NoSuchBucket"
    default_code = "repository-not-found"


class Gone(LochanError):
    """The thing existed and is being removed."""

    status = 410
    s3_code = "NoSuchBucket"
    default_code = "gone"


class RepositoryDeleting(Gone):
    """The repository is being deleted; nothing in it may be read or written."""

    default_code = "repository-deleting"


class ObjectExpired(Gone):
    """The object was collected: no commit that the rules of retention keep holds it any more."""

    s3_code = "NoSuchKey"
    default_code = "object-expired"


class AlreadyExists(LochanError):
    """The name is taken."""

    status = 409
    s3_code = "OperationAborted"
    default_code = "already-exists"


class NotUnique(AlreadyExists):
    """Somebody else created a thing of this name first."""

    default_code = "not-unique"


class Conflict(LochanError):
    """The state changed under the caller, or two changes contradict each other."""

    status = 409
    s3_code = "OperationAborted"
    default_code = "conflict"


class PredicateFailed(Conflict):
    """A conditional write was not applied: the stored value is not the expected one."""

    status = 412
    s3_code = "PreconditionFailed"
    default_code = "predicate-failed"


class Refused(LochanError):
    """A rule of the lake forbids the request."""

    status = 403
    s3_code = "AccessDenied"
    default_code = "refused"


class PermissionDenied(LochanError):
    """The caller is known, and may not do this."""

    status = 403
    s3_code = "AccessDenied"
    default_code = "permission-denied"


class Unauthenticated(LochanError):
    """The caller is not known."""

    status = 401
    s3_code = "InvalidAccessKeyId"
    default_code = "unauthenticated"


class InvalidInput(LochanError, ValueError):
    """The request itself is wrong; repeating it cannot help."""

    status = 400
    s3_code = "InvalidArgument"
    default_code = "invalid-input"


class Throttled(LochanError):
    """Too many requests; fact `retry_after` says how many seconds to wait."""

    status = 429
    s3_code = "SlowDown"
    retryable = True
    default_code = "throttled"


class Unavailable(LochanError):
    """A store did not answer, and certainly did not apply the request."""

    status = 503
    s3_code = "SlowDown"
    retryable = True
    default_code = "unavailable"


class UnknownOutcome(Unavailable):
    """A write may or may not have been applied: read before repeating it.

    It is not retryable in itself: a blind repeat of a conditional write would meet its own effect
    and report a conflict that never was.
    """

    status = 500
    s3_code = "InternalError"
    retryable = False
    default_code = "unknown-outcome"


class JobFailed(LochanError):
    """A job ended without a result: facts name the datum, its paths and the end of its log."""

    status = 422
    default_code = "job-failed"


class Corruption(LochanError):
    """Stored bytes are not what was written; the message names the file and the offset."""

    default_code = "corruption"

    def __init__(
        self,
        reason: str,
        *,
        file: str = "",
        offset: int = 0,
        code: str | None = None,
        **facts: object,
    ) -> None:
        """Say which file is damaged, where, and how it shows."""
        where = f"{file or 'unnamed file'} is damaged at offset {offset}: {reason}"
        super().__init__(where, code=code, file=file, offset=offset, **facts)
        self.reason = reason
        self.file = file
        self.offset = offset


class Internal(LochanError):
    """A promise inside Lochan was broken; this is a bug."""
