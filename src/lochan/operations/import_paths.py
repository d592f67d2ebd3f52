# SPDX-License-Identifier: Apache-2.0
"""Import whole folders of other stores, and single objects: list them, then import what is listed.

    common_prefix   s3://bucket/raw/ -> lake/raw/     what lies in a folder, with what lies below;
                                                      it replaces what is under the destination
    object          s3://bucket/a.csv -> lake/a.csv   one object, over the one key

A folder that is very large need not be listed, if an inventory file says what lies in it.

A folder ends with a slash, which is added where it is missing, at the source and at the destination
alike: raw does not stand for raw2/ as well. The whole store and the whole branch are written as
nothing behind the bucket and an empty destination.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec

from lochan.errors import InvalidInput, NotFound
from lochan.model.ids import BranchName, StorageNamespace
from lochan.model.instant import from_seconds
from lochan.model.records import Commit, Repository
from lochan.objects.foreign import FILES, meant, split_foreign, split_prefix
from lochan.objects.store import PAGE, ObjectInfo
from lochan.objects.walk import walk_beside
from lochan.operations.import_objects import (
    ImportRequest,
    ListedObject,
    go_on,
    ignore,
    import_objects,
)
from lochan.operations.lake import Lake
from lochan.operations.read_entry import store_of
from lochan.refs.repositories import list_repositories

_FILES_A_PAGE = 100_000
_INVENTORIES = "lochan.operations.listed_inventory"  # it needs pyarrow, which is an extra


class PathKind(StrEnum):
    """What a path to import stands for; the words are those of the REST API."""

    COMMON_PREFIX = "common_prefix"
    OBJECT = "object"


@dataclass(frozen=True, slots=True)
class ImportPath:
    """Where objects come from, in full, and where they go."""

    path: str
    destination: bytes
    type: PathKind = PathKind.COMMON_PREFIX
    inventory: str = ""  # address of a file that lists what lies there


def import_paths(
    lake: Lake,
    repository: Repository,
    branch: BranchName,
    paths: Sequence[ImportPath],
    request: ImportRequest,
    progress: Callable[[int], None] = ignore,
    *,
    committing: Callable[[], None] = go_on,
) -> Commit:
    """Import what lies under some paths, in one commit.

    Raises: InvalidInput for a source inside or around the namespace of any repository; NotFound for
    one that holds nothing, since a mistyped source would else empty its destination; what
    `import_objects` raises.
    """
    for path in paths:
        require_apart(repository, path)
        for other in list_repositories(lake.store):  # whose collector would not know of the import
            require_apart(other, path)
    folders = [_folder(path.destination) for path in paths if path.type is PathKind.COMMON_PREFIX]
    wanted = replace(request, replaced=(*request.replaced, *folders))
    listed = (found for path in paths for found in list_foreign(lake, path))
    return import_objects(lake, repository, branch, listed, wanted, progress, committing=committing)


def list_foreign(lake: Lake, path: ImportPath) -> Iterator[ListedObject]:
    """List a path as objects to import, in no order.

    Raises: NotFound when there are none; what walking raises.
    """
    if path.type is PathKind.OBJECT:
        namespace, name = split_foreign(path.path)
        info = store_of(lake, namespace, path.path).head(name)
        yield _listed(path.destination, path.path, info)
        return
    namespace, prefix = split_prefix(path.path)
    prefix = f"{prefix}/" if prefix and not prefix.endswith("/") else prefix
    if path.inventory:
        yield from _listed_in_file(lake, path, _in_full(namespace, prefix))
        return
    destination, nothing = _folder(path.destination), True
    store = store_of(lake, namespace, path.path)
    # A folder of files is read anew for each of its pages.
    limit = _FILES_A_PAGE if namespace == FILES else PAGE
    for found in walk_beside(store, lake.environment, prefix, limit=limit):
        nothing = False
        key = destination + found.address[len(prefix) :].encode()
        yield _listed(key, _in_full(namespace, found.address), found.info)
    if nothing:
        raise _nothing(path)


def _listed_in_file(lake: Lake, path: ImportPath, source: str) -> Iterator[ListedObject]:
    if find_spec("pyarrow") is None:
        message = "inventories are read with pyarrow: pip install 'lochan[arrow]'"
        raise NotFound(message, code="arrow-not-installed")
    namespace, name = split_foreign(path.inventory)
    store, nothing = store_of(lake, namespace, path.inventory), True
    listed = import_module(_INVENTORIES).list_inventory
    for found in listed(store, name, source, _folder(path.destination)):
        nothing = False
        yield found
    if nothing:
        raise _nothing(path)


def _nothing(path: ImportPath) -> NotFound:
    place = f"{path.path!r} in {path.inventory!r}" if path.inventory else repr(path.path)
    return NotFound(f"nothing lies under {place}; see where it is", code="nothing-to-import")


def _listed(key: bytes, address: str, info: ObjectInfo) -> ListedObject:
    return ListedObject(key, address, info.size, info.etag, from_seconds(info.modified))


def _in_full(namespace: StorageNamespace, name: str) -> str:
    return f"{namespace}{name}" if namespace == FILES else f"{namespace}/{name}"


def _folder(destination: bytes) -> bytes:
    return destination + b"/" if destination and not destination.endswith(b"/") else destination


def require_apart(repository: Repository, path: ImportPath) -> None:
    """Refuse to import the lake into itself: its objects are collected by its own rules."""
    if overlaps(repository.storage_namespace, path):
        owner = f"the namespace of repository {repository.repository_id!r}"
        message = f"{path.path!r} and {owner} overlap; import from elsewhere"
        raise InvalidInput(message, code="import-source-overlaps")


def overlaps(namespace: str, path: ImportPath) -> bool:
    """Say whether a path lies in a namespace, or around it, also behind symbolic links."""
    return _overlaps(namespace, path) or _overlaps(
        meant(namespace), replace(path, path=meant(path.path))
    )


def _overlaps(namespace: str, path: ImportPath) -> bool:
    store, folder = split_prefix(namespace)
    folder = f"{folder.removesuffix('/')}/" if folder else ""
    theirs, name = split_prefix(path.path)
    if path.type is PathKind.COMMON_PREFIX and name:
        name = name.removesuffix("/") + "/"
    is_around = path.type is PathKind.COMMON_PREFIX and folder.startswith(name)
    return theirs == store and (name.startswith(folder) or is_around)
