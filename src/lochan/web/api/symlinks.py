# SPDX-License-Identifier: Apache-2.0
"""Symlink files for Hive, which no client of today asks for: refused in so many words."""

from lochan.errors import InvalidInput
from lochan.shapes.errors import Error
from lochan.web.call import Call
from lochan.web.needs import Need
from lochan.web.route import Routes

ROUTES = Routes("internal")


@ROUTES.post(
    "/repositories/{repository}/refs/{branch}/symlink",
    needs=Need("fs:WriteObject", "arn:lakefs:fs:::repository/{repository}/object/{branch}"),
    answers={501: Error},
)
def create_symlink_file(_: Call) -> None:
    """Refuse to write symlink files."""
    message = "symlink files are not written; read tables through the S3 gateway or fsspec"
    raise InvalidInput(message, code="not-implemented")
