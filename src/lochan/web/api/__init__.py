# SPDX-License-Identifier: Apache-2.0
"""The REST API: one file a resource, each with its ROUTES. Paths are lakeFS's."""

from lochan.web.api import (
    config,
    copies,
    deletions,
    downloads,
    multipart,
    objects,
    presigned,
    setup,
    staging,
    symlinks,
    tags,
    uploads,
)
from lochan.web.route import Route

ROUTES: tuple[Route, ...] = (
    *setup.ROUTES,
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
