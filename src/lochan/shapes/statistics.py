# SPDX-License-Identifier: Apache-2.0
"""Statistics that lakeFS's clients send and ask for."""

from typing import Annotated

from msgspec import Meta, Struct, field

from lochan.shapes.fields import MAX_SIZE


class StatsEvent(Struct, frozen=True, kw_only=True):
    """Something that a client did, and how often."""

    class_: Annotated[str, Meta(description="Which part of the client.")] = field(name="class")
    name: Annotated[str, Meta(description="What was done.")]
    count: Annotated[int, Meta(ge=0, le=MAX_SIZE, description="How often.")]


class StatsEventsList(Struct, frozen=True, kw_only=True):
    """What a client did since it last told."""

    events: list[StatsEvent]


class UsageReport(Struct, frozen=True, kw_only=True):
    """The requests of one month."""

    year: Annotated[int, Meta(description="The year.")]
    month: Annotated[int, Meta(ge=1, le=12, description="The month, from 1.")]
    count: Annotated[int, Meta(ge=0, description="Requests in that month.")]


class InstallationUsageReport(Struct, frozen=True, kw_only=True):
    """The requests that a server has had."""

    installation_id: Annotated[str, Meta(description="Tells this installation from others.")]
    reports: list[UsageReport]
