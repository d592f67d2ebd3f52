# SPDX-License-Identifier: Apache-2.0
"""Objects in a cloud: S3 and what speaks like it, Google Cloud Storage, Azure.

settings reads options; clients makes the connections; failures turns what libraries raise into our
errors; s3 has what obstore lacks there (parts, pages, any key); stream puts bodies that do not fit
into one request; store joins these into an `ObjectStore`.
"""

from lochan.objects.drivers.cloud.store import CloudObjects

__all__ = ["CloudObjects"]
