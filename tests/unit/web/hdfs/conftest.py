# SPDX-License-Identifier: Apache-2.0
"""A repository of its own for each test, seen as a Hadoop file system."""

import pytest

from support.hdfs import Hdfs
from support.object_routes import Objects
from support.web import Api


@pytest.fixture
def hdfs(api: Api) -> Hdfs:
    Objects.made(api)
    return Hdfs(api)
