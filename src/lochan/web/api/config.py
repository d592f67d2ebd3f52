# SPDX-License-Identifier: Apache-2.0
"""What clients ask for before they act: version, storage, whether URLs can be signed."""

from typing import Final

from lochan.access.arn import ANY
from lochan.shapes.config import Config, StorageConfig, VersionConfig
from lochan.shapes.retention import GarbageCollectionConfig
from lochan.web.call import Call
from lochan.web.needs import SIGNED_IN, Need
from lochan.web.presign import supports_presign
from lochan.web.route import Routes
from lochan.web.services import Services

ROUTES = Routes("config")

GRACE_S: Final = 86_400  # how long what nothing names any more is kept, at the least
# lakeFS's names of the kinds of storage; clients compare them.
_KINDS: Final = {"local": "local", "memory": "mem", "s3": "s3", "gs": "gs", "az": "azure"}


@ROUTES.get("/config", needs=SIGNED_IN, answers={200: Config})
def get_config(call: Call) -> Config:
    """Give all that clients are told at once."""
    return Config(
        version_config=VersionConfig(version=call.services.version),
        storage_config=storage_config(call.services),
    )


@ROUTES.get("/config/version", needs=SIGNED_IN, answers={200: VersionConfig})
def get_lake_fs_version(call: Call) -> VersionConfig:
    """Give the server's version."""
    return VersionConfig(version=call.services.version)


@ROUTES.get("/config/storage", needs=Need("fs:ReadConfig", ANY), answers={200: StorageConfig})
def get_storage_config(call: Call) -> StorageConfig:
    """Give what the object store is, and can do."""
    return storage_config(call.services)


@ROUTES.get(
    "/config/garbage-collection",
    needs=Need("fs:ReadConfig", ANY),
    answers={200: GarbageCollectionConfig},
)
def get_garbage_collection_config(_: Call) -> GarbageCollectionConfig:
    """Give how long what nothing names any more is kept."""
    return GarbageCollectionConfig(grace_period=GRACE_S)


def storage_config(services: Services) -> StorageConfig:
    """Describe the storage in which new repositories lie."""
    prefix = services.settings.namespace_prefix
    scheme = prefix.partition("://")[0]
    return StorageConfig(
        blockstore_type=_KINDS.get(scheme, scheme),
        blockstore_namespace_example=f"{scheme}://example/lake",
        blockstore_namespace_validity_regex=f"^{scheme}://",
        default_namespace_prefix=prefix,
        pre_sign_support=supports_presign(services.settings),
        pre_sign_support_ui=False,
        pre_sign_multipart_upload=supports_presign(services.settings),
        import_support=True,
        import_validity_regex=r"^[a-z0-9]+://",
    )
