# SPDX-License-Identifier: Apache-2.0
"""What somebody does who was handed a URL and nothing else."""

from http.client import HTTPConnection
from urllib.parse import urlsplit


def request(method: str, url: str, body: bytes = b"") -> tuple[int, bytes]:
    """Send one request; give status and body."""
    parts = urlsplit(url)
    connection = HTTPConnection(parts.netloc, timeout=30)
    headers = {"x-ms-blob-type": "BlockBlob"} if method == "PUT" else {}  # Azure asks for it
    connection.request(method, f"{parts.path}?{parts.query}", body=body or None, headers=headers)
    response = connection.getresponse()
    answer = response.status, response.read()
    connection.close()
    return answer
