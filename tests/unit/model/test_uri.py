# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.errors import InvalidInput
from lochan.model.ids import Ref, RepositoryId
from lochan.model.uri import Uri, parse_uri

READ = [
    ("lochan://repo", "", "repo", "", ""),
    ("lochan://repo/", "", "repo", "", ""),
    ("lochan://repo/main", "", "repo", "main", ""),
    ("lochan://repo/main/", "", "repo", "main", ""),
    ("lochan://repo/main~2/a/b.parquet", "", "repo", "main~2", "a/b.parquet"),
    ("lochan://repo/main/a/", "", "repo", "main", "a/"),
    ("lochan://repo/main//a", "", "repo", "main", "/a"),
    ("lochan://repo/main/a?b#c%20d:80", "", "repo", "main", "a?b#c%20d:80"),
    ("lochan://repo/main/x://y", "", "repo", "main", "x://y"),
    ("lakefs://repo/main/a", "", "repo", "main", "a"),
    ("lochan://localhost:8000/repo/main/a", "localhost:8000", "repo", "main", "a"),
    ("lochan://[::1]:8000/repo", "[::1]:8000", "repo", "", ""),
    ("lochan://10.0.0.1:80/repo/main", "10.0.0.1:80", "repo", "main", ""),
]

REFUSED = [
    ("s3://repo/main", "neither lochan:// nor lakefs://"),
    ("repo/main", "neither lochan:// nor lakefs://"),
    ("lochan:/repo", "neither lochan:// nor lakefs://"),
    ("lochan://", "repository id"),
    ("lochan:///main", "repository id"),
    ("lochan://Repo/main", "repository id"),
    ("lochan://repo//a", "ref between repository and path"),
    ("lochan://repo/my branch/a", "white space"),
    ("lochan://host:8000", "repository id"),
    ("lochan://host:0/repo", "not host:port"),
    ("lochan://host:65536/repo", "not host:port"),
    ("lochan://host:/repo", "not host:port"),
    ("lochan://user:secret@host:80/repo", "not host:port"),
]

REPOSITORIES = st.from_regex(r"[a-z0-9][a-z0-9-]{2,62}", fullmatch=True).map(RepositoryId)
REFS = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_~^@-]{0,9}", fullmatch=True).map(Ref)
URIS = st.builds(
    Uri,
    repository=REPOSITORIES,
    ref=REFS,
    path=st.text(max_size=20),
    server=st.sampled_from(["", "host:1", "a.example:65535", "[::1]:443"]),
    scheme=st.sampled_from(["lochan", "lakefs"]),
)


@pytest.mark.parametrize(("text", "server", "repository", "ref", "path"), READ)
def test_an_address_is_read_into_its_parts(
    text: str, server: str, repository: str, ref: str, path: str
) -> None:
    uri = parse_uri(text)

    assert (uri.server, uri.repository, uri.ref, uri.path) == (server, repository, ref, path)
    assert uri.scheme == text.partition(":")[0]


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_what_is_no_address_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        parse_uri(text)


@given(URIS)
def test_writing_and_reading_give_the_same_address(uri: Uri) -> None:
    assert parse_uri(str(uri)) == uri
