# SPDX-License-Identifier: Apache-2.0
"""Bring files that tasks have put to a private branch, and remove those that nobody wants."""

from collections.abc import Iterable, Sequence

from lochan.client.branch import Branch
from lochan.client.lake import Lake
from lochan.objects.namespace import Namespace
from lochan.shapes.staging import WrittenObject
from lochan.spark.arrow_write import WrittenFile
from lochan.spark.put_files import UPLOADS, Target


def ready_uploads(lake: Lake, repository_id: str, source: str) -> None:
    """Make the hidden branch for uploads, if it is not there."""
    lake.repository(repository_id).branch(UPLOADS).create(source, exist_ok=True, hidden=True)


def link_files(
    lake: Lake, branch: Branch, folder: str, target: Target, files: Sequence[WrittenFile]
) -> None:
    """Make objects of a branch of what tasks have put."""
    if not target.reach.is_direct:
        for file in files:
            branch.object(folder + file.path).copy_from(file.address, UPLOADS)
        drop_files(lake, target, files)
        return
    placed = files if target.given else _copied(branch, folder, target, files)
    branch.link_objects(
        folder,
        (
            WrittenObject(
                path=folder + file.path,
                physical_address=file.address,
                checksum=file.checksum,
                size_bytes=file.size,
            )
            for file in placed
        ),
    )
    if not target.given:
        drop_files(lake, target, files)


def drop_files(lake: Lake, target: Target, files: Iterable[WrittenFile]) -> None:
    """Remove files that are not linked, or not where they lay first."""
    addresses = [file.address for file in files]
    if not addresses:
        return
    if not target.reach.is_direct:
        lake.repository(target.reach.repository).branch(UPLOADS).delete_objects(addresses)
        return
    namespace = Namespace.parse(target.reach.namespace)
    inside = [namespace.find_address(address) for address in addresses]
    target.reach.store().delete(*(address for address in inside if address))


def clear_given(target: Target) -> None:
    """Remove all that tasks have put below a given address."""
    inside = Namespace.parse(target.reach.namespace).find_address(target.given)
    store, after = target.reach.store(), ""
    while inside:
        page = store.list(f"{inside}/", start_after=after)
        store.delete(*(one.address for one in page.entries))
        after = page.next_after
        if not after:
            return


def _copied(
    branch: Branch, folder: str, target: Target, files: Sequence[WrittenFile]
) -> list[WrittenFile]:
    """Copy files below an address that can be linked; the store does that by itself."""
    given = branch.new_folder(folder)
    namespace = Namespace.parse(target.reach.namespace)
    placed = []
    for file in files:
        moved = file._replace(address=f"{given}/{file.path}")
        source, destination = map(namespace.find_address, (file.address, moved.address))
        if source and destination:
            target.reach.store().copy(source, destination)
        placed.append(moved)
    return placed
