# SPDX-License-Identifier: Apache-2.0
import os
from pathlib import Path

import pytest

from lochan.config import show
from lochan.config.client import ClientSettings
from lochan.config.gather import Finding
from lochan.config.leaf import leaves
from lochan.config.read import check_server, gather_server, server_settings
from lochan.config.server import Settings
from lochan.errors import InvalidInput

SECRET = "0123456789abcdef0123456789abcdef"
KEY = "LOCHAN_AUTH_ENCRYPT_SECRET_KEY"
ENOUGH = {KEY: SECRET}


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("LOCHAN_")]:
        monkeypatch.delenv(name)


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "lochan.yaml"
    file.write_text(text)
    file.chmod(0o600)
    return file


def found(environment: dict[str, str], file: Path | None = None) -> list[Finding]:
    return gather_server(environment, file=file).findings


def test_defaults_are_a_lake_in_a_folder_on_this_machine_alone(tmp_path: Path) -> None:
    settings = gather_server(ENOUGH).accepted()

    assert settings.kv_url == f"sqlite://{tmp_path}/lake/kv.db"
    assert settings.namespace_prefixes == (f"local://{tmp_path}/lake/objects",)
    assert settings.listen.is_loopback


def test_a_file_is_read_by_its_keys(tmp_path: Path) -> None:
    file = written(
        tmp_path, "kv: memory://\nlimits: {json_body: 1MiB}\ntrusted_proxies: [10.0.0.1]\n"
    )
    settings = gather_server(ENOUGH, file=file).accepted()

    assert (settings.kv_url, settings.limits.json_body) == ("memory://", 1 << 20)
    assert "10.0.0.1" in settings.trusted_proxies[0]


def test_arguments_win_over_variables_and_these_over_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, "workers: 2\nthreads: 2\ndrain_seconds: 2\n")
    environment = {**ENOUGH, "LOCHAN_WORKERS": "3", "LOCHAN_THREADS": "3"}
    settings = gather_server(environment, {"workers": 4, "kv": None}, file=file).accepted()

    assert (settings.workers, settings.threads, settings.drain_seconds) == (4, 3, 2.0)


def test_variables_hold_numbers_truths_and_lists() -> None:
    environment = {
        **ENOUGH,
        "LOCHAN_QUICKSTART": "true",
        "LOCHAN_LIMITS_REQUESTS_PER_SECOND": "2.5",
        "LOCHAN_BLOCKSTORE_READABLE_FOLDERS": "/data, /more",
    }
    settings = gather_server(environment).accepted()

    assert settings.quickstart is True
    assert settings.limits.requests_per_second == 2.5
    assert settings.blockstore.readable_folders == (Path("/data"), Path("/more"))


def test_the_file_is_named_by_argument_or_variable_or_lies_here(tmp_path: Path) -> None:
    written(tmp_path, "workers: 2\n")
    other = tmp_path / "other.yaml"
    other.write_text("workers: 3\n")

    assert gather_server(ENOUGH).settings.workers == 2
    assert gather_server({**ENOUGH, "LOCHAN_CONFIG": str(other)}).settings.workers == 3


def test_an_unknown_key_is_refused_with_its_path_and_its_neighbours(tmp_path: Path) -> None:
    (finding,) = found(ENOUGH, file=written(tmp_path, "auth: {encrypt: {secret_kee: x}}\n"))

    assert finding.key == "auth.encrypt.secret_kee"
    assert str(finding).endswith(
        "lochan.yaml: auth.encrypt.secret_kee: there is no such key; did you mean"
        " auth.encrypt.secret_key or auth.encrypt.secret_key_file?"
    )


def test_an_unknown_variable_is_refused_with_its_neighbours() -> None:
    (finding,) = found({**ENOUGH, "LOCHAN_LISTN": "127.0.0.1:1"})

    assert "did you mean LOCHAN_LISTEN" in finding.remedy


def test_variables_of_others_are_let_be() -> None:
    others = ("LOCHAN_SERVICE_HOST", "LOCHAN_PORT_8000_TCP_ADDR", "LOCHAN_KERNEL", "PATH")
    client = ("LOCHAN_SERVER_ENDPOINT_URL", "LOCHAN_CREDENTIALS_SECRET_ACCESS_KEY")

    assert found({**ENOUGH, **dict.fromkeys((*others, *client), "x")}) == []


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("WORKERS", "0", "a whole number, 1 or more"),
        ("WORKERS", "two", "a whole number, 1 or more"),
        ("LISTEN", "8000", "host:port"),
        ("LOGGING_LEVEL", "loud", "one of debug, info, warning, error"),
        ("DRAIN_SECONDS", "nan", "more than 0"),
        ("LIMITS_UPLOAD", "much", "a size"),
        ("QUICKSTART", "perhaps", "true or false"),
        ("TRUSTED_PROXIES", "10.0.0.0/8,me", "an IP network"),
        ("KV", "kv.db", "a url"),
    ],
)
def test_a_value_of_the_wrong_type_says_what_to_write(name: str, value: str, remedy: str) -> None:
    (finding,) = found({**ENOUGH, f"LOCHAN_{name}": value})

    assert finding.where == f"LOCHAN_{name}"
    assert remedy in finding.remedy


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("workers: '2'\nlisten: [1]\n", "host:port"),
        ("auth: yes\n", "holds further keys"),
        ("- a\n- b\n", "holds no keys"),
        ("a: b: c\n", "no YAML at line 1"),
        ("trusted_proxies: 7\n", "expected a list"),
        ("auth: {encrypt: {secret_key: 12345}}\n", "in quotes"),
    ],
)
def test_a_file_that_cannot_be_understood_is_refused(
    tmp_path: Path, text: str, problem: str
) -> None:
    environment = {} if "secret_key" in text else ENOUGH
    (finding,) = found(environment, file=written(tmp_path, text))

    assert problem in finding.problem


def test_a_file_that_was_named_must_be_there(tmp_path: Path) -> None:
    assert "cannot be read" in found(ENOUGH, file=tmp_path / "none.yaml")[0].problem


def test_an_empty_file_and_empty_keys_say_nothing(tmp_path: Path) -> None:
    assert found(ENOUGH, file=written(tmp_path, "")) == []
    assert found(ENOUGH, file=written(tmp_path, "kv:\nauth:\n")) == []


@pytest.mark.parametrize("environment", [{}, {KEY: "short"}])
def test_rel_S27_no_server_starts_without_a_long_secret(environment: dict[str, str]) -> None:
    (finding,) = found(environment)

    assert finding.key == "auth.encrypt.secret_key"
    assert "32 random bytes" in finding.remedy
    assert "short" not in finding.remedy


def test_rel_S27_a_secret_may_lie_in_a_file_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(f"{SECRET}\n")
    settings = gather_server({f"{KEY}_FILE": str(file)}).accepted()

    assert settings.auth.encrypt.secret_key.reveal() == SECRET


def test_a_secret_is_given_in_one_way_and_its_file_must_be_there(tmp_path: Path) -> None:
    (twice,) = found({KEY: SECRET, f"{KEY}_FILE": "x"})
    (missing,) = found({f"{KEY}_FILE": str(tmp_path / "none")})

    assert twice.remedy == "write one of the two"
    assert missing.problem == "No such file or directory"


def test_rel_S28_quickstart_is_for_this_machine_alone() -> None:
    (finding,) = found({**ENOUGH, "LOCHAN_QUICKSTART": "1", "LOCHAN_LISTEN": "0.0.0.0:8000"})

    assert finding.key == "listen"


@pytest.mark.parametrize(
    ("environment", "key"),
    [
        ({"METRICS_LISTEN": "127.0.0.1:8000"}, "metrics.listen"),
        ({"WEBHDFS_LISTEN": "127.0.0.1:8000"}, "webhdfs.listen"),
        ({"WEBHDFS_LISTEN": ":8000"}, "webhdfs.listen"),
        ({"WEBHDFS_LISTEN": "127.0.0.1:0"}, "webhdfs.listen"),
        ({"WEBHDFS_LISTEN": ":9", "METRICS_LISTEN": ":9"}, "webhdfs.listen"),
        ({"WEBHDFS_LISTEN": ":9", "QUICKSTART": "true"}, "webhdfs.listen"),
        ({"WEBHDFS_LISTEN": ":9", "PUBLIC_URL": "https://lake.example"}, "webhdfs.listen"),
        ({"KV": "memory://", "WORKERS": "2"}, "workers"),
        ({"LIMITS_JSON_BODY": "0"}, "limits.json_body"),
        (
            {"BLOCKSTORE_ALLOWED_NAMESPACE_PREFIXES": "bucket"},
            "blockstore.allowed_namespace_prefixes",
        ),
        ({"BLOCKSTORE_READABLE_FOLDERS": "data"}, "blockstore.readable_folders"),
        ({"BLOCKSTORE_SIGNING_SECRET_KEY": "short"}, "blockstore.signing.secret_key"),
    ],
)
def test_settings_that_do_not_go_together_are_found(environment: dict[str, str], key: str) -> None:
    (finding,) = found({**ENOUGH, **{f"LOCHAN_{name}": v for name, v in environment.items()}})

    assert finding.key == key


def test_both_files_of_tls_are_needed_and_must_be_there(tmp_path: Path) -> None:
    findings = found({**ENOUGH, "LOCHAN_TLS_CERT_FILE": str(tmp_path / "none.pem")})

    assert {finding.key for finding in findings} == {"tls.cert_file", "tls.key_file"}


def test_a_file_with_secrets_that_others_can_read_is_a_warning(tmp_path: Path) -> None:
    file = written(tmp_path, f"auth: {{encrypt: {{secret_key: {SECRET}}}}}\n")
    file.chmod(0o644)
    gathered = gather_server({}, file=file)

    assert [finding.severity for finding in gathered.findings] == ["warning"]
    assert gathered.accepted().auth.encrypt.secret_key.reveal() == SECRET


def test_a_bad_setting_is_one_line_with_key_and_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCHAN_WORKERS", "0")
    with pytest.raises(InvalidInput, match=r"^LOCHAN_WORKERS: .*; write .* \(and 1 more") as caught:
        server_settings()

    assert caught.value.code == "invalid-config"
    assert caught.value.facts["keys"] == ["workers", "auth.encrypt.secret_key"]
    assert len(check_server()) == 2


def test_rel_S27_settings_are_shown_without_their_secrets() -> None:
    environment = {**ENOUGH, "LOCHAN_KV": f"postgres://me:{SECRET}@host/db"}
    settings = gather_server(environment).accepted()
    shown = show.effective(settings)

    assert SECRET not in f"{shown}{settings}{settings!r}"
    assert "kv: postgres://me:********@host/db" in shown
    assert "secret_key: '********'" in shown


def test_a_key_for_addresses_follows_from_the_secret_unless_it_is_given() -> None:
    signing = {"LOCHAN_BLOCKSTORE_SIGNING_SECRET_KEY": SECRET[::-1]}
    derived, own = gather_server(ENOUGH).settings, gather_server({**ENOUGH, **signing}).settings

    assert derived.signing_key != own.signing_key
    assert SECRET.encode() not in derived.signing_key


def test_every_setting_has_a_variable_of_its_own() -> None:
    names = [leaf.variable for kind in (Settings, ClientSettings) for leaf in leaves(kind)]

    assert len(names) == len(set(names))


@pytest.mark.parametrize("kind", [Settings, ClientSettings])
def test_the_page_lists_every_setting(kind: type[Settings | ClientSettings]) -> None:
    page = Path(__file__).parents[3] / "docs" / "configuration.md"

    assert show.table(kind) in page.read_text(), show.table(kind)
    assert all(leaf.meaning for leaf in leaves(kind))
