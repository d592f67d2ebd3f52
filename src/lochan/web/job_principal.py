# SPDX-License-Identifier: Apache-2.0
"""Who asks with a job's token: the driver of a job, as long as it is the one that drives it."""

from lochan.access.job_token import principal_of, verify_job_token, void
from lochan.access.principal import Principal
from lochan.errors import NotFound
from lochan.pipelines.jobs.job_records import get_job
from lochan.web.services import Services


def job_principal(services: Services, token: str) -> Principal:
    """Give the driver that a token is for. Raises Unauthenticated when its job has gone on."""
    claims = verify_job_token(services.access, token)
    try:
        job = get_job(services.lake.store, claims.job)
    except NotFound as error:
        raise void() from error
    if job.state.is_end or job.epoch != claims.epoch or job.pipeline != claims.pipeline:
        raise void()
    return principal_of(claims)
