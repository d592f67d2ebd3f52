# SPDX-License-Identifier: Apache-2.0
"""Tags: list, make, look at, delete."""

from lochan.model.ids import TagName, valid_tag_name
from lochan.model.records import Tag
from lochan.operations.reference import commit_of
from lochan.operations.tags import create_tag as make_tag
from lochan.operations.tags import delete_tag as remove_tag
from lochan.refs import tags
from lochan.shapes.pages import PageQuery
from lochan.shapes.refs import Ref, RefList
from lochan.shapes.tags import DeleteTagQuery, TagCreation
from lochan.web.api.pages import named, page_of, start_of
from lochan.web.call import Call
from lochan.web.needs import Need
from lochan.web.route import NOTHING, Routes

ROUTES = Routes("tags")

_REPOSITORY = "arn:lakefs:fs:::repository/{repository}"
_TAG = _REPOSITORY + "/tag/{tag}"


@ROUTES.get(
    "/repositories/{repository}/tags",
    needs=Need("fs:ListTags", _REPOSITORY),
    query=PageQuery,
    answers={200: RefList},
)
def list_tags(call: Call) -> RefList:
    """Give the tags by name."""
    asked = call.asked(PageQuery)
    found = tags.list_tags(call.lake.tables(call.repository), start_of(asked))
    page, pagination = page_of(named(found, asked, _name), asked, _name)
    return RefList(pagination=pagination, results=[_shown(tag) for tag in page])


@ROUTES.post(
    "/repositories/{repository}/tags",
    needs=Need("fs:CreateTag", _REPOSITORY + "/tag/{body.id}"),
    body=TagCreation,
    answers={201: Ref},
)
def create_tag(call: Call) -> Ref:
    """Give a commit a name for good."""
    told = call.told(TagCreation)
    commit = commit_of(call.lake, call.repository, told.ref)
    return _shown(make_tag(call.lake, call.repository, valid_tag_name(told.id), commit))


@ROUTES.get(
    "/repositories/{repository}/tags/{tag}",
    needs=Need("fs:ReadTag", _TAG),
    answers={200: Ref},
)
def get_tag(call: Call) -> Ref:
    """Give a tag and its commit."""
    return _shown(tags.get_tag(call.lake.tables(call.repository), _tag(call)).record)


@ROUTES.delete(
    "/repositories/{repository}/tags/{tag}",
    needs=Need("fs:DeleteTag", _TAG),
    query=DeleteTagQuery,
    answers={204: NOTHING},
)
def delete_tag(call: Call) -> None:
    """Take a name away; the commit stays."""
    remove_tag(call.lake, call.repository, _tag(call))


def _tag(call: Call) -> TagName:
    return TagName(call.path["tag"])


def _name(tag: Tag) -> str:
    return tag.tag_id


def _shown(tag: Tag) -> Ref:
    return Ref(id=tag.tag_id, commit_id=tag.commit_id)
