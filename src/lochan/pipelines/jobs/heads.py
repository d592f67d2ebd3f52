# SPDX-License-Identifier: Apache-2.0
"""What a spec would read at this moment: every input pinned to the head of its branch, or to a ref.

For whoever looks before anything runs: `pipeline check` and `pipeline test`. The pipeline need not
exist, nor its output.
"""

from collections.abc import Mapping

from lochan.errors import NotFound
from lochan.model.ids import RepositoryId
from lochan.model.records import Commit, Repository
from lochan.operations.lake import Lake
from lochan.operations.reference import commit_of
from lochan.pipelines.model.records import Pin
from lochan.pipelines.model.spec import CronInput, RepoInput, Spec, leaves
from lochan.pipelines.specs.graph import place_of
from lochan.refs.repositories import get_repository


def pin_heads(lake: Lake, spec: Spec, refs: Mapping[str, str] | None = None) -> tuple[Pin, ...]:
    """Pin the inputs of a spec to what is committed now; `refs` says others, by input name.

    Raises: NotFound, RepositoryNotFound.
    """
    said = refs or {}
    if unknown := sorted(said.keys() - {leaf.name for leaf in leaves(spec.input)}):
        raise NotFound(f"pipeline {spec.pipeline!r} has no input {unknown[0]!r}")
    found = []
    for leaf in leaves(spec.input):
        place = place_of(spec.pipeline, leaf)
        repository = get_repository(lake.store, lake.environment, RepositoryId(place.repo))
        commit = commit_of(lake, repository, said.get(leaf.name, f"{place.branch}@"))
        found.append(pin_to(leaf, repository, place.branch, commit))
    return tuple(found)


def pin_to(leaf: RepoInput | CronInput, repository: Repository, branch: str, commit: Commit) -> Pin:
    """Pin an input to a commit; each tick of a clock is a file."""
    return Pin(
        input=leaf.name,
        repository=repository.repository_id,
        unique_identifier=repository.unique_identifier,
        branch=branch,
        commit=commit.id,
        meta_range_id=commit.meta_range_id,
        glob=leaf.glob if isinstance(leaf, RepoInput) else "/*",
    )
