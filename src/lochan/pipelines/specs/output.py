# SPDX-License-Identifier: Apache-2.0
"""The branches that belong to a pipeline: where its output goes, and the ticks of its clocks.

A repository that is missing is made if the caller says where. A branch that is missing begins at
the first commit of the repository, which has no files: an output holds what the pipeline wrote and
nothing else. From when it is taken on, a branch takes what the pipeline's jobs publish alone
(`operations.allowed`); what was on it before stays until a job writes over it.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

import msgspec

from lochan.errors import NotFound, NotUnique, RepositoryDeleting, RepositoryNotFound
from lochan.model.ids import EMPTY_TREE, BranchName, RepositoryId, StorageNamespace
from lochan.model.records import Repository
from lochan.operations.branches import create_branch
from lochan.operations.create_repository import create_repository
from lochan.operations.lake import Lake
from lochan.operations.repositories import change_repository
from lochan.pipelines.model.spec import CronInput, Spec, leaves
from lochan.pipelines.specs.graph import Node, Place, place_of
from lochan.refs.repositories import get_repository
from lochan.refs.resolve import resolve

# Says where a repository that does not exist yet shall lie.
Namespaces = Callable[[RepositoryId], StorageNamespace]


def owned_places(spec: Spec) -> tuple[Place, ...]:
    """Give the branches that belong to a pipeline, its output first."""
    clocks = (leaf for leaf in leaves(spec.input) if isinstance(leaf, CronInput))
    return (Node(spec).writes, *(place_of(spec.pipeline, clock) for clock in clocks))


def make_places(lake: Lake, spec: Spec, namespaces: Namespaces | None) -> None:
    """See that the branches of a pipeline are there.

    Raises: RepositoryNotFound for a missing one, if nobody says where to make it; what
    `create_repository` raises; NotFound for a branch that cannot begin without files.
    """
    for place in owned_places(spec):
        repository = _repository(lake, place, namespaces)
        _make_branch(lake, repository, BranchName(place.branch))


def take_places(lake: Lake, pipeline: str, places: Iterable[Place]) -> None:
    """Let a pipeline alone publish on branches; whoever had them before has them no more.

    The graph has one pipeline for each branch, so who is in it is right. Repeating it is harmless.
    """
    for place in places:
        _own(lake, place, lambda owners, name: {**owners, name: pipeline})


def release_places(lake: Lake, pipeline: str, places: Iterable[Place]) -> None:
    """Let everybody write on a pipeline's branches again; those of others stay theirs."""
    for place in places:
        with suppress(RepositoryNotFound):  # with the repository went who owned its branches
            _own(lake, place, lambda owners, name: _without(owners, name, pipeline))


def require_inputs(lake: Lake, spec: Spec) -> None:
    """Refuse a pipeline that reads repositories which are not there. Raises RepositoryNotFound."""
    for leaf in leaves(spec.input):
        if isinstance(leaf, CronInput):
            continue
        try:
            get_repository(lake.store, lake.environment, RepositoryId(leaf.repo))
        except RepositoryNotFound as error:
            message = f"input {leaf.name!r}: no repository {leaf.repo!r}; create it first"
            raise RepositoryNotFound(message, repository=leaf.repo) from error


def _repository(lake: Lake, place: Place, namespaces: Namespaces | None) -> Repository:
    name = RepositoryId(place.repo)
    try:
        return get_repository(lake.store, lake.environment, name)
    except (RepositoryNotFound, RepositoryDeleting) as error:  # a creation that died is deleting
        if namespaces is None:
            message = f"no repository {name!r} for {place}; create it, or say where it shall lie"
            raise RepositoryNotFound(message, repository=name) from error
    try:
        return create_repository(lake, name, namespaces(name), BranchName(place.branch))
    except NotUnique:  # somebody was quicker
        return get_repository(lake.store, lake.environment, name)


def _make_branch(lake: Lake, repository: Repository, branch: BranchName) -> None:
    tables = lake.tables(repository)
    if tables.branches.find(branch.encode()) is not None:
        return
    first = resolve(tables, f"{repository.default_branch}/0").commit_id
    if tables.commits.get(first.encode()).record.meta_range_id != EMPTY_TREE:
        message = f"no branch {branch!r} in {repository.repository_id!r}, and no commit without"
        raise NotFound(f"{message} files to begin it from; create it", code="branch-not-found")
    try:
        create_branch(lake, repository, branch, first)
    except NotUnique:
        return


def _own(
    lake: Lake,
    place: Place,
    change: Callable[[Mapping[BranchName, str], BranchName], Mapping[BranchName, str]],
) -> None:
    repository = get_repository(lake.store, lake.environment, RepositoryId(place.repo))

    def changed(record: Repository) -> Repository:
        owners = change(record.branch_owners, BranchName(place.branch))
        return msgspec.structs.replace(record, branch_owners=owners)

    change_repository(lake, repository, changed)


def _without(
    owners: Mapping[BranchName, str], branch: BranchName, pipeline: str
) -> dict[BranchName, str]:
    return {name: one for name, one in owners.items() if (name, one) != (branch, pipeline)}
