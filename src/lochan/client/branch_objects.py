# SPDX-License-Identifier: Apache-2.0
"""The objects of a branch, written: one by one, and many at once."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from lochan.client.content import Uploadable
from lochan.client.reference import Reference
from lochan.client.writable_object import WritableObject
from lochan.errors import LochanError, PermissionDenied, Refused
from lochan.shapes.objects import (
    MAX_DELETED,
    DeleteObjectsQuery,
    ObjectErrorList,
    ObjectRename,
    ObjectsRenamed,
    ObjectStats,
    PathList,
)
from lochan.shapes.staging import (
    MAX_LINKED,
    GetPhysicalAddressQuery,
    ObjectLinks,
    ObjectsLinked,
    StagingLocation,
    WrittenObject,
)

_FORBIDDEN = 403


class BranchObjects(Reference):
    """A reference whose objects can be written."""

    def object(self, path: str) -> WritableObject:
        """Name an object of the branch."""
        return WritableObject(self._transport, self.repository_id, self.id, path)

    def upload(self, path: str, data: Uploadable, **options: Any) -> ObjectStats:  # noqa: ANN401 - those of the object
        """Store an object; see `WritableObject.upload`."""
        return self.object(path).upload(data, **options)

    def copy(self, path: str, source: str, *, ref: str = "", force: bool = False) -> ObjectStats:
        """Make `path` a copy of `source`, of this branch or of any reference."""
        return self.object(path).copy_from(source, ref, force=force)

    def rename(
        self, source: str, destination: str, *, overwrite: bool = False, force: bool = False
    ) -> int:
        """Give an object another path, or with a slash at the end all below one; no bytes move.

        Gives the number of objects.
        """
        body = ObjectRename(
            source=source, destination=destination, overwrite=overwrite, force=force
        )
        path = self._branch_at("objects", "rename")
        return self._transport.call("POST", path, ObjectsRenamed, body=body).renamed

    def delete_objects(self, paths: Iterable[str], *, force: bool = False) -> None:
        """Take objects away, some hundred at a time; those that are not there are no error.

        Raises PermissionDenied or Refused, with the paths that were not deleted as fact `paths`.
        """
        query = DeleteObjectsQuery(force=force)
        route = self._branch_at("objects", "delete")
        for batch in _batches(paths):
            body = PathList(paths=batch)
            kept = self._transport.call("POST", route, ObjectErrorList, query=query, body=body)
            if kept.errors:
                raise _not_deleted(kept)

    def new_folder(self, path: str) -> str:
        """Give an address in the object store below which objects of a folder can be written.

        What is written there is linked by `link_objects` within a day; the rest is collected.
        """
        query = GetPhysicalAddressQuery(path=_folder(path))
        route = self._branch_at("staging", "backing")
        return self._transport.call("GET", route, StagingLocation, query=query).physical_address

    def link_objects(self, path: str, objects: Iterable[WrittenObject]) -> int:
        """Make objects of what was written below an address that `new_folder` gave for a path."""
        rest, linked = iter(objects), 0
        while batch := list(islice(rest, MAX_LINKED)):
            body = ObjectLinks(folder=_folder(path), objects=batch)
            route = self._branch_at("objects", "link")
            linked += self._transport.call("POST", route, ObjectsLinked, body=body).linked
        return linked

    def _branch_at(self, *rest: str) -> tuple[str, ...]:
        return ("repositories", self.repository_id, "branches", self.id, *rest)


def _folder(path: str) -> str:
    return path.rstrip("/") + "/"


def _batches(paths: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(paths)
    while batch := list(islice(rest, MAX_DELETED)):
        yield batch


def _not_deleted(kept: ObjectErrorList) -> LochanError:
    first, count = kept.errors[0], len(kept.errors)
    message = f"{count} objects were not deleted; of {first.path!r}: {first.message}"
    found = PermissionDenied if first.status_code == _FORBIDDEN else Refused
    return found(message, paths=[error.path for error in kept.errors])
