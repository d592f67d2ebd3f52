# SPDX-License-Identifier: Apache-2.0
"""What every handler is given: the lake, who may do what, and what the server was told."""

from dataclasses import dataclass

from lochan.access.access import Access
from lochan.config.server import Settings
from lochan.logs import Log
from lochan.operations.lake import Lake
from lochan.operations.repository_reads import RepositoryReads


@dataclass(frozen=True, slots=True)
class Services:
    """One process's services, joined once."""

    lake: Lake
    access: Access
    settings: Settings
    repositories: RepositoryReads
    log: Log
    version: str
