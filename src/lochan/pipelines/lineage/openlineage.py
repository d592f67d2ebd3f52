# SPDX-License-Identifier: Apache-2.0
"""Jobs as events of OpenLineage, for catalogues that gather lineage from many systems.

    run        the job's id, written as a UUID
    job        namespace lochan, name the pipeline's; its version as the source code's
    datasets   namespace lochan, name repository/branch; version the commit

One event when a job starts, one when it ends. They are made from the job's record alone, so that
they can be told again at any time, and mean the same (OpenLineage joins events by the run's id).
"""

from enum import Enum
from itertools import pairwise
from typing import Any, Final

from lochan import __version__
from lochan.model.instant import Instant, to_datetime
from lochan.pipelines.model.records import Job, JobState, Pin

NAMESPACE: Final = "lochan"
_SCHEMAS: Final = "https://openlineage.io/spec"
_EVENT: Final = f"{_SCHEMAS}/2-0-2/OpenLineage.json#/$defs/RunEvent"
_PRODUCER: Final = f"urn:lochan:{__version__}"


class EventType(Enum):
    """What an event says of a run."""

    START = "START"
    COMPLETE = "COMPLETE"
    FAIL = "FAIL"
    ABORT = "ABORT"


_ENDS: Final = {
    JobState.SUCCESS: EventType.COMPLETE,
    JobState.SKIPPED: EventType.COMPLETE,
    JobState.FAILURE: EventType.FAIL,
    JobState.UNRUNNABLE: EventType.ABORT,
    JobState.KILLED: EventType.ABORT,
}


def events(job: Job) -> list[dict[str, Any]]:
    """Give the events of a job so far: its start, and its end if it has come."""
    told = []
    if job.epoch:
        told.append(_event(job, EventType.START, job.started))
    if job.state in _ENDS:
        told.append(_event(job, _ENDS[job.state], job.finished))
    return told


def _event(job: Job, kind: EventType, when: Instant) -> dict[str, Any]:
    run: dict[str, Any] = {"runId": _uuid(job.id)}
    if kind is EventType.FAIL:
        error = {"message": job.reason, "programmingLanguage": "python"}
        run["facets"] = {"errorMessage": _facet("1-0-1/ErrorMessageRunFacet", error)}
    source = {"type": NAMESPACE, "url": f"lochan:{job.pipeline}", "version": job.version}
    facets = {"sourceCodeLocation": _facet("1-0-1/SourceCodeLocationJobFacet", source)}
    return {
        "eventType": kind.value,
        "eventTime": to_datetime(when).isoformat(),
        "producer": _PRODUCER,
        "schemaURL": _EVENT,
        "run": run,
        "job": {"namespace": NAMESPACE, "name": job.pipeline, "facets": facets},
        "inputs": [_input(pin) for pin in job.pins],
        "outputs": _outputs(job),
    }


def _uuid(digits: str) -> str:
    """Write 32 hex digits as a UUID is written."""
    cuts = (0, 8, 12, 16, 20, 32)
    return "-".join(digits[start:stop] for start, stop in pairwise(cuts))


def _input(pin: Pin) -> dict[str, Any]:
    return _dataset(pin.repository, pin.branch, pin.commit)


def _outputs(job: Job) -> list[dict[str, Any]]:
    if not job.output_repository:
        return []
    return [_dataset(job.output_repository, job.output_branch, job.commit)]


def _dataset(repository: str, branch: str, commit: str) -> dict[str, Any]:
    found: dict[str, Any] = {"namespace": NAMESPACE, "name": f"{repository}/{branch}"}
    if commit:
        version = _facet("1-0-1/DatasetVersionDatasetFacet", {"datasetVersion": commit})
        found["facets"] = {"version": version}
    return found


def _facet(schema: str, fields: dict[str, str]) -> dict[str, str]:
    return {"_producer": _PRODUCER, "_schemaURL": f"{_SCHEMAS}/facets/{schema}.json", **fields}
