# SPDX-License-Identifier: Apache-2.0
"""What hangs on a repository: metadata, protected branches, retention, and its refs as files."""

from collections.abc import Iterable, Mapping, Sequence

from lochan.client.refs_dump import dump_refs, restore_refs
from lochan.client.transport import Transport
from lochan.errors import NotFound
from lochan.shapes.protection import BranchProtectionRule
from lochan.shapes.refs import RefsDump
from lochan.shapes.repositories import RepositoryMetadataKeys, RepositoryMetadataSet
from lochan.shapes.retention import GarbageCollectionRules


class RepositorySettings:
    """The settings of one repository."""

    def __init__(self, transport: Transport, repository_id: str) -> None:
        """Read and write the settings of a repository."""
        self._transport = transport
        self._id = repository_id

    def metadata(self) -> dict[str, str]:
        """Give what people attached to it."""
        return self._transport.call("GET", self._at("metadata"), dict[str, str])

    def set_metadata(self, metadata: Mapping[str, str]) -> None:
        """Attach keys and values, beside those that it has."""
        body = RepositoryMetadataSet(metadata=dict(metadata))
        self._transport.send("POST", self._at("metadata"), body=body)

    def delete_metadata(self, keys: Iterable[str]) -> None:
        """Take keys away."""
        body = RepositoryMetadataKeys(keys=list(keys))
        self._transport.send("DELETE", self._at("metadata"), body=body)

    def protected_branches(self) -> Sequence[str]:
        """Give the patterns of branches that take neither writes nor commits but by merging."""
        path = self._at("settings", "branch_protection")
        rules = self._transport.call("GET", path, list[BranchProtectionRule])
        return [rule.pattern for rule in rules]

    def protect_branches(self, patterns: Iterable[str]) -> None:
        """Protect the branches of these patterns, and no others."""
        rules = [BranchProtectionRule(pattern=pattern) for pattern in patterns]
        self._transport.send("PUT", self._at("settings", "branch_protection"), body=rules)

    def find_retention(self) -> GarbageCollectionRules | None:
        """Give how long history is kept; None where nobody has said so."""
        try:
            path = self._at("settings", "gc_rules")
            return self._transport.call("GET", path, GarbageCollectionRules)
        except NotFound as error:
            if error.default_code != NotFound.default_code:  # the repository itself is not there
                raise
            return None

    def set_retention(self, rules: GarbageCollectionRules) -> None:
        """Say how long history is kept."""
        self._transport.send("PUT", self._at("settings", "gc_rules"), body=rules)

    def delete_retention(self) -> None:
        """Say nothing about how long history is kept: it stays for ever."""
        self._transport.send("DELETE", self._at("settings", "gc_rules"))

    def dump_refs(self) -> RefsDump:
        """Write all branches, tags and commits to files of its store."""
        return dump_refs(self._transport, self._id)

    def restore_refs(self, dump: RefsDump, *, force: bool = False) -> None:
        """Read all branches, tags and commits from such files; the repository is bare."""
        restore_refs(self._transport, self._id, dump, force=force)

    def _at(self, *rest: str) -> tuple[str, ...]:
        return ("repositories", self._id, *rest)
