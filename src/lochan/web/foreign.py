# SPDX-License-Identifier: Apache-2.0
"""Objects that lie outside of the lake and are named in full: which ones may become part of it.

All must hold (S22): the caller may import from there; the address lies in a place that the server's
settings allow; and it lies in no repository's namespace, nor in the lake's own folder, whose bytes
have readers of their own, whichever symbolic links lead there.
"""

from collections.abc import Iterator

from lochan.access.actions import IMPORT_FROM_STORAGE
from lochan.access.arn import storage_namespace_arn
from lochan.access.needed import Permission
from lochan.config.server import Settings
from lochan.errors import Refused
from lochan.objects.foreign import meant, spelled, split_foreign, split_prefix
from lochan.refs.repositories import list_repositories
from lochan.web.call import Call


def require_foreign(call: Call, address: str) -> None:
    """Refuse a full address that may not be linked.

    Raises: PermissionDenied; Refused, code link-foreign; InvalidInput for what is no address.
    """
    call.require(Permission(IMPORT_FROM_STORAGE, storage_namespace_arn(spelled(address))))
    settings = call.services.settings
    _, name = split_foreign(address)
    if any(part in {"", ".", ".."} for part in name.split("/")):
        raise _refused(address, "it has an empty, '.' or '..' segment")
    if not any(_lies_in(address, place) for place in _allowed(settings)):
        raise _refused(address, "blockstore.allowed_namespace_prefixes does not name the place")
    owned = (repository.storage_namespace for repository in list_repositories(call.lake.store))
    own = [*_own(settings), *owned]
    if any(_lies_in(address, place) or _lies_in(meant(address), meant(place)) for place in own):
        raise _refused(address, "it lies in a repository, or beside one")


def _allowed(settings: Settings) -> Iterator[str]:
    yield from settings.blockstore.allowed_namespace_prefixes
    yield from (f"file://{folder}" for folder in settings.blockstore.readable_folders)


def _own(settings: Settings) -> Iterator[str]:
    yield settings.namespace_prefix
    yield f"file://{settings.lake.absolute()}"


def _lies_in(address: str, place: str) -> bool:
    """Say whether an address is below a place, whichever way both are written."""
    store, name = split_prefix(address)
    other, folder = split_prefix(place)
    folder = f"{folder.rstrip('/')}/" if folder else ""
    return store == other and name.startswith(folder)


def _refused(address: str, reason: str) -> Refused:
    message = f"{address!r} cannot become part of the lake: {reason}"
    return Refused(message, code="link-foreign")
