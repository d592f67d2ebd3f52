# SPDX-License-Identifier: Apache-2.0
"""Metadata files: where ranges and metaranges lie, and their bytes.

They name every object of a tree with its address, so who asks for them must be allowed to list and
to read all of the repository (S16), not some of its paths alone.
"""

from lochan.errors import InvalidInput
from lochan.model.ids import valid_meta_range_id, valid_range_id
from lochan.model.instant import from_seconds
from lochan.objects.address import metadata_address
from lochan.objects.namespace import Namespace
from lochan.shapes.metadata import GetMetadataObjectQuery, StorageURI
from lochan.web.call import Call
from lochan.web.needs import Need, every
from lochan.web.object_reply import Shown, object_reply
from lochan.web.reply import Reply
from lochan.web.route import OCTETS, Routes

ROUTES = Routes("metadata")
INTERNAL = Routes("internal")

_REPOSITORY = "arn:lakefs:fs:::repository/{repository}"
_ALL = every(
    Need("fs:ReadRepository", _REPOSITORY),
    Need("fs:ListObjects", _REPOSITORY),
    Need("fs:ReadObject", _REPOSITORY + "/object/*"),
)


@ROUTES.get(
    "/repositories/{repository}/metadata/meta_range/{meta_range}",
    needs=_ALL,
    answers={200: StorageURI},
)
def get_meta_range(call: Call) -> StorageURI:
    """Tell where a metarange lies."""
    return _location(call, _meta_range(call.path["meta_range"]))


@ROUTES.get(
    "/repositories/{repository}/metadata/range/{range}",
    needs=_ALL,
    answers={200: StorageURI},
)
def get_range(call: Call) -> StorageURI:
    """Tell where a range lies."""
    return _location(call, valid_range_id(call.path["range"]))


@INTERNAL.get(
    "/repositories/{repository}/metadata/object/{type}/{object_id}",
    needs=_ALL,
    query=GetMetadataObjectQuery,
    answers={200: OCTETS},
)
def get_metadata_object(call: Call) -> Reply:
    """Give the bytes of a range or metarange.

    `presign` is passed over: clients take the bytes themselves as well.
    """
    kind, name = call.path["type"], call.path["object_id"]
    if kind not in {"range", "meta_range"}:
        message = f"{kind!r} is no kind of metadata file; ask for range or meta_range"
        raise InvalidInput(message, code="invalid-metadata-type")
    file_id = valid_range_id(name) if kind == "range" else _meta_range(name)
    objects = call.lake.storage(call.repository.storage_namespace).objects
    address = metadata_address(file_id)
    info = objects.head(address)
    shown = Shown(name, info.size, file_id, "", from_seconds(info.modified))
    return object_reply(
        call.request, shown, lambda extent: objects.get(address, extent), call.services.log
    )


def _meta_range(text: str) -> str:
    if not text:
        raise InvalidInput("the empty tree has no file", code="empty-tree")
    return valid_meta_range_id(text)


def _location(call: Call, file_id: str) -> StorageURI:
    repository = call.repository
    address = metadata_address(file_id)
    call.lake.storage(repository.storage_namespace).objects.head(address)
    namespace = Namespace.parse(repository.storage_namespace)
    return StorageURI(location=namespace.physical(address))
