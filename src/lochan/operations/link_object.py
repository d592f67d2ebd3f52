# SPDX-License-Identifier: Apache-2.0
"""Link an object that was uploaded past Lochan: first a fresh address, then its entry.

    new_address      gives an address under data/ that nobody else is given
    (the client uploads there, by its own means)
    link_object      sees that the object is there and as large as was said, and stages its entry

An address tells when it was made. A link is refused when that is longer ago than `LINK_EXPIRY_S`: a
collector takes what nobody names for garbage once it is older than that, and the two must not meet.
For the same reason nothing under other prefixes of the namespace can be linked. An object outside
of the namespace is not ours to collect; it is linked in full where the caller allows it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

from lochan.errors import InvalidInput, NotFound, Refused
from lochan.model.entry import DEFAULT_CONTENT_TYPE, AddressType, Entry
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.instant import Instant, from_seconds
from lochan.model.records import Repository
from lochan.objects.address import find_data
from lochan.objects.foreign import is_full, split_foreign
from lochan.objects.namespace import Namespace
from lochan.operations.conditions import Condition
from lochan.operations.lake import Lake
from lochan.operations.put_object import stage_entry
from lochan.operations.read_entry import locate
from lochan.operations.stage import seen_writable

LINK_EXPIRY_S = 24 * 3600.0  # lakeFS's, whose clients count on it
CLOCK_SKEW_S = 300.0  # how far clocks of one lake's machines may differ


class NewAddress(NamedTuple):
    """An address to upload to: inside the namespace, and in full."""

    address: str
    physical_address: str


@dataclass(frozen=True, slots=True)
class Uploaded:
    """What a client says of the object that it uploaded."""

    address: str  # as new_address gave it, in either form
    size: int
    e_tag: str
    content_type: str = DEFAULT_CONTENT_TYPE
    metadata: Mapping[str, str] = field(default_factory=dict)
    last_modified: Instant | None = None  # now, if not said


def new_address(
    lake: Lake, repository: Repository, branch: BranchName, key: ObjectKey
) -> NewAddress:
    """Give a fresh address for an object of a branch. Raises NotFound, Refused for the branch."""
    seen_writable(lake, repository, branch)
    storage = lake.storage(repository.storage_namespace)
    address = storage.addresses.new(key.decode(errors="replace"))
    return NewAddress(address, Namespace.parse(repository.storage_namespace).physical(address))


def link_object(
    lake: Lake,
    repository: Repository,
    branch: BranchName,
    key: ObjectKey,
    uploaded: Uploaded,
    *,
    condition: Condition | None = None,
    allow_foreign: bool = False,
) -> Entry:
    """Stage the entry of an uploaded object.

    Raises: InvalidInput, code link-invalid or link-expired, for an address that may not be linked,
    and link-size for another size; NotFound when there is no object; Refused for an address
    outside of the namespace; PredicateFailed and Conflict as `stage_entry`.
    """
    seen_writable(lake, repository, branch)
    address, kind = checked_address(lake, repository, uploaded.address, allow_foreign=allow_foreign)
    require_object(lake, repository, address, uploaded.size)
    entry = entry_of(lake, uploaded, address, kind)
    stage_entry(lake, repository, branch, key, entry, condition=condition)
    return entry


def entry_of(lake: Lake, uploaded: Uploaded, address: str, kind: AddressType) -> Entry:
    """Describe an uploaded object."""
    return Entry(
        address=address,
        last_modified=uploaded.last_modified or from_seconds(lake.environment.now()),
        size=uploaded.size,
        e_tag=uploaded.e_tag.strip('"'),
        metadata=uploaded.metadata,
        address_type=kind,
        content_type=uploaded.content_type,
    )


def checked_address(
    lake: Lake, repository: Repository, address: str, *, allow_foreign: bool
) -> tuple[str, AddressType]:
    """Say how an entry names an address that may be linked. Raises InvalidInput, Refused."""
    inside: str | None = address
    if is_full(address):
        inside = Namespace.parse(repository.storage_namespace).find_address(address)
    if inside is not None:
        _require_young(lake, inside)
        return inside, AddressType.RELATIVE
    if not allow_foreign:
        raise Refused(
            f"{address!r} lies outside of the repository's namespace; upload to an address that"
            " was given for it, or import the object",
            code="link-foreign",
        )
    split_foreign(address)
    return address, AddressType.FULL


def _require_young(lake: Lake, address: str) -> None:
    found = find_data(address)
    if found is None:
        _refuse(address, "it was not given for an upload", "link-invalid")
    age = lake.environment.now() - found.created
    if age > LINK_EXPIRY_S:
        _refuse(address, f"it was given {age / 3600:.0f} hours ago", "link-expired")
    if age < -CLOCK_SKEW_S:
        _refuse(address, "its time is in the future", "link-invalid")


def require_object(lake: Lake, repository: Repository, address: str, size: int) -> None:
    """Refuse an address where no object of this size lies. Raises NotFound, InvalidInput."""
    store, name = locate(lake, repository, address)
    try:
        found = store.head(name).size
    except NotFound as error:
        message = f"nothing was uploaded to {address!r}; upload it, then link it"
        raise NotFound(message, code="link-missing") from error
    if found != size:
        message = f"the object at {address!r} has {found} bytes, not {size}; upload it again"
        raise InvalidInput(message, code="link-size")


def _refuse(address: str, reason: str, code: str) -> NoReturn:
    message = f"{address!r} cannot be linked: {reason}; ask for a new one and upload there"
    raise InvalidInput(message, code=code)
