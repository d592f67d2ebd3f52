# SPDX-License-Identifier: Apache-2.0
"""Configuration that clients ask for before they act, above all whether URLs can be signed."""

from typing import Annotated

from msgspec import Meta, Struct, field


class VersionConfig(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which version answers."""

    version: Annotated[str, Meta(description="The server's version.")]
    version_context: Annotated[str, Meta(description="What kind of server it is.")] | None = None
    latest_version: (
        Annotated[str, Meta(description="The newest version, where it is known.")] | None
    ) = None
    upgrade_recommended: (
        Annotated[bool, Meta(description="Whether a newer version should be installed.")] | None
    ) = None
    upgrade_url: Annotated[str, Meta(description="Where a newer version is.")] | None = None


class StorageConfig(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the object store is, and can do."""

    blockstore_type: Annotated[str, Meta(description="Kind of store: local, s3, gs, azure, mem.")]
    blockstore_namespace_example: Annotated[
        str, Meta(description="What a storage namespace looks like.")
    ]
    blockstore_namespace_validity_regex: Annotated[
        str, Meta(description="What a storage namespace must match.")
    ] = field(name="blockstore_namespace_ValidityRegex")
    default_namespace_prefix: (
        Annotated[str, Meta(description="What a storage namespace begins with if nobody says.")]
        | None
    ) = None
    pre_sign_support: Annotated[bool, Meta(description="Whether URLs can be signed.")]
    pre_sign_support_ui: Annotated[bool, Meta(description="Whether browsers use signed URLs.")]
    import_support: Annotated[bool, Meta(description="Whether objects can be imported.")]
    import_validity_regex: Annotated[
        str, Meta(description="What the address of an import must match.")
    ]
    pre_sign_multipart_upload: (
        Annotated[bool, Meta(description="Whether uploads in parts can be signed.")] | None
    ) = None
    blockstore_id: Annotated[str, Meta(description="Which of several stores.")] | None = None
    blockstore_description: (
        Annotated[str, Meta(description="What the store is for, in words.")] | None
    ) = None


class CustomViewer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A page that shows objects of some kinds."""

    name: Annotated[str, Meta(description="How people call it.")]
    url: Annotated[str, Meta(description="Where it is.")]
    extensions: Annotated[list[str], Meta(description="Endings of paths it shows.")] = []
    content_types: Annotated[list[str], Meta(description="MIME types it shows.")] = []


class UIConfig(Struct, frozen=True, kw_only=True):
    """What the web pages are told."""

    custom_viewers: list[CustomViewer] = []


class Config(Struct, frozen=True, kw_only=True):
    """All that clients are told at once."""

    version_config: VersionConfig
    storage_config: StorageConfig
    storage_config_list: Annotated[
        list[StorageConfig], Meta(description="The stores, where there are several.")
    ] = []
    ui_config: UIConfig = UIConfig()
    capabilities_config: Annotated[
        dict[str, bool], Meta(description="Abilities that not every server has.")
    ] = {}
