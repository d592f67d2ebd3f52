# SPDX-License-Identifier: Apache-2.0
"""Where repositories may lie: below the places that a server was told, and nowhere else (S22).

    nothing                     <first place>/<repository>
    local://name/more           <first place>/name/more, where that place is local: lakeFS's form
    anything else               as it stands, if it lies below one of the places

Whoever may create repositories could otherwise have the server write into any bucket, or any folder
of its machine, that its own credentials open.
"""

from collections.abc import Sequence

from lochan.errors import InvalidInput
from lochan.model.ids import RepositoryId, StorageNamespace
from lochan.objects.namespace import Namespace

_LOCAL = "local"


def allowed_namespace(
    text: str, repository_id: RepositoryId, places: Sequence[str]
) -> StorageNamespace:
    """Give the one spelling of a new repository's namespace.

    Raises: InvalidInput, code namespace-not-allowed for one that lies below no place.
    """
    wanted = Namespace.parse(_placed(text, repository_id, places[0]))
    if not any(_is_below(wanted, Namespace.parse(place)) for place in places):
        message = (
            f"storage namespace {str(wanted)!r} lies outside the places that this server may use;"
            " choose one of them or have it allowed"
        )
        raise InvalidInput(message, code="namespace-not-allowed", namespace=str(wanted))
    return StorageNamespace(str(wanted))


def _placed(text: str, repository_id: RepositoryId, first: str) -> str:
    if not text:
        return f"{first.removesuffix('/')}/{repository_id}"
    scheme, _, rest = text.partition("://")
    if scheme == _LOCAL and not rest.startswith("/") and first.startswith(f"{_LOCAL}://"):
        return f"{first.removesuffix('/')}/{rest}"
    return text


def _is_below(wanted: Namespace, place: Namespace) -> bool:
    """Say whether a namespace lies in a place; the place itself would leave no room for others."""
    return str(wanted).startswith(place.physical(""))
