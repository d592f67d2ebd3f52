# SPDX-License-Identifier: Apache-2.0
"""The kinds of store that parts of the object suite ask for."""

from typing import Protocol

from lochan.objects.store import ObjectStore, SupportsMultipart


class MultipartStore(ObjectStore, SupportsMultipart, Protocol):
    """A store that also takes objects in parts."""
