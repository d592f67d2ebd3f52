# SPDX-License-Identifier: Apache-2.0
import copy
import inspect
import pickle

import pytest

from lochan import errors
from lochan.errors import Corruption, LochanError

CLASSES = [
    found
    for _, found in inspect.getmembers(errors, inspect.isclass)
    if issubclass(found, LochanError)
]
KINDS = pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)

# Status and code are promises to clients: append only.
PROMISED = {
    "NotFound": (404, "not-found", False),
    "RepositoryNotFound": (404, "repository-not-found", False),
    "Gone": (410, "gone", False),
    "RepositoryDeleting": (410, "repository-deleting", False),
    "ObjectExpired": (410, "object-expired", False),
    "AlreadyExists": (409, "already-exists", False),
    "NotUnique": (409, "not-unique", False),
    "Conflict": (409, "conflict", False),
    "PredicateFailed": (412, "predicate-failed", False),
    "Refused": (403, "refused", False),
    "PermissionDenied": (403, "permission-denied", False),
    "Unauthenticated": (401, "unauthenticated", False),
    "InvalidInput": (400, "invalid-input", False),
    "Throttled": (429, "throttled", True),
    "Unavailable": (503, "unavailable", True),
    "UnknownOutcome": (500, "unknown-outcome", False),
    "JobFailed": (422, "job-failed", False),
    "Corruption": (500, "corruption", False),
    "Internal": (500, "internal", False),
}


def test_status_code_and_retryable_of_each_class_stay_what_they_were() -> None:
    found = {
        kind.__name__: (kind.status, kind.default_code, kind.retryable)
        for kind in CLASSES
        if kind is not LochanError
    }

    assert found == PROMISED


def test_no_two_classes_share_a_code() -> None:
    codes = [kind.default_code for kind in CLASSES if kind is not LochanError]

    assert len(set(codes)) == len(codes)


@KINDS
def test_each_class_is_drawn_in_the_tree_and_has_an_s3_code(kind: type[LochanError]) -> None:
    assert kind.__name__ in (errors.__doc__ or "")
    assert kind.s3_code.isalpha()


@KINDS
def test_an_error_carries_message_code_and_facts(kind: type[LochanError]) -> None:
    error = kind("nothing there", code="special", branch="main")

    assert str(error).endswith("nothing there")
    assert error.code == "special"
    assert error.facts["branch"] == "main"


@KINDS
def test_an_error_crosses_processes_unchanged(kind: type[LochanError]) -> None:
    error = kind("nothing there", code="special", branch="main")

    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is kind
        assert (str(twin), twin.code, twin.facts) == (str(error), error.code, error.facts)


def test_corruption_names_file_and_offset() -> None:
    error = Corruption("checksum differs", file="ab12", offset=4096)

    assert str(error) == "ab12 is damaged at offset 4096: checksum differs"
    assert (error.file, error.offset, error.reason) == ("ab12", 4096, "checksum differs")


def test_callers_of_the_standard_library_catch_the_kinds_they_know() -> None:
    assert issubclass(errors.NotFound, LookupError)
    assert issubclass(errors.InvalidInput, ValueError)
