# SPDX-License-Identifier: Apache-2.0
"""Connections to a cloud: of each kind one that repeats requests and one that never does.

A conditional write whose answer was lost must not be repeated by a library: the repeat would meet
the write's own effect and report a conflict that never was. Such writes go through `once`.
"""

from datetime import timedelta
from functools import cache, cached_property
from threading import Lock

import boto3
from botocore import UNSIGNED
from botocore.config import Config
from obstore.store import AzureStore, GCSStore, S3Store

from lochan.config.surroundings import variables
from lochan.objects.drivers.cloud.settings import CloudSettings
from lochan.objects.namespace import Namespace

Store = S3Store | GCSStore | AzureStore

_CONNECT_S = 5
_REGION = "us-east-1"
_FOREVER = timedelta(days=7)  # a large object may take long; each piece of it may not


class Clients:
    """What the verbs speak through. Made on first use; shared by all threads."""

    def __init__(self, namespace: Namespace, settings: CloudSettings) -> None:
        """Keep where and how to connect."""
        self._namespace = namespace
        self._settings = settings

    @cached_property
    def steady(self) -> Store:
        """For requests that may be repeated."""
        return self._store(self._settings.retries)

    @cached_property
    def once(self) -> Store:
        """For requests that are sent at most once."""
        return self._store(0)

    @cached_property
    def boto_steady(self):  # type: ignore[no-untyped-def]  # noqa: ANN201  boto3 has no types
        """For S3's requests that obstore lacks and that may be repeated."""
        return self._boto(self._settings.retries)

    @cached_property
    def boto_once(self):  # type: ignore[no-untyped-def]  # noqa: ANN201  boto3 has no types
        """For S3's requests that obstore lacks and that are sent at most once."""
        return self._boto(0)

    def _store(self, retries: int) -> Store:
        told = self._settings
        bucket, prefix = self._namespace.authority, self._namespace.path or None
        client = {
            "allow_http": self._endpoint().startswith("http://"),
            "connect_timeout": timedelta(seconds=_CONNECT_S),
            "read_timeout": timedelta(seconds=told.timeout_s),
            "timeout": _FOREVER,
        }
        pauses = {"init_backoff": timedelta(seconds=0.1), "max_backoff": timedelta(seconds=2)}
        retry = {
            "max_retries": retries,
            "retry_timeout": timedelta(seconds=told.timeout_s),
            "backoff": pauses,
        }
        kind = {"s3": S3Store, "gs": GCSStore, "az": AzureStore}[self._namespace.scheme]
        store: Store = kind(
            bucket,
            prefix=prefix,
            config=self._config(),
            client_options=client,
            retry_config=retry,
        )
        return store

    def _config(self) -> dict[str, str]:
        """Name the settings as obstore names them; what was not given is left to it."""
        told = self._settings
        names = {
            "s3": {
                "endpoint": self._endpoint(),
                "region": self._region(),
                "access_key_id": told.access_key_id,
                "secret_access_key": told.secret_access_key,
                "session_token": told.session_token,
            },
            "gs": {"base_url": told.endpoint, "service_account_key": told.service_account_key},
            "az": {
                "endpoint": told.endpoint,
                "account_name": told.account_name,
                "account_key": told.account_key,
                "sas_key": told.sas_key,
            },
        }[self._namespace.scheme]
        anonymous = {"skip_signature": "true"} if told.anonymous else {}
        return {name: value for name, value in names.items() if value} | anonymous

    def _endpoint(self) -> str:
        """Give where the store is, if that was said, by whomever."""
        around = variables() if self._namespace.scheme == "s3" else {}
        found = map(around.get, ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"))
        return self._settings.endpoint or next(filter(None, found), "")

    def _region(self) -> str:
        found = map(variables().get, ("AWS_REGION", "AWS_DEFAULT_REGION"))
        return self._settings.region or next(filter(None, found), _REGION)

    def _boto(self, retries: int):  # type: ignore[no-untyped-def]  # noqa: ANN202  no types there
        told = self._settings
        options = {
            "connect_timeout": _CONNECT_S,
            "read_timeout": told.timeout_s,
            "retries": {"mode": "standard", "total_max_attempts": retries + 1},
            # Newer checksums are not known to every store that speaks S3.
            "request_checksum_calculation": "when_required",
            "response_checksum_validation": "when_required",
        }
        if told.anonymous:
            options["signature_version"] = UNSIGNED
        with _session_lock:
            return _session().client(
                "s3",
                endpoint_url=told.endpoint or None,
                region_name=self._region(),
                aws_access_key_id=told.access_key_id or None,
                aws_secret_access_key=told.secret_access_key or None,
                aws_session_token=told.session_token or None,
                config=Config(**options),
            )


@cache
def _session():  # type: ignore[no-untyped-def]  # noqa: ANN202  boto3 has no types
    """Give the session of this process: it holds S3's description, which takes 80 ms to read."""
    return boto3.Session()


_session_lock = Lock()  # a session makes one client at a time
