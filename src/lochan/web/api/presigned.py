# SPDX-License-Identifier: Apache-2.0
"""What signed URLs of ours open (see `presign`): bytes in or out, with no credentials but the URL.

An object or part that is written through one goes to exactly the address in it. An object can be
written once; a part again, as long as its upload lives.
"""

import base64

from lochan.errors import Conflict, Gone, InvalidInput, NotFound
from lochan.model.instant import from_seconds
from lochan.objects.body import Measured
from lochan.objects.store import IF_ABSENT
from lochan.operations.read_entry import locate
from lochan.shapes.errors import Error
from lochan.shapes.presigned import PresignedQuery
from lochan.web.api.multipart import part_tag, uploads_of
from lochan.web.call import Call
from lochan.web.needs import ANYBODY
from lochan.web.object_reply import Shown, object_reply, quoted
from lochan.web.presign import Method, Ticket, opened, refused
from lochan.web.reply import Reply
from lochan.web.route import NOTHING, OCTETS, Routes
from lochan.web.upload_body import upload_body

ROUTES = Routes("staging")

_PATH = "/repositories/{repository}/presigned"


@ROUTES.get(
    _PATH,
    needs=ANYBODY,
    query=PresignedQuery,
    headers={"Range": "Which bytes, as in bytes=0-99."},
    answers={200: OCTETS, 206: OCTETS, 304: NOTHING, 416: Error},
)
def read_presigned(call: Call) -> Reply:
    """Give the bytes of the object that a signed URL names."""
    ticket = _ticket(call, "GET")
    store, name = locate(call.lake, call.repository, ticket.address)
    info = store.head(name)
    if ticket.size not in {-1, info.size}:
        message = f"the object has {info.size} bytes and had {ticket.size}; somebody changed it"
        raise Conflict(f"{message} where it lies, import it again", code="object-changed")
    modified = from_seconds(info.modified)
    shown = Shown(ticket.name, info.size, ticket.e_tag, ticket.content_type, modified)
    return object_reply(
        call.request, shown, lambda extent: store.get(name, extent), call.services.log
    )


@ROUTES.put(
    _PATH,
    needs=ANYBODY,
    query=PresignedQuery,
    body=OCTETS,
    answers={200: NOTHING},
)
def write_presigned(call: Call) -> Reply:
    """Take the bytes of the object, or part of one, that a signed URL names."""
    ticket = _ticket(call, "PUT")
    body = upload_body(call)
    measured = Measured(body.pieces)
    objects = call.lake.storage(call.repository.storage_namespace).objects
    if ticket.upload:
        uploads = uploads_of(objects)
        stored = uploads.put_part(
            ticket.address, ticket.upload, ticket.part, measured, size=body.size
        )
        tag = part_tag(uploads, measured.md5, stored)
    else:
        objects.put(ticket.address, measured, size=body.size, when=IF_ABSENT)
        tag = measured.md5
    digest = base64.b64encode(bytes.fromhex(measured.md5)).decode()
    return Reply(None, 200, {"etag": quoted(tag), "content-md5": digest})


def _ticket(call: Call, method: Method) -> Ticket:
    """Read the ticket; nobody learns by a wrong one which repositories there are."""
    try:
        repository = call.repository
    except (NotFound, Gone, InvalidInput) as error:
        raise refused("it is not ours") from error
    return opened(call.services, repository, call.asked(PresignedQuery).token, method)
