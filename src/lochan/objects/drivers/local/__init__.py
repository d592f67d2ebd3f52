# SPDX-License-Identifier: Apache-2.0
"""Objects as plain files of one folder: durable, shared by processes, read at the disk's speed.

names turns addresses into file names and back; disk creates, syncs and publishes files; folders
walks and makes the folders between; listing walks them in the order of addresses; store joins these
into an `ObjectStore`. On-disk layout: docs/formats/object-layout.md.
"""

from lochan.objects.drivers.local.store import LocalObjects

__all__ = ["LocalObjects"]
