# SPDX-License-Identifier: Apache-2.0
"""The REST API: one file a resource, each with its ROUTES. Paths are lakeFS's."""

from lochan.web.api import config, setup, tags
from lochan.web.route import Route

ROUTES: tuple[Route, ...] = (*setup.ROUTES, *config.ROUTES, *tags.ROUTES)
