# SPDX-License-Identifier: Apache-2.0
"""What a commit was made of, as far as the caller may know of it."""

from collections.abc import Iterable

from lochan.access.actions import READ_COMMIT
from lochan.access.arn import repository_arn
from lochan.access.needed import Permission
from lochan.model import records
from lochan.shapes.provenance import Provenance
from lochan.web.call import Call


def shown_sources(call: Call, sources: Iterable[records.Provenance]) -> list[Provenance]:
    """Show inputs, in their order; those in repositories that may not be read are left out."""
    return [_shown(each) for each in sources if _may_know(call, each)]


def _may_know(call: Call, source: records.Provenance) -> bool:
    return call.may(Permission(READ_COMMIT, repository_arn(source.repository_id)))


def _shown(source: records.Provenance) -> Provenance:
    return Provenance(
        repository_id=source.repository_id,
        commit_id=source.commit_id,
        input=source.input,
        glob=source.glob,
        meta_range_id=source.meta_range_id,
    )
