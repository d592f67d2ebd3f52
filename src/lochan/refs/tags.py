# SPDX-License-Identifier: Apache-2.0
"""Tags: names that stay with one commit.

A tag's record never changes; it is made once and removed. Two tags of one name on one commit are
the same record, so after a lost answer (reliability hole H15) an equal record counts as ours:
whoever wrote it, the tag that the caller wanted is there.
"""

from collections.abc import Iterator

from lochan.errors import AlreadyExists, Conflict, NotFound, NotUnique, PredicateFailed
from lochan.errors import UnknownOutcome as Unknown
from lochan.kv.table import Stored
from lochan.model.ids import TagName
from lochan.model.records import Tag
from lochan.refs.outcomes import begun
from lochan.refs.seek import scan_from
from lochan.refs.tables import RepositoryTables


def get_tag(tables: RepositoryTables, name: TagName) -> Stored[Tag]:
    """Read a tag, with the predicate for removing it. Raises NotFound."""
    found = tables.tags.find(name.encode())
    if found is None:
        raise NotFound(f"there is no tag {name!r}", code="tag-not-found", tag=name)
    return found


def create_tag(tables: RepositoryTables, tag: Tag) -> None:
    """Store a tag.

    Raises: NotUnique when there is a tag of this name, on whatever commit; AlreadyExists when a
    branch or a commit has it; UnknownOutcome.
    """
    name = tag.tag_id
    _check_name_is_free(tables, name)
    try:
        tables.tags.set_if(name.encode(), tag, None)
    except PredicateFailed as error:
        message = f"there is a tag {name!r} already; delete it first or choose another name"
        raise NotUnique(message, code="tag-already-exists", tag=name) from error
    except Unknown:
        with begun(f"creating tag {name!r}"):
            found = tables.tags.find(name.encode())
        if found is None or found.record != tag:
            raise


def delete_tag(tables: RepositoryTables, stored: Stored[Tag]) -> None:
    """Remove exactly the tag that was read, never one put on another commit since.

    Raises: Conflict when the name was given to another commit since; NotFound when somebody else
    deleted it; UnknownOutcome when the answer is lost and a tag is there: an equal one may have
    been made since, so nothing is tried again.
    """
    tag = stored.record
    try:
        tables.tags.delete_if(tag.tag_id.encode(), stored.predicate)
    except PredicateFailed as error:
        get_tag(tables, tag.tag_id)
        message = f"tag {tag.tag_id!r} names another commit by now; read it again"
        raise Conflict(message, code="tag-changed", tag=tag.tag_id) from error
    except Unknown:
        with begun(f"deleting tag {tag.tag_id!r}"):
            found = tables.tags.find(tag.tag_id.encode())
        if found is not None:
            raise


def list_tags(tables: RepositoryTables, start: str = "") -> Iterator[Tag]:
    """Give the tags from name `start` on, by name."""
    for _, tag in scan_from(tables.tags, start):
        yield tag


def _check_name_is_free(tables: RepositoryTables, name: TagName) -> None:
    # A branch made at the same time can slip through; resolving then finds the branch, everywhere.
    for kind, table in (("branch", tables.branches), ("commit", tables.commits)):
        if table.find(name.encode()) is not None:
            message = f"there is a {kind} {name!r}, so a tag cannot have this name"
            raise AlreadyExists(message, code=f"{kind}-already-exists", tag=name)
