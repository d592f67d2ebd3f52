# SPDX-License-Identifier: Apache-2.0
"""From where a server's users may import (reliability S22).

A server reads with its own rights, which its users do not have. So they import only from places
that its settings name, and never from where this lake keeps its own: a repository's objects are
for those who may read that repository.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from lochan.errors import InvalidInput, Refused
from lochan.model.records import Repository
from lochan.objects.foreign import FILES, split_prefix
from lochan.operations.import_paths import ImportPath, PathKind, overlaps
from lochan.operations.lake import Lake
from lochan.refs.repositories import list_repositories

_CHANGES_FOLDER = frozenset({"", ".", ".."})


@dataclass(frozen=True, slots=True)
class ImportSources:
    """Places to import from: prefixes of full addresses, folders of this machine; and what is ours.

    `own` are places where this lake may keep what is nobody's source, as full addresses.
    """

    prefixes: Sequence[str] = ()
    folders: Sequence[Path] = ()
    own: Sequence[str] = ()

    def require(self, lake: Lake, paths: Sequence[ImportPath]) -> None:
        """Refuse paths that nobody may import from.

        Raises: Refused, code import-source-refused; InvalidInput for what is no full address, and
        with code import-source-overlaps for what lies in a repository's namespace, or around it.
        """
        if not paths:
            raise InvalidInput("say what to import: at least one path", code="source-needed")
        files = (ImportPath(one.inventory, b"", PathKind.OBJECT) for one in paths if one.inventory)
        paths = [*paths, *files]
        for path in paths:
            _require_plain(path)
            if not self._allows(path):
                raise Refused(
                    f"this server imports nothing from {path.path!r}; its settings must name it in"
                    " blockstore.allowed_namespace_prefixes or blockstore.readable_folders",
                    code="import-source-refused",
                )
            if any(overlaps(place, path) for place in self.own):
                raise _overlaps(path)
        for repository in list_repositories(lake.store):
            self._require_apart(repository, paths)

    def _allows(self, path: ImportPath) -> bool:
        store, name = split_prefix(path.path)
        if store == FILES:
            place = PurePosixPath("/", name)
            return any(place.is_relative_to(folder.absolute()) for folder in self.folders)
        address = path.path
        if path.type is PathKind.COMMON_PREFIX:
            address = address.removesuffix("/") + "/"
        return any(address.startswith(allowed.removesuffix("/") + "/") for allowed in self.prefixes)

    @staticmethod
    def _require_apart(repository: Repository, paths: Sequence[ImportPath]) -> None:
        for path in paths:
            if overlaps(repository.storage_namespace, path):
                raise _overlaps(path)


def _require_plain(path: ImportPath) -> None:
    """Refuse paths of files that mean another place than they spell."""
    store, name = split_prefix(path.path)
    if store == FILES and not _CHANGES_FOLDER.isdisjoint(name.removesuffix("/").split("/")):
        message = f"{path.path!r} has an empty, '.' or '..' segment; write the plain path"
        raise InvalidInput(message, code="invalid-address")


def _overlaps(path: ImportPath) -> InvalidInput:
    # Whose namespace it is stays unsaid: who asks may not know of that repository.
    message = f"{path.path!r} and a place of this lake's own overlap; import from elsewhere"
    return InvalidInput(message, code="import-source-overlaps")
