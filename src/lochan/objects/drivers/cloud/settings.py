# SPDX-License-Identifier: Apache-2.0
"""What a cloud store must be told: where it is, who asks, and how long to wait.

    s3://bucket/prefix?region=eu-west-1&access_key_id=...&secret_access_key=...
    s3://bucket/prefix?endpoint=http://127.0.0.1:8333&...        SeaweedFS, MinIO and their like
    gs://bucket/prefix?service_account_key=...
    az://container/prefix?account_name=...&account_key=...

Without keys the libraries look where their clouds put them: the instance's role, their own files
and variables. So are AWS_ENDPOINT_URL and AWS_REGION heeded where nothing is said here: namespaces
of repositories, which are stored, say nothing.
"""

import msgspec

from lochan.errors import InvalidInput
from lochan.objects.namespace import Namespace, refuse_options

MIB = 1 << 20
_MIN_PART = 5 * MIB  # S3 refuses smaller parts, but for the last

_SCHEME_OPTIONS = {
    "s3": {"region", "access_key_id", "secret_access_key", "session_token"},
    "gs": {"service_account_key"},
    "az": {"account_name", "account_key", "sas_key"},
}
_OPTIONS = {"endpoint", "anonymous", "part_bytes", "timeout_s", "retries"}
_SECRET = "..."  # noqa: S105  stands for a secret where settings are shown


class CloudSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a cloud driver can be told.

    `timeout_s` bounds the wait for each answer and each piece of one; `retries` bounds the repeats
    of a request that may be repeated. At most five parts of `part_bytes` are in memory for a put.
    """

    endpoint: str = ""
    anonymous: bool = False
    part_bytes: int = 8 * MIB
    timeout_s: float = 60.0
    retries: int = 4
    region: str = ""
    access_key_id: str = ""
    secret_access_key: str = ""
    session_token: str = ""
    service_account_key: str = ""
    account_name: str = ""
    account_key: str = ""
    sas_key: str = ""

    def __post_init__(self) -> None:
        """Refuse values that cannot work."""
        if self.part_bytes < _MIN_PART:
            raise InvalidInput(f"part_bytes is at least {_MIN_PART}, S3's smallest part")
        if self.timeout_s <= 0 or self.retries < 0:
            raise InvalidInput("timeout_s must be above 0, and retries not below")

    def __repr__(self) -> str:
        """Show the settings without their secrets."""
        shown = {
            name: _SECRET if value and ("key" in name or "token" in name) else value
            for name, value in msgspec.structs.asdict(self).items()
            if value
        }
        return f"CloudSettings({', '.join(f'{name}={value}' for name, value in shown.items())})"


def read_settings(namespace: Namespace, options: dict[str, str]) -> CloudSettings:
    """Turn a location's options into settings.

    Raises: InvalidInput for an unknown option or a value of the wrong kind, without showing values.
    """
    known = frozenset(_OPTIONS | _SCHEME_OPTIONS[namespace.scheme])
    refuse_options(namespace, options, known)
    try:
        return msgspec.convert(options, type=CloudSettings, strict=False)
    except msgspec.ValidationError as error:
        wrong = str(error).rpartition("$.")[2].rstrip("`")
        raise InvalidInput(f"option {wrong} of {namespace} has a value of the wrong kind") from None
