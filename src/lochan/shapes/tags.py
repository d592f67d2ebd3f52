# SPDX-License-Identifier: Apache-2.0
"""Tags: made and deleted; described by `refs.Ref`, listed with `pages.PageQuery`."""

from msgspec import Struct

from lochan.shapes.fields import Force, RefExpression, TagName


class TagCreation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tag to be made."""

    id: TagName
    ref: RefExpression
    force: Force = False


class DeleteTagQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a tag is deleted."""

    force: Force = False
