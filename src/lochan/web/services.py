# SPDX-License-Identifier: Apache-2.0
"""What every handler is given: the lake, who may do what, and what the server was told."""

from dataclasses import dataclass

from lochan.access.access import Access
from lochan.config.server import Settings
from lochan.logs import AccessLog, AuditLog, Log
from lochan.metrics import Metrics, Workers
from lochan.operations.lake import Lake
from lochan.operations.repository_reads import RepositoryReads
from lochan.operations.tasks import Tasks
from lochan.web.admission import Admission
from lochan.web.readiness import Readiness


@dataclass(frozen=True, slots=True)
class Services:
    """One process's services, joined once."""

    lake: Lake
    access: Access
    settings: Settings
    repositories: RepositoryReads
    tasks: Tasks
    readiness: Readiness
    admission: Admission
    log: Log
    requests: AccessLog
    audit: AuditLog
    metrics: Metrics
    workers: Workers
    version: str
