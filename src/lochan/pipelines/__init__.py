# SPDX-License-Identifier: Apache-2.0
"""Pipelines: say what the inputs are and what the code does; every result knows what made it.

A *pipeline* is a spec (`spec`): inputs, a transform, an output branch that it owns. A new commit on
an input branch calls for a *job set* (`job_sets`), one *job* for each pipeline that hangs on it. A
job pins its inputs to commits, parts them into *datums* (`datum`), runs those that no job ran
before in *shards* (`work`), and publishes one commit, or nothing.

Reading order: spec, datum, records, work (what is said and stored), then run_job (the protocol).
"""

from lochan.pipelines.decorators import (
    Cron,
    Files,
    Pipeline,
    Table,
    cross,
    group,
    join,
    pipeline,
    specs_of,
    union,
)
from lochan.pipelines.handed import InputFiles, Out

__all__ = [
    "Cron",
    "Files",
    "InputFiles",
    "Out",
    "Pipeline",
    "Table",
    "cross",
    "group",
    "join",
    "pipeline",
    "specs_of",
    "union",
]
