# SPDX-License-Identifier: Apache-2.0
"""Everything that a server may be told, with its meaning and its default.

Each description is the line of the setting in `docs/configuration.md`; names are lakeFS's where the
meaning is the same. An empty text or list stands for "not given", and the properties of `Settings`
say what holds then.
"""

from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import quote

from msgspec import Meta, Struct

from lochan.config.secret import Secret
from lochan.config.values import Address, Location, Network, Size

_Count = Annotated[int, Meta(ge=1, le=1_000_000)]
_Seconds = Annotated[float, Meta(gt=0, le=31_536_000)]


class Encrypt(Struct, frozen=True, kw_only=True):
    """How secrets are kept."""

    secret_key: Annotated[
        Secret,
        Meta(
            description="encrypts what is secret in the KV store and signs logins; 32 bytes or more"
        ),
    ] = Secret()


class Cookie(Struct, frozen=True, kw_only=True):
    """The cookie of a person who has logged in."""

    secure: Annotated[
        Literal["auto", "always", "never"],
        Meta(description="send the cookie over TLS only; auto: where the request came over TLS"),
    ] = "auto"
    same_site: Annotated[
        Literal["Lax", "Strict"], Meta(description="which requests from other sites carry it")
    ] = "Lax"
    domain: Annotated[str, Meta(description="domain of the cookie; empty: this host alone")] = ""


class Auth(Struct, frozen=True, kw_only=True):
    """Who may come in."""

    encrypt: Encrypt = Encrypt()
    cookie: Cookie = Cookie()
    login_seconds: Annotated[_Seconds, Meta(description="how long a login lasts")] = 604800.0


class Signing(Struct, frozen=True, kw_only=True):
    """How addresses are signed."""

    secret_key: Annotated[
        Secret,
        Meta(
            description="signs the addresses under which objects are read and written without"
            " credentials; empty: derived from auth.encrypt.secret_key"
        ),
    ] = Secret()
    expiry_seconds: Annotated[_Seconds, Meta(description="how long such an address is good")] = (
        900.0
    )


class Blockstore(Struct, frozen=True, kw_only=True):
    """Where objects lie."""

    default_namespace_prefix: Annotated[
        str,
        Meta(
            description="new repositories without a storage namespace lie below it;"
            " empty: objects/ in the lake's folder"
        ),
    ] = ""
    allowed_namespace_prefixes: Annotated[
        tuple[str, ...],
        Meta(description="other places in which repositories may lie and objects be imported from"),
    ] = ()
    readable_folders: Annotated[
        tuple[Path, ...],
        Meta(description="folders of this machine whose files may be imported where they lie"),
    ] = ()
    signing: Signing = Signing()


class Limits(Struct, frozen=True, kw_only=True):
    """What one request, one caller and all together may ask for."""

    json_body: Annotated[Size, Meta(description="largest JSON body")] = Size(4 << 20)
    upload: Annotated[Size, Meta(description="largest object in one upload")] = Size(5 << 40)
    queue: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000,
            description="requests of one worker that may wait; further ones get 503",
        ),
    ] = 1024
    queue_seconds: Annotated[
        _Seconds, Meta(description="how long a request waits for its turn")
    ] = 10.0
    body_seconds: Annotated[
        _Seconds, Meta(description="how long a client may pause within a body, or within an answer")
    ] = 30.0
    requests_per_second: Annotated[
        float,
        Meta(
            ge=0,
            le=1e9,
            description="requests of one user in a second at one worker; further ones get 429;"
            " 0: any",
        ),
    ] = 0.0
    logins_per_minute: Annotated[
        _Count,
        Meta(
            description="failed logins with one access key in a minute at one worker;"
            " further ones get 429"
        ),
    ] = 10


class Tls(Struct, frozen=True, kw_only=True):
    """Encrypted connections."""

    cert_file: Annotated[
        Path | None, Meta(description="certificate chain, PEM; with key_file it turns TLS on")
    ] = None
    key_file: Annotated[Path | None, Meta(description="private key of the certificate, PEM")] = None


class Logging(Struct, frozen=True, kw_only=True):
    """What is written down."""

    level: Annotated[
        Literal["debug", "info", "warning", "error"], Meta(description="least level that is logged")
    ] = "info"
    format: Annotated[
        Literal["auto", "json", "console"],
        Meta(description="auto: console on a terminal, else JSON, one object a line"),
    ] = "auto"
    file: Annotated[Path | None, Meta(description="log file, appended to; none: stderr")] = None
    audit_file: Annotated[
        Path | None, Meta(description="who did what; appended to; none: audit lines go to the log")
    ] = None


class Metrics(Struct, frozen=True, kw_only=True):
    """What is measured."""

    listen: Annotated[
        Address | None,
        Meta(
            description="serve /metrics here, without credentials;"
            " none: on the main address, for users who may"
        ),
    ] = None


class WebHdfs(Struct, frozen=True, kw_only=True):
    """The lake as a Hadoop file system."""

    listen: Annotated[
        Address | None,
        Meta(
            description="serve the bytes of files here, which costs less; clients must reach it"
            " under the name of the main address; none: on the main address"
        ),
    ] = None


class Pipelines(Struct, frozen=True, kw_only=True):
    """What runs beside the API when branches move."""

    enabled: Annotated[
        bool, Meta(description="decide and run the jobs of pipelines; else only workers do")
    ] = True
    jobs_at_once: Annotated[_Count, Meta(description="jobs that are driven from this server")] = 1
    cores: Annotated[
        _Count, Meta(description="shards that a job's driver is taken to run at the same time")
    ] = 2
    pause_seconds: Annotated[_Seconds, Meta(description="between two looks at the branches")] = 1.0
    egress_places: Annotated[
        tuple[str, ...],
        Meta(description="folders and prefixes below which results may be copied; else nowhere"),
    ] = ()


class Settings(Struct, frozen=True, kw_only=True):
    """One server's settings."""

    lake: Annotated[
        Path, Meta(description="folder of the embedded defaults: kv.db and objects/")
    ] = Path("lake")
    listen: Annotated[Address, Meta(description="where the API is served")] = Address(
        "127.0.0.1", 8000
    )
    public_url: Annotated[
        str, Meta(description="how clients reach the server; empty: as each request says")
    ] = ""
    workers: Annotated[int, Meta(ge=1, le=1024, description="processes that serve")] = 1
    threads: Annotated[
        int,
        Meta(
            ge=1,
            le=1024,
            description="threads of one worker: requests that it works on at the same time",
        ),
    ] = 16
    kv: Annotated[
        Location, Meta(description="url of the key-value store; empty: kv.db in the lake's folder")
    ] = Location()
    blockstore: Blockstore = Blockstore()
    auth: Auth = Auth()
    limits: Limits = Limits()
    tls: Tls = Tls()
    trusted_proxies: Annotated[
        tuple[Network, ...],
        Meta(description="who is believed about X-Forwarded-For and X-Forwarded-Proto"),
    ] = ()
    logging: Logging = Logging()
    metrics: Metrics = Metrics()
    webhdfs: WebHdfs = WebHdfs()
    pipelines: Pipelines = Pipelines()
    drain_seconds: Annotated[
        _Seconds, Meta(description="how long requests under way may take after SIGTERM")
    ] = 30.0
    drain_notice_seconds: Annotated[
        float,
        Meta(
            ge=0,
            le=3600,
            description="how long after SIGTERM the server still takes requests while /readyz says"
            " 503, so that a load balancer turns away first",
        ),
    ] = 0.0
    quickstart: Annotated[
        bool, Meta(description="try-out mode with published credentials; on this machine alone")
    ] = False

    @property
    def kv_url(self) -> str:
        """Give the address of the key-value store, with its password if it has one."""
        return self.kv.reveal() or f"sqlite://{quote(str(self.lake.absolute()))}/kv.db"

    @property
    def namespace_prefix(self) -> str:
        """Give the place below which repositories lie that name none."""
        return self.blockstore.default_namespace_prefix or f"local://{self.lake.absolute()}/objects"

    @property
    def namespace_prefixes(self) -> tuple[str, ...]:
        """Give every place below which repositories may lie."""
        return (self.namespace_prefix, *self.blockstore.allowed_namespace_prefixes)

    @property
    def private_folders(self) -> tuple[Path, ...]:
        """Give the folders of this machine that hold the lake's own, which nobody may import."""
        _, is_local, prefix = self.namespace_prefix.partition("local://")
        return (self.lake.absolute(), *((Path(prefix),) if is_local else ()))

    @property
    def signing_key(self) -> bytes:
        """Give the key that signs addresses of objects."""
        own = self.blockstore.signing.secret_key
        return (own or self.auth.encrypt.secret_key).derive("presigned addresses")
