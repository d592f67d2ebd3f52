# SPDX-License-Identifier: Apache-2.0
"""One run of a pipeline: claimed, pinned, run in shards, squashed, and published as one commit.

`run_job` is the story. Beside it stands what looks at a job: its datums, its shards as refs, and
trying datums before there is one.
"""
