# SPDX-License-Identifier: Apache-2.0
"""What a path of the file system names.

    /                       the directory of repositories
    /repository             the directory of its branches
    /repository/ref         the root of what a ref shows
    /repository/ref/a/b     a file or directory there

Directories are implicit: `a` is one if any key begins with `a/`. An empty one is held by an object
of no bytes at `a/`, its *marker*, as lakeFS's and S3's own tools have it.
"""

from dataclasses import dataclass

from lochan.access.actions import LIST_OBJECTS, READ_OBJECT
from lochan.access.arn import object_arn, repository_arn
from lochan.access.needed import Permission
from lochan.errors import PermissionDenied
from lochan.model.ids import BranchName, ObjectKey, valid_object_key
from lochan.web.call import Call


@dataclass(frozen=True, slots=True)
class Place:
    """A path; empty from the first part on that it does not have."""

    repository: str
    ref: str
    path: str

    @classmethod
    def of(cls, text: str) -> "Place":
        """Read a path; slashes in a row count as one, as in Hadoop's own paths."""
        parts = [part for part in text.split("/") if part]
        repository, ref, *rest = (*parts, "", "")
        return cls(repository, ref, "/".join(part for part in rest if part))

    @property
    def is_root(self) -> bool:
        """Say whether this is a ref's root, or above it."""
        return not self.path

    @property
    def key(self) -> ObjectKey:
        """Give the key of the file of this path."""
        return valid_object_key(self.path)

    @property
    def prefix(self) -> bytes:
        """Give what the keys below this path begin with; a directory's marker has this key."""
        return f"{self.path}/".encode(errors="surrogateescape") if self.path else b""

    @property
    def name(self) -> str:
        """Give the path's last part."""
        return self.path.rpartition("/")[2]

    def __truediv__(self, name: str) -> "Place":
        """Give what is called so in this directory."""
        return Place(self.repository, self.ref, f"{self.path}/{name}" if self.path else name)

    def __str__(self) -> str:
        """Spell the path."""
        return "/" + "/".join(part for part in (self.repository, self.ref, self.path) if part)


def place_of(call: Call) -> Place:
    """Give the place that a call names."""
    return Place(call.path["repository"], call.path["ref"], call.path["path"])


def require(call: Call, action: str, place: Place) -> None:
    """Refuse a caller that may not do something to a path. Raises PermissionDenied."""
    call.require(Permission(action, object_arn(place.repository, place.path)))


def require_either(call: Call, action: str, place: Place) -> None:
    """Refuse a caller that may do something neither to the file nor to the directory of a path.

    A policy for `tables/*` is about the directory `tables`, and not about a file of that name.
    Which of them is there is looked up after this; then each key is judged by itself.
    """
    file = Permission(action, object_arn(place.repository, place.path))
    if call.may(file):
        call.granted.append(file)
    else:
        call.require(Permission(action, object_arn(place.repository, f"{place.path}/")))


def may_list(call: Call, place: Place) -> bool:
    """Say whether the caller may know what there is in a repository."""
    return call.may(Permission(LIST_OBJECTS, repository_arn(place.repository)))


def require_list(call: Call, place: Place) -> None:
    """Refuse a caller that may not know what there is. Raises PermissionDenied."""
    call.require(Permission(LIST_OBJECTS, repository_arn(place.repository)))


def require_seen(call: Call, place: Place) -> bool:
    """Refuse a caller that may neither list nor read; say whether it may list."""
    listing = Permission(LIST_OBJECTS, repository_arn(place.repository))
    if call.may(listing):
        call.granted.append(listing)
        return True
    require(call, READ_OBJECT, place)
    return False


def branch_of(place: Place) -> BranchName:
    """Give the branch in which something is to be written. Raises PermissionDenied above one."""
    if not place.ref:
        message = f"{place} holds repositories and branches; make those by the API or `lochan`"
        raise PermissionDenied(message, code="not-in-a-branch")
    return BranchName(place.ref)
