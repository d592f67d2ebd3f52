# SPDX-License-Identifier: Apache-2.0
"""lakeFS's Python package, unchanged: repositories, branches, commits, merges, diffs, tags, log."""

from contextlib import suppress

import lakefs
import pytest
from lakefs.client import Client
from lakefs.exceptions import (
    BadRequestException,
    ConflictException,
    ForbiddenException,
    NotAuthorizedException,
    NotFoundException,
)

from support.server import KEY_ID, Server


def put(branch: lakefs.Branch, path: str, data: bytes) -> str:
    """Put an object and commit it."""
    branch.object(path).upload(data)
    return str(branch.commit(f"{path} is {data.decode()}").id)


def changes(found: object) -> list[tuple[str, str]]:
    return [(change.type, change.path) for change in found]  # type: ignore[attr-defined] # no types


def test_the_client_knows_whom_and_what_it_speaks_to(client: Client, server: Server) -> None:
    assert client.version
    assert client.storage_config.blockstore_type == "local"
    assert client.storage_config.pre_sign_support
    assert client.config.host == f"{server.url}/api/v1"


def test_a_wrong_key_is_not_let_in(server: Server) -> None:
    stranger = Client(host=server.url, username=KEY_ID, password="wrong")
    with pytest.raises(NotAuthorizedException):
        list(lakefs.repositories(client=stranger))


def test_repositories_are_made_listed_and_deleted(client: Client, server: Server) -> None:
    namespace = f"local://{server.lake}/objects/made"
    made = lakefs.Repository("made", client=client).create(namespace, default_branch="trunk")
    assert (made.properties.default_branch, made.properties.id) == ("trunk", "made")
    assert made.properties.storage_namespace == namespace
    assert "made" in [one.id for one in lakefs.repositories(client=client, prefix="ma")]
    with pytest.raises(ConflictException):
        made.create(namespace)
    assert made.create(namespace, exist_ok=True).id == "made"
    made.delete()
    with pytest.raises(NotFoundException):
        list(made.branches())


def test_two_repositories_do_not_share_a_namespace(client: Client, repo: lakefs.Repository) -> None:
    other = lakefs.Repository("other", client=client)
    with pytest.raises(BadRequestException, match="namespace"):
        other.create(repo.properties.storage_namespace)


def test_branches_are_made_listed_in_pages_and_deleted(repo: lakefs.Repository) -> None:
    for number in range(5):
        repo.branch(f"b{number}").create("main")
    assert [one.id for one in repo.branches(prefix="b", max_amount=2)] == ["b0", "b1"]
    assert [one.id for one in repo.branches(after="b2")] == ["b3", "b4", "main"]
    with pytest.raises(ConflictException):
        repo.branch("b1").create("main")
    repo.branch("b1").create("main", exist_ok=True)
    repo.branch("b1").delete()
    with pytest.raises(NotFoundException):
        repo.branch("b1").head  # noqa: B018 - asks the server


def test_a_commit_says_what_it_is(main: lakefs.Branch) -> None:
    main.object("c.txt").upload(b"c")
    assert changes(main.uncommitted()) == [("added", "c.txt")]
    made = main.commit("third", metadata={"source": "test"}).get_commit()
    assert (made.message, made.metadata, made.committer) == ("third", {"source": "test"}, "admin")
    assert made.parents == [next(iter(main.log(max_amount=2, first_parent=True))).parents[0]]
    assert (main.head.id, list(main.uncommitted())) == (made.id, [])


def test_a_commit_of_nothing_is_refused(main: lakefs.Branch) -> None:
    with pytest.raises(BadRequestException, match="nothing to commit"):
        main.commit("nothing")
    assert main.commit("nothing", allow_empty=True).get_commit().message == "nothing"


def test_log_walks_back_and_can_be_limited(main: lakefs.Branch) -> None:
    for number in range(4):
        put(main, "a/one.txt", str(number).encode())
    messages = [one.message for one in main.log()]
    assert messages[:2] == ["a/one.txt is 3", "a/one.txt is 2"]
    assert messages[-1] == "Repository created"
    assert [one.message for one in main.log(max_amount=1)] == messages[:1]
    assert [one.message for one in main.log(objects=["b/two.txt"])] == ["the first two"]


def test_diffs_of_two_branches(repo: lakefs.Repository, main: lakefs.Branch) -> None:
    fix = repo.branch("fix").create(main)
    put(fix, "a/one.txt", b"ONE")
    fix.object("b/two.txt").delete()
    put(fix, "c.txt", b"c")
    expected = [("changed", "a/one.txt"), ("removed", "b/two.txt"), ("added", "c.txt")]
    assert changes(main.diff(fix)) == expected
    assert changes(main.diff(fix, prefix="a/")) == expected[:1]
    assert changes(main.diff(fix, delimiter="/")) == [
        ("prefix_changed", "a/"),
        ("prefix_changed", "b/"),
        ("added", "c.txt"),
    ]
    assert changes(fix.diff(main)) == []
    assert len(changes(fix.diff(main, type="two_dot"))) == 3


def test_a_merge_brings_a_branch_s_changes(repo: lakefs.Repository, main: lakefs.Branch) -> None:
    fix = repo.branch("fix").create(main)
    put(fix, "c.txt", b"c")
    put(main, "d.txt", b"d")
    merged = fix.merge_into(main, message="bring it", metadata={"k": "v"})
    head = main.get_commit()
    assert (head.id, head.message, head.metadata["k"]) == (merged, "bring it", "v")
    assert len(head.parents) == 2
    assert [one.path for one in main.objects()] == ["a/one.txt", "b/two.txt", "c.txt", "d.txt"]
    with pytest.raises(BadRequestException):
        fix.merge_into(main)


def test_a_conflict_is_told_and_a_strategy_decides(
    repo: lakefs.Repository, main: lakefs.Branch
) -> None:
    fix = repo.branch("fix").create(main)
    put(fix, "a/one.txt", b"theirs")
    put(main, "a/one.txt", b"ours")
    with pytest.raises(ConflictException):
        fix.merge_into(main)
    assert main.object("a/one.txt").reader("rb").read() == b"ours"
    assert changes(main.diff(fix)) == [("conflict", "a/one.txt")]
    fix.merge_into(main, strategy="source-wins")
    assert main.object("a/one.txt").reader("rb").read() == b"theirs"


def test_a_dirty_destination_takes_no_merge(repo: lakefs.Repository, main: lakefs.Branch) -> None:
    fix = repo.branch("fix").create(main)
    put(fix, "c.txt", b"c")
    main.object("d.txt").upload(b"d")
    with pytest.raises(BadRequestException, match="uncommitted"):
        fix.merge_into(main)


def test_tags_name_commits_and_move_only_by_being_made_again(
    repo: lakefs.Repository, main: lakefs.Branch
) -> None:
    tag = repo.tag("v1").create(main)
    put(main, "c.txt", b"c")
    assert [one.path for one in tag.objects()] == ["a/one.txt", "b/two.txt"]
    with pytest.raises(ConflictException):
        repo.tag("v1").create(main)
    assert repo.tag("v1").create(main, exist_ok=True).get_commit() == tag.get_commit()
    assert [one.id for one in repo.tags()] == ["v1"]
    tag.delete()
    assert list(repo.tags()) == []


def test_ref_expressions_name_commits(repo: lakefs.Repository, main: lakefs.Branch) -> None:
    before = main.head.id
    put(main, "a/one.txt", b"2")
    assert repo.ref("main~1").get_commit().id == before
    assert repo.ref("main^").object("a/one.txt").reader("rb").read() == b"one"
    main.object("a/one.txt").upload(b"3")
    assert repo.ref("main@").object("a/one.txt").reader("rb").read() == b"2"
    assert repo.commit(before[:12]).get_commit().id == before


def test_revert_takes_a_commit_back(main: lakefs.Branch) -> None:
    wrong = put(main, "a/one.txt", b"wrong")
    made = main.revert(wrong)
    assert main.object("a/one.txt").reader("rb").read() == b"one"
    assert main.head.id == made.id


def test_cherry_pick_brings_one_commit(repo: lakefs.Repository, main: lakefs.Branch) -> None:
    fix = repo.branch("fix").create(main)
    put(fix, "c.txt", b"c")
    wanted = put(fix, "d.txt", b"d")
    main.cherry_pick(wanted)
    assert [one.path for one in main.objects()] == ["a/one.txt", "b/two.txt", "d.txt"]


def test_reset_drops_what_is_staged(main: lakefs.Branch) -> None:
    for path in ("a/one.txt", "a/x.txt", "b/two.txt"):
        main.object(path).upload(b"changed")
    main.reset_changes("object", "a/one.txt")
    assert [path for _, path in changes(main.uncommitted())] == ["a/x.txt", "b/two.txt"]
    main.reset_changes("common_prefix", "a/")
    assert [path for _, path in changes(main.uncommitted())] == ["b/two.txt"]
    main.reset_changes()
    assert list(main.uncommitted()) == []


def test_transactions_come_whole_or_not_at_all(
    repo: lakefs.Repository, main: lakefs.Branch
) -> None:
    with main.transact(commit_message="both", tag="v1") as tx:
        tx.object("c.txt").upload(b"c")
        tx.object("a/one.txt").delete()
        assert [one.path for one in main.objects()] == ["a/one.txt", "b/two.txt"]
    assert [one.path for one in main.objects()] == ["b/two.txt", "c.txt"]
    assert repo.tag("v1").get_commit().id == main.head.id
    with suppress(RuntimeError), main.transact(commit_message="none") as tx:
        tx.object("d.txt").upload(b"d")
        raise RuntimeError
    assert [one.path for one in main.objects()] == ["b/two.txt", "c.txt"]
    assert [one.id for one in repo.branches()] == ["main"]


def test_a_protected_branch_takes_merges_only(
    repo: lakefs.Repository, main: lakefs.Branch, client: Client
) -> None:
    rules = client.sdk_client.repositories_api
    rules.set_branch_protection_rules(repo.id, [{"pattern": "main"}])
    with pytest.raises(ForbiddenException):
        main.object("a/one.txt").upload(b"one", pre_sign=False)
    with pytest.raises(ForbiddenException):
        main.delete()
    fix = repo.branch("fix").create(main)
    put(fix, "c.txt", b"c")
    fix.merge_into(main)
    assert main.object("c.txt").exists()


def test_users_of_lakefs_s_defaults_need_no_arguments(
    server: Server, repository: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKECTL_SERVER_ENDPOINT_URL", server.url)
    monkeypatch.setenv("LAKECTL_CREDENTIALS_ACCESS_KEY_ID", server.auth[0])
    monkeypatch.setenv("LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY", server.auth[1])
    assert [one.id for one in lakefs.repository(repository, client=Client()).branches()] == ["main"]
