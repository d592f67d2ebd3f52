# SPDX-License-Identifier: Apache-2.0
"""The REST API: one file a resource, each with its ROUTES. Paths are lakeFS's."""

from lochan.web.api import (
    config,
    copies,
    credentials,
    deletions,
    downloads,
    groups,
    multipart,
    objects,
    policies,
    presigned,
    setup,
    staging,
    symlinks,
    tags,
    uploads,
    users,
)
from lochan.web.route import Route

ROUTES: tuple[Route, ...] = (
    *setup.ROUTES,
    *users.ROUTES,
    *groups.ROUTES,
    *policies.ROUTES,
    *credentials.ROUTES,
    *config.ROUTES,
    *tags.ROUTES,
    *objects.ROUTES,
    *downloads.ROUTES,
    *uploads.ROUTES,
    *deletions.ROUTES,
    *copies.ROUTES,
    *staging.ROUTES,
    *presigned.ROUTES,
    *multipart.ROUTES,
    *symlinks.ROUTES,
)
