# SPDX-License-Identifier: Apache-2.0
"""What a pipeline's commit says of the job that made it: the keys of its metadata, all strings.

They are part of what the commit's id hashes, so a commit that carries a job's id is that job's, for
ever: after a crash it is looked for before anything is published again. Direct inputs are in the
commit's `provenance`.

One more, lochan.hidden, is the collector's word (`gc.expiry.HIDDEN`): the tree of outputs that
others hide (`squash`).
"""

from collections.abc import Mapping
from typing import Final

from lochan.model.ids import MetaRangeId
from lochan.model.records import Commit
from lochan.pipelines.model.records import Counts

JOB: Final = "lochan.job"
JOB_SET: Final = "lochan.job-set"
PIPELINE: Final = "lochan.pipeline"
VERSION: Final = "lochan.version"
DIGEST: Final = "lochan.digest"  # that datum hashes were made of
DATUMS: Final = "lochan.datums"  # metarange of the datum index, in the output's namespace
EPOCH: Final = "lochan.epoch"
PROCESSED: Final = "lochan.processed"
SKIPPED: Final = "lochan.skipped"
REMEMBERED: Final = "lochan.remembered"
FAILED: Final = "lochan.failed"


def counted(counts: Counts) -> Mapping[str, str]:
    """Give what a commit says of how many datums were run, and how many need not be."""
    return {
        PROCESSED: str(counts.processed),
        SKIPPED: str(counts.skipped),
        REMEMBERED: str(counts.remembered),
        FAILED: str(counts.failed),
    }


def job_of(commit: Commit) -> str:
    """Name the job that made a commit; nothing for what somebody else made."""
    return commit.metadata.get(JOB, "")


def index_of(commit: Commit) -> MetaRangeId | None:
    """Name the datum index of a pipeline's commit; None for what no pipeline made."""
    return MetaRangeId(commit.metadata[DATUMS]) if DATUMS in commit.metadata else None
