# SPDX-License-Identifier: Apache-2.0
"""Tokens of jobs: a driver reads its inputs through a server, and nothing else, for a while (S14).

A token is a JWT by HS256, like a login's, with a type of its own in its header and an audience of
its own in its claims, so that neither passes for the other. It names the job, its driver's epoch
and the repositories that may be read. Whoever accepts one asks besides whether the job is still
driven by that driver: a job's end voids its tokens.
"""

from dataclasses import dataclass
from typing import Final

import jwt

from lochan.access import actions
from lochan.access.access import Access
from lochan.access.arn import repository_arn
from lochan.access.decide import ALLOW, rules
from lochan.access.principal import Principal
from lochan.access.signed_claims import ALGORITHM, ISSUER, signed_claims
from lochan.errors import InvalidInput, Unauthenticated
from lochan.model.access import Statement
from lochan.model.ids import UniqueIdentifier

TYPE: Final = "lochan-job+jwt"
AUDIENCE: Final = "job"
LONGEST_S: Final = 24 * 3600
_LONGEST_TOKEN: Final = 16 << 10
_REQUIRED: Final = ("iss", "aud", "sub", "job", "epoch", "reads", "iat", "exp")
_READS: Final = (
    actions.READ_REPOSITORY,
    actions.READ_OBJECT,
    actions.LIST_OBJECTS,
    actions.READ_COMMIT,
    actions.READ_BRANCH,
    actions.READ_TAG,
)


@dataclass(frozen=True, slots=True)
class JobClaims:
    """What a token says: whose it is, and what may be read with it."""

    pipeline: str
    job: str
    epoch: int
    reads: tuple[str, ...]


def issue_job_token(access: Access, claims: JobClaims, *, lasts_s: int) -> str:
    """Make a token for a job's driver. Raises InvalidInput for one that would last too long."""
    if not 0 < lasts_s <= LONGEST_S:
        raise InvalidInput(f"a job's token lasts up to {LONGEST_S} s, not {lasts_s}")
    issued = int(access.environment.now())
    said = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": claims.pipeline,
        "job": claims.job,
        "epoch": claims.epoch,
        "reads": list(claims.reads),
        "iat": issued,
        "exp": issued + lasts_s,
    }
    headers = {"kid": access.keys.current, "typ": TYPE}
    return jwt.encode(said, access.keys.signing_key(), algorithm=ALGORITHM, headers=headers)


def is_job_token(token: str) -> bool:
    """Say whether a token is meant for a job's driver; nothing of it is believed yet."""
    try:
        return jwt.get_unverified_header(token).get("typ") == TYPE
    except jwt.InvalidTokenError:
        return False


def verify_job_token(access: Access, token: str) -> JobClaims:
    """Give what a token says. Raises Unauthenticated for one that is not ours, or has expired."""
    if len(token) > _LONGEST_TOKEN:
        raise void()
    said = signed_claims(access, token, audience=AUDIENCE, required=_REQUIRED)
    if said is None:
        raise void()
    try:
        expires, issued = float(said["exp"]), float(said["iat"])
        claims = JobClaims(
            str(said["sub"]), str(said["job"]), int(said["epoch"]), _names(said["reads"])
        )
    except (ValueError, TypeError) as error:
        raise void() from error
    if not access.environment.now() < expires or expires - issued > LONGEST_S:
        raise void()
    return claims


def principal_of(claims: JobClaims) -> Principal:
    """Give who a job's driver is to the rest: it reads some repositories, and that is all."""
    statements = tuple(
        Statement(ALLOW, _READS, resource)
        for name in claims.reads
        for resource in (repository_arn(name), repository_arn(name) + "/*")
    )
    name = f"pipeline:{claims.pipeline}"
    return Principal(name, UniqueIdentifier(f"job:{claims.job}"), rules(statements, name))


def void() -> Unauthenticated:
    """Make the error for a token that does not count, or counts no more."""
    return Unauthenticated("the job's token is not valid any more", code="job-token-not-valid")


def _names(said: object) -> tuple[str, ...]:
    if not isinstance(said, list) or not all(isinstance(one, str) for one in said):
        raise TypeError("reads is no list of names")
    return tuple(said)
