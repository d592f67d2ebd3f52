# SPDX-License-Identifier: Apache-2.0
"""How a job ends that publishes nothing, as errors: who raises them is in the middle of the work.

    JobFailed       the pipeline's own doing: a datum, a check, a collision   -> FAILURE (errors)
    JobKilled       somebody asked for its end                                -> KILLED
    JobUnrunnable   what it reads was not made                                -> UNRUNNABLE
    JobOutdated     a newer version of the pipeline has run meanwhile         -> SKIPPED
    LeaseLost       another driver has the job: this one stops, and says nothing of the job

Everything else that is raised leaves the job open, and its next driver tries again.
"""

from collections.abc import Callable

from lochan.errors import Conflict, LochanError

Failed = Callable[[LochanError], None]  # hears of what fails while others go on


class JobKilled(Conflict):
    """Somebody asked for the end of a job."""

    default_code = "job-killed"


class JobUnrunnable(Conflict):
    """What a job would read was not made: a job above it failed, or an input is not there."""

    default_code = "job-unrunnable"


class JobOutdated(Conflict):
    """A newer version of the pipeline has run since a job was decided on."""

    default_code = "job-outdated"


class LeaseLost(Conflict):
    """Another driver has taken the job over."""

    default_code = "job-lease-lost"
