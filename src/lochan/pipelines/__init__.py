# SPDX-License-Identifier: Apache-2.0
"""Pipelines: say what the inputs are and what the code does; every result knows what made it.

A *pipeline* is a spec: inputs, a transform, an output branch that it owns. A new commit on an input
branch calls for a *job set*, one *job* for each pipeline that hangs on it. A job pins its inputs to
commits, parts them into *datums*, runs those that no job ran before in *shards*, and publishes one
commit, or nothing.

    model       what is said, stored and handed on: specs, datums, records, work
    specs       what pipelines there are: read, checked, digested, joined to a graph, kept
    datums      which work there is: inputs in parts, what changed, what is remembered
    attempts    one shard run where the author's code may run; touches no key-value store
    jobs        one run from claim to published commit, and looking at it
    lineage     what a commit or a file came from, and what came of it
    schedule    when jobs run: by commits, clocks and hand

Imports go upwards in this list only. Reading order: model/spec, datum, records and work, then
jobs/run_job (the protocol).
"""

from lochan.pipelines.specs.decorators import (
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
from lochan.pipelines.specs.handed import InputFile, InputFiles, Out

__all__ = [
    "Cron",
    "Files",
    "InputFile",
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
