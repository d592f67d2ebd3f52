# SPDX-License-Identifier: Apache-2.0
"""Answers that are errors become the errors that the server raised."""

import json

import httpx
import pytest

from lochan import errors
from lochan.client.failures import error_of
from lochan.web.errors import error_reply


def answer(status: int, body: bytes) -> httpx.Response:
    request = httpx.Request("GET", "http://lake/api/v1/x")
    return httpx.Response(status, content=body, request=request)


def error(status: int, **said: str) -> errors.LochanError:
    return error_of(answer(status, json.dumps(said).encode()))


RAISED = [
    errors.NotFound("m"),
    errors.NotFound("m", code="branch-not-found"),
    errors.RepositoryNotFound("m"),
    errors.RepositoryDeleting("m"),
    errors.AlreadyExists("m"),
    errors.NotUnique("m"),
    errors.AlreadyExists("m", code="protection-already-exists"),
    errors.AlreadyExists("m", code="namespace-in-use"),
    errors.Conflict("m"),
    errors.Conflict("m", code="contended"),
    errors.PredicateFailed("m"),
    errors.Refused("m", code="protected-branch"),
    errors.AlreadyExists("m", code="object-exists"),
    errors.PermissionDenied("m"),
    errors.PermissionDenied("m", code="invalid-signed-url"),
    errors.Unauthenticated("m"),
    errors.InvalidInput("m", code="invalid-range"),
    errors.InvalidInput("m", code="not-implemented"),
    errors.Throttled("m"),
    errors.Unavailable("m"),
    errors.UnknownOutcome("m"),
    errors.Corruption("m", file="f", offset=3),
    errors.Internal("m"),
    errors.JobFailed("m"),
]


@pytest.mark.parametrize("raised", RAISED, ids=lambda e: f"{type(e).__name__}-{e.code}")
def test_an_error_of_the_server_is_the_same_error_at_the_client(raised: errors.LochanError) -> None:
    reply = error_reply(raised)
    found = error(reply.status or 0, message=raised.message, code=raised.code)

    assert type(found) is type(raised)
    assert (found.message, found.code) == (raised.message, raised.code)


def test_every_category_of_error_is_told_apart() -> None:
    assert {type(raised) for raised in RAISED} >= set(errors.LochanError.__subclasses__()) - {
        errors.Gone
    }


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, errors.InvalidInput),
        (403, errors.PermissionDenied),
        (404, errors.NotFound),
        (409, errors.Conflict),
        (410, errors.Gone),
        (412, errors.PredicateFailed),
        (418, errors.InvalidInput),
        (423, errors.Conflict),
        (507, errors.Internal),
    ],
)
def test_a_server_without_codes_is_understood_by_status(
    status: int, kind: type[errors.LochanError]
) -> None:
    assert type(error(status, message="m")) is kind


def test_a_merge_that_met_conflicts_is_a_conflict_though_its_body_is_none_of_an_error() -> None:
    found = error(409, reference="")

    assert type(found) is errors.Conflict
    assert found.code == "merge-conflict"


@pytest.mark.parametrize(
    "body", [b"", b"<html>\n<h1>502 Bad\tGateway</h1>", b"[1]", b"\xff" * 9000]
)
def test_an_answer_that_cannot_be_read_is_one_clear_line(body: bytes) -> None:
    found = error_of(answer(502, body))

    assert type(found) is errors.Unavailable
    assert "\n" not in found.message
    assert "502" in found.message
    assert len(found.message) < 400


def test_a_proxys_refusal_of_credentials_keeps_its_meaning() -> None:
    assert type(error_of(answer(401, b"<html>"))) is errors.Unauthenticated
