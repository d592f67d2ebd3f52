# SPDX-License-Identifier: Apache-2.0
"""The body of every answer that is an error, but a merge's conflict (see `refs.MergeResult`)."""

from typing import Annotated

from msgspec import Meta, Struct


class Error(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What went wrong; lakeFS knows the message alone."""

    message: Annotated[str, Meta(description="One line for people: what, which, what to do.")]
    code: Annotated[str, Meta(description="A stable name of the error, for programs.")] = ""
