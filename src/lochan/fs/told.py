# SPDX-License-Identifier: Apache-2.0
"""Errors as the operating system's, where fsspec and its users expect those.

What is not there, what is there already, and what may not be touched. All others stay as they are:
fsspec takes any OSError of a listing for an empty folder, and a server that does not answer is not
an empty folder.
"""

import errno
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager

from lochan.errors import (
    AlreadyExists,
    Gone,
    InvalidInput,
    NotFound,
    PermissionDenied,
    PredicateFailed,
    Refused,
)


@contextmanager
def told(path: str) -> Iterator[None]:
    """Raise errors about a path as fsspec knows them."""
    try:
        yield
    except (NotFound, Gone) as error:
        raise FileNotFoundError(errno.ENOENT, error.message, path) from error
    except (AlreadyExists, PredicateFailed) as error:
        raise FileExistsError(errno.EEXIST, error.message, path) from error
    except InvalidInput as error:
        if error.code == "no-append":
            raise io.UnsupportedOperation(error.message) from error
        raise


@contextmanager
def told_of_write(path: str) -> Iterator[None]:
    """Raise errors of a read or write of one file: a missing right is a PermissionError, too."""
    try:
        with told(path):
            yield
    except (PermissionDenied, Refused) as error:
        raise PermissionError(errno.EACCES, error.message, path) from error


def missing(path: str) -> FileNotFoundError:
    """Make the error for a path at which there is nothing."""
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
