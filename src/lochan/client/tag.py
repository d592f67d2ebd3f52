# SPDX-License-Identifier: Apache-2.0
"""A tag: a name that a commit keeps."""

from typing import Self

from lochan.client.commit import Commit
from lochan.client.reference import Reference
from lochan.errors import AlreadyExists
from lochan.shapes.refs import Ref
from lochan.shapes.tags import DeleteTagQuery, TagCreation


class Tag(Reference):
    """A tag by its name; whether it exists shows when it is used."""

    def create(
        self, source: Reference | Commit | str, *, exist_ok: bool = False, force: bool = False
    ) -> Self:
        """Give the name to a commit. Raises AlreadyExists."""
        body = TagCreation(id=self.id, ref=str(source), force=force)
        try:
            self._transport.call(
                "POST", ("repositories", self.repository_id, "tags"), Ref, body=body
            )
        except AlreadyExists:
            if not exist_ok:
                raise
        return self

    def delete(self, *, force: bool = False) -> None:
        """Take the name away; the commit stays."""
        path = ("repositories", self.repository_id, "tags", self.id)
        self._transport.send("DELETE", path, query=DeleteTagQuery(force=force))
