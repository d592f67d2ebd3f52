# SPDX-License-Identifier: Apache-2.0
"""What types cannot say: settings that are missing, or that do not go together."""

import stat
from collections.abc import Iterator
from pathlib import Path

from lochan.config.gather import Finding, Gathered
from lochan.config.leaf import leaves, variable_of
from lochan.config.server import Settings
from lochan.config.values import Address

MIN_SECRET_BYTES = 32
_EVERYWHERE = {"0.0.0.0", "::"}  # noqa: S104 - compared, not listened on


def findings(gathered: Gathered[Settings]) -> Iterator[Finding]:
    """Give what is wrong with a server's settings as a whole."""
    settings = gathered.settings
    broken = {finding.key for finding in gathered.findings}
    for rule in (_secrets, _exposure, _tls, _namespaces, _sizes):
        # What could not be read has its own finding; its default would only mislead here.
        yield from (found for found in rule(settings) if not _mentioned(found.key, broken))
    yield from _open_files(gathered)


def _mentioned(key: str, broken: set[str]) -> bool:
    return bool({key, f"{key}_file", variable_of(key)} & broken)


def _found(key: str, problem: str, remedy: str) -> Finding:
    return Finding(key, key, problem, remedy)


def _secrets(settings: Settings) -> Iterator[Finding]:
    encrypt = "auth.encrypt.secret_key"
    remedy = f"give it, or {encrypt}_file, {MIN_SECRET_BYTES} random bytes or more"
    secret = settings.auth.encrypt.secret_key
    if not secret:
        yield _found(encrypt, "it is missing", f"{remedy}, as `openssl rand -hex 32` prints")
    elif len(secret.reveal().encode()) < MIN_SECRET_BYTES:
        yield _found(encrypt, "it is too short", remedy)
    signing = settings.blockstore.signing.secret_key
    if signing and len(signing.reveal().encode()) < MIN_SECRET_BYTES:
        remedy = f"give it {MIN_SECRET_BYTES} bytes or more, or leave it out"
        yield _found("blockstore.signing.secret_key", "it is too short", remedy)


def _exposure(settings: Settings) -> Iterator[Finding]:
    remedy = "write 127.0.0.1:8000, or use `lochan setup` and `serve`"
    for key, address in (("listen", settings.listen), ("webhdfs.listen", settings.webhdfs.listen)):
        if settings.quickstart and address and not address.is_loopback:
            problem = f"quickstart has published credentials, and {address} is open to others"
            yield _found(key, problem, remedy)
    yield from _listening(settings)
    if settings.kv_url.startswith("memory:") and settings.workers > 1:
        remedy = "write 1, or a url of a store that processes share"
        yield _found("workers", "a store in memory is not shared by processes", remedy)


def _listening(settings: Settings) -> Iterator[Finding]:
    remedy = "write another address, or leave it out"
    metrics, files = settings.metrics.listen, settings.webhdfs.listen
    for key, address in (("metrics.listen", metrics), ("webhdfs.listen", files)):
        if address is not None and _meet(address, settings.listen):
            yield _found(key, "the API is served there", remedy)
    if files is not None and metrics is not None and _meet(files, metrics):
        yield _found("webhdfs.listen", "the metrics are served there", remedy)
    if files is not None and not files.port:
        yield _found("webhdfs.listen", "clients must know its port", "write one from 1 to 65535")


def _meet(one: Address, other: Address) -> bool:
    """Say whether two addresses cannot both be listened at."""
    is_same = one.host == other.host or bool({one.host, other.host} & _EVERYWHERE)
    return is_same and one.port == other.port != 0


def _tls(settings: Settings) -> Iterator[Finding]:
    files = {"tls.cert_file": settings.tls.cert_file, "tls.key_file": settings.tls.key_file}
    given = {key: file for key, file in files.items() if file is not None}
    for key, file in files.items():
        if given and file is None:
            yield _found(key, "the other half of tls is given", "give both files, or none")
        elif file is not None and not file.is_file():
            yield _found(key, f"{file} is no file", "name one that exists")
    if settings.webhdfs.listen and (given or settings.public_url.startswith("https:")):
        problem = "it has no TLS, and clients of the main address have"
        yield _found("webhdfs.listen", problem, "leave it out: files go by the main address")


def _namespaces(settings: Settings) -> Iterator[Finding]:
    blockstore = settings.blockstore
    named = {"blockstore.allowed_namespace_prefixes": blockstore.allowed_namespace_prefixes}
    if blockstore.default_namespace_prefix:
        named["blockstore.default_namespace_prefix"] = (blockstore.default_namespace_prefix,)
    for key, prefixes in named.items():
        for prefix in prefixes:
            if "://" not in prefix or prefix.startswith("://"):
                yield _found(key, f"{prefix} names no store", "write as s3://bucket/prefix")
    for folder in blockstore.readable_folders:
        if not folder.is_absolute():
            problem = f"{folder} depends on where the server starts"
            yield _found("blockstore.readable_folders", problem, "write absolute paths")


def _sizes(settings: Settings) -> Iterator[Finding]:
    for key, size in (
        ("limits.json_body", settings.limits.json_body),
        ("limits.upload", settings.limits.upload),
    ):
        if size <= 0:
            yield _found(key, "nothing would be let in", "write a size such as 4MiB")


def _open_files(gathered: Gathered[Settings]) -> Iterator[Finding]:
    """Warn of a file with secrets in it that everybody on the machine can read."""
    secret = {leaf.key for leaf in leaves(Settings) if leaf.is_secret}
    for name in {gathered.origins[key].name for key in secret & set(gathered.origins)}:
        file = Path(name)
        if file.is_file() and file.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
            problem = "others on this machine can read the secrets in it"
            yield Finding("", name, problem, f"run `chmod 600 {name}`", "warning")
