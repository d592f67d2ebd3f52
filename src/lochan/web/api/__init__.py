# SPDX-License-Identifier: Apache-2.0
"""The REST API: one file a resource, each with its ROUTES. Paths are lakeFS's."""

from lochan.web.api import tags
from lochan.web.route import Route

ROUTES: tuple[Route, ...] = (*tags.ROUTES,)
