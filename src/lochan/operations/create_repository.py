# SPDX-License-Identifier: Apache-2.0
"""Create a repository in a storage namespace that nobody else uses.

Two repositories in one namespace would collect each other's objects. So a namespace is claimed
first, by putting an object that must not be there: of two who try, one is told (H12). The claim
stays when the repository is deleted, since its objects do; and when its creator dies, since nobody
can tell whether another lake made it.
"""

from contextlib import suppress

from lochan.errors import AlreadyExists, LochanError, NotUnique, PredicateFailed
from lochan.model.ids import BranchName, RepositoryId, StorageNamespace
from lochan.model.records import Repository, RepositoryState
from lochan.objects.address import metadata_address
from lochan.objects.namespace import Namespace
from lochan.objects.store import IF_ABSENT
from lochan.operations.lake import Lake
from lochan.refs import creation
from lochan.refs.repositories import list_repositories
from lochan.refs.tables import repositories

CLAIM = "dummy"  # lakeFS's name for it, so that it respects ours and we respect its


def create_repository(
    lake: Lake,
    repository_id: RepositoryId,
    storage_namespace: StorageNamespace,
    default_branch: BranchName,
    *,
    committer: str = "",
    bare: bool = False,
    read_only: bool = False,
) -> Repository:
    """Create a repository; a bare one has no commit and no branch, to restore a dump into.

    Raises: NotUnique; AlreadyExists (code namespace-in-use); Unavailable, UnknownOutcome.
    """
    found = repositories(lake.store).find(repository_id.encode())
    if found is not None and found.record.repository_state is RepositoryState.ACTIVE:
        raise NotUnique(f"there is a repository {repository_id!r}", repository=repository_id)
    _refuse_overlap(lake, storage_namespace)
    _claim(lake, storage_namespace, repository_id)
    place = (lake.store, lake.environment, repository_id, storage_namespace, default_branch)
    try:
        if bare:
            return creation.create_bare_repository(*place, read_only=read_only)
        return creation.create_repository(*place, committer=committer, read_only=read_only)
    except NotUnique:
        _give_up(lake, storage_namespace)
        raise


def _refuse_overlap(lake: Lake, wanted: StorageNamespace) -> None:
    """Refuse a namespace inside another one, or around it."""
    parsed = Namespace.parse(wanted)
    for other in list_repositories(lake.store):
        if parsed.overlaps(Namespace.parse(other.storage_namespace)):
            # Of which repository stays unsaid: who asks may not know of it.
            raise _in_use(wanted, "it overlaps that of another repository")


def _claim(lake: Lake, namespace: StorageNamespace, repository_id: RepositoryId) -> None:
    objects = lake.storage(namespace).objects
    body = f"claimed for repository {repository_id}\n".encode()
    try:
        objects.put(metadata_address(CLAIM), body, size=len(body), when=IF_ABSENT)
    except PredicateFailed as error:
        reason = f"it holds {metadata_address(CLAIM)!r}, of a repository or of a creation that died"
        raise _in_use(namespace, f"{reason}; if nobody uses it, remove that object") from error


def _give_up(lake: Lake, namespace: StorageNamespace) -> None:
    with suppress(LochanError):  # the caller hears what went wrong before
        lake.storage(namespace).objects.delete(metadata_address(CLAIM))


def _in_use(namespace: StorageNamespace, reason: str) -> AlreadyExists:
    message = f"storage namespace {namespace!r} is in use: {reason}, or choose another one"
    return AlreadyExists(message, code="namespace-in-use", namespace=namespace)
