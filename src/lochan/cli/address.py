# SPDX-License-Identifier: Apache-2.0
"""What people type for a thing of a lake, and the client's object that it names.

    lochan://repository            my-lake
    lochan://repository/ref        my-lake/main        my-lake/main~2      my-lake/v1.0
    lochan://repository/ref/path   my-lake/main/a/b.csv

`lakefs://` is read alike, and the scheme may be left out. Where a second ref of the same repository
is meant its name is enough: `lochan branch create my-lake/fix --source main`.
"""

from typing import Annotated, NamedTuple

import typer

from lochan.client.branch import Branch
from lochan.client.lake import Lake
from lochan.client.reference import Reference
from lochan.client.repository import Repository
from lochan.client.tag import Tag
from lochan.errors import InvalidInput
from lochan.model.uri import Uri, parse_uri


def _argument(metavar: str, help: str) -> object:  # noqa: A002 - Typer's word for it
    return typer.Argument(metavar=metavar, help=help, show_default=False)


RepositoryAddress = Annotated[str, _argument("REPOSITORY", "lochan://repository")]
BranchAddress = Annotated[str, _argument("BRANCH", "lochan://repository/branch")]
TagAddress = Annotated[str, _argument("TAG", "lochan://repository/tag")]
RefAddress = Annotated[str, _argument("REF", "lochan://repository/ref")]
ObjectAddress = Annotated[str, _argument("OBJECT", "lochan://repository/ref/path")]
FolderAddress = Annotated[str, _argument("FOLDER", "lochan://repository/ref/ or .../ref/prefix")]


class Place(NamedTuple):
    """A path at a reference; the path may be empty. Only a branch can be written to."""

    branch: Branch
    path: str

    @property
    def uri(self) -> str:
        """Give the address."""
        return f"{self.branch.uri}/{self.path}"

    def as_folder(self) -> "Place":
        """Give all below it: raw is raw/ and not raw2."""
        if not self.path or self.path.endswith("/"):
            return self
        return self._replace(path=f"{self.path}/")


def repository_at(lake: Lake, text: str) -> Repository:
    """Name a repository."""
    found = _parsed(lake, text)
    if found.ref:
        raise InvalidInput(f"{text!r} names more than a repository; write lochan://repository")
    return lake.repository(found.repository)


def branch_at(lake: Lake, text: str) -> Branch:
    """Name a branch."""
    found = _with_ref(lake, text, "branch")
    return lake.repository(found.repository).branch(found.ref)


def tag_at(lake: Lake, text: str) -> Tag:
    """Name a tag."""
    found = _with_ref(lake, text, "tag")
    return lake.repository(found.repository).tag(found.ref)


def reference_at(lake: Lake, text: str) -> Reference:
    """Name anything that names a commit."""
    found = _with_ref(lake, text, "ref")
    return lake.repository(found.repository).ref(found.ref)


def place_at(lake: Lake, text: str) -> Place:
    """Name a path, or the root, of a reference."""
    found = _parsed(lake, text)
    if not found.ref:
        raise InvalidInput(f"{text!r} names no ref; write lochan://repository/ref/path")
    return Place(lake.repository(found.repository).branch(found.ref), found.path)


def object_at(lake: Lake, text: str) -> Place:
    """Name an object."""
    found = place_at(lake, text)
    if not found.path:
        raise InvalidInput(f"{text!r} names no object; write lochan://repository/ref/path")
    return found


def ref_beside(lake: Lake, repository_id: str, text: str) -> str:
    """Give the name of a ref of a repository, which is typed as a name or as an address."""
    if "/" not in text:
        return text
    found = reference_at(lake, text)
    if found.repository_id != repository_id:
        message = f"{text!r} is not in repository {repository_id!r}, and both refs must be"
        raise InvalidInput(message, code="other-repository")
    return found.id


def _with_ref(lake: Lake, text: str, what: str) -> Uri:
    found = _parsed(lake, text)
    if not found.ref or found.path.strip("/"):
        raise InvalidInput(f"{text!r} names no {what}; write lochan://repository/{what}")
    return found


def _parsed(lake: Lake, text: str) -> Uri:
    found = parse_uri(text if "://" in text else f"lochan://{text}")
    endpoint = lake.transport.endpoint
    if found.server and found.server != endpoint.partition("://")[2]:
        message = f"{text!r} is on another server than {endpoint}; set LOCHAN_SERVER_ENDPOINT_URL"
        raise InvalidInput(message, code="other-server")
    return found
