# SPDX-License-Identifier: Apache-2.0
"""A job's token reads its inputs and nothing else, until it has expired."""

import jwt
import pytest

from lochan.access.actions import READ_OBJECT, WRITE_OBJECT
from lochan.access.arn import object_arn
from lochan.access.job_token import (
    AUDIENCE,
    LONGEST_S,
    TYPE,
    JobClaims,
    is_job_token,
    issue_job_token,
    principal_of,
    verify_job_token,
)
from lochan.access.login import login, verify_login
from lochan.errors import InvalidInput, Unauthenticated
from support.access_ground import AccessGround, with_ann

CLAIMS = JobClaims("words", "job1", 2, ("books",))


@pytest.fixture
def ground() -> AccessGround:
    return AccessGround()


def test_a_token_says_what_it_was_made_for(ground: AccessGround) -> None:
    token = issue_job_token(ground.access, CLAIMS, lasts_s=60)
    assert is_job_token(token)
    assert verify_job_token(ground.access, token) == CLAIMS


def test_rel_S14_a_driver_reads_its_inputs_and_nothing_else() -> None:
    driver = principal_of(CLAIMS)
    assert driver.rules.allow(READ_OBJECT, object_arn("books", "a"))
    assert not driver.rules.allow(READ_OBJECT, object_arn("books-of-others", "a"))
    assert not driver.rules.allow(WRITE_OBJECT, object_arn("books", "a"))


def test_rel_S14_an_expired_token_is_void(ground: AccessGround) -> None:
    token = issue_job_token(ground.access, CLAIMS, lasts_s=60)
    ground.clock.sleep(61)
    with pytest.raises(Unauthenticated):
        verify_job_token(ground.access, token)
    with pytest.raises(InvalidInput):
        issue_job_token(ground.access, CLAIMS, lasts_s=LONGEST_S + 1)


def test_rel_S14_logins_and_tokens_of_jobs_do_not_pass_for_each_other(
    ground: AccessGround,
) -> None:
    ann = with_ann(ground)
    signed_in = login(ground.access, ann.access_key_id, ann.secret_access_key).token
    assert not is_job_token(signed_in)
    with pytest.raises(Unauthenticated):
        verify_job_token(ground.access, signed_in)
    with pytest.raises(Unauthenticated):
        verify_login(ground.access, issue_job_token(ground.access, CLAIMS, lasts_s=60))


@pytest.mark.parametrize("broken", ["", "a.b.c", "x" * 20_000])
def test_what_is_no_token_is_refused(ground: AccessGround, broken: str) -> None:
    assert not is_job_token(broken)
    with pytest.raises(Unauthenticated):
        verify_job_token(ground.access, broken)


def test_a_token_that_another_key_signed_is_refused(ground: AccessGround) -> None:
    said = jwt.decode(
        issue_job_token(ground.access, CLAIMS, lasts_s=60), options={"verify_signature": False}
    )
    headers = {"kid": ground.access.keys.current, "typ": TYPE}
    forged = jwt.encode(said, b"k" * 32, algorithm="HS256", headers=headers)
    assert said["aud"] == AUDIENCE
    with pytest.raises(Unauthenticated):
        verify_job_token(ground.access, forged)
