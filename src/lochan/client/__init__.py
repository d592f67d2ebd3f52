# SPDX-License-Identifier: Apache-2.0
"""A lake as Python objects, over HTTP or in this process.

    lake = lochan.open("./lake")        or lochan.connect("http://127.0.0.1:8000", ...)
    repository = lake.repository("my-lake").create()
    branch = repository.branch("fix").create("main")
    with branch.object("a/b.csv").open("w") as file: ...
    branch.commit("mend b")
    branch.merge_into("main")

Every object is a name and a transport: making one asks nothing of the server, its verbs do. Lists
are iterators that fetch a page when they need it. Errors are those of `lochan.errors`, whichever
way the request went. What comes over the wire is given in the shapes of `lochan.shapes`.

    lake, repository, reference, branch, tag, commit, stored_object, writable_object    the nouns
    reader, writer, content       bytes down and up
    users, groups, policies       who may do what
    transaction, imports, refs_dump, pfs    longer verbs
    transport, repeat, failures, in_process    how a request travels
    html                          how the nouns show themselves in a notebook
"""

from lochan.client.branch import Branch
from lochan.client.commit import Commit
from lochan.client.lake import Lake
from lochan.client.reader import ObjectReader
from lochan.client.reference import Reference
from lochan.client.repository import Repository
from lochan.client.stored_object import StoredObject
from lochan.client.tag import Tag
from lochan.client.writable_object import WritableObject
from lochan.client.writer import ObjectWriter

__all__ = [
    "Branch",
    "Commit",
    "Lake",
    "ObjectReader",
    "ObjectWriter",
    "Reference",
    "Repository",
    "StoredObject",
    "Tag",
    "WritableObject",
]
