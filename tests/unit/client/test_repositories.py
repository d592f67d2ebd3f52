# SPDX-License-Identifier: Apache-2.0
"""Repositories, branches, tags and commits as Python objects, over both ways."""

from pathlib import Path

import pytest

from lochan.client import Branch, Lake, Repository
from lochan.client.transport import API
from lochan.errors import (
    AlreadyExists,
    Conflict,
    InvalidInput,
    NotFound,
    Refused,
    RepositoryNotFound,
)
from lochan.shapes.access import Statement
from lochan.shapes.retention import GarbageCollectionRules


def test_the_first_five_minutes(repository: Repository) -> None:
    fix = repository.branch("fix").create("main")
    fix.upload("a", b"1")
    assert [(row.type, row.path) for row in fix.uncommitted()] == [("added", "a")]
    made = fix.commit("add a", {"why": "test"})
    assert [row.path for row in repository.branch("main").diff(fix)] == ["a"]
    merged = fix.merge_into("main", message="bring a")

    head = repository.branch("main").head
    assert (head.id, head.message) == (merged, "bring a")
    assert made.id in head.parents
    assert [one.message for one in repository.ref("main").log(max_amount=2)] == ["bring a", "add a"]
    assert repository.commit(made).metadata["why"] == "test"
    assert repository.ref(made).object("a").read() == b"1"


def test_names_are_taken_once(lake: Lake, repository: Repository) -> None:
    with pytest.raises(AlreadyExists):
        lake.repository(repository.id).create()
    lake.repository(repository.id).create(exist_ok=True)
    repository.branch("b").create("main")
    with pytest.raises(AlreadyExists):
        repository.branch("b").create("main")
    repository.branch("b").create("main", exist_ok=True)
    repository.tag("t").create("main")
    with pytest.raises(AlreadyExists):
        repository.tag("t").create("main")

    assert [branch.id for branch in repository.branches()] == ["b", "main"]
    assert [tag.id for tag in repository.tags()] == ["t"]
    assert repository.id in [one.id for one in lake.repositories(prefix=repository.id)]


def test_what_is_deleted_is_gone(lake: Lake, repository: Repository) -> None:
    repository.branch("b").create("main").delete()
    repository.tag("t").create("main").delete()
    assert [one.id for one in (*repository.branches(), *repository.tags())] == ["main"]
    repository.delete()

    with pytest.raises(RepositoryNotFound):
        lake.repository("never-made").properties  # noqa: B018 - the question is what is tested


def test_errors_are_those_of_the_lake(repository: Repository) -> None:
    with pytest.raises(NotFound, match="nope"):
        repository.branch("nope").head  # noqa: B018 - the question is what is tested
    with pytest.raises(InvalidInput):
        repository.branch("main").commit("nothing is staged")
    with pytest.raises(Refused):
        repository.branch("main").delete()


def test_conflicts_are_told_and_strategies_decide(repository: Repository) -> None:
    main = repository.branch("main")
    other = repository.branch("other").create("main")
    for branch, data in ((main, b"1"), (other, b"2")):
        branch.upload("same", data)
        branch.commit("write")

    with pytest.raises(Conflict):
        other.merge_into(main)
    other.merge_into(main, strategy="source-wins", squash=True)
    assert main.object("same").read() == b"2"
    assert main.merge_base(other).base_commit_id


def test_changes_are_undone_repeated_and_dropped(main: Branch, repository: Repository) -> None:
    main.upload("a", b"1")
    first = main.commit("one")
    main.upload("a", b"2")
    second = main.commit("two")
    assert main.revert(second).message
    assert main.object("a").read() == b"1"
    other = repository.branch("other").create(first)
    assert other.cherry_pick(second).id == other.head.id
    main.upload("b", b"")
    main.reset_changes("b", path_type="object")
    assert list(main.uncommitted()) == []
    main.reset_to(first)

    assert main.head == first


def test_a_transaction_is_one_commit(main: Branch, repository: Repository) -> None:
    before = main.head
    with main.transact("load", {"day": "4"}) as tx:
        tx.upload("a", b"1")
        tx.upload("b", b"2")
        assert list(main.objects()) == []

    assert [(one.message, list(one.parents)) for one in main.log(max_amount=1)] == [
        ("load", [before.id])
    ]
    assert main.head.metadata["day"] == "4"
    assert [branch.id for branch in repository.branches(show_hidden=True)] == ["main"]


def test_a_transaction_that_fails_leaves_nothing(main: Branch, repository: Repository) -> None:
    before = main.head

    def fail() -> None:
        with main.transact("load") as tx:
            tx.upload("a", b"1")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert main.head == before
    assert [branch.id for branch in repository.branches(show_hidden=True)] == ["main"]


def test_a_transaction_that_meets_a_conflict_leaves_nothing(
    main: Branch, repository: Repository
) -> None:
    def clash() -> None:
        with main.transact("load") as tx:
            tx.upload("a", b"1")
            main.upload("a", b"2")
            main.commit("first")

    with pytest.raises(Conflict):
        clash()
    assert main.object("a").read() == b"2"
    assert [branch.id for branch in repository.branches(show_hidden=True)] == ["main"]


def test_a_transaction_without_changes_makes_no_commit(inside: Branch) -> None:
    before = inside.head
    with inside.transact("nothing"):
        pass

    assert inside.head == before


def test_files_of_this_machine_are_imported_where_they_lie(inside: Branch, tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.csv").write_bytes(b"x" * number)
    told: list[int] = []
    made = inside.import_data("bring").prefix(f"file://{tmp_path}/", "raw/").run(told.append)

    assert made.message == "bring"
    assert [(row.path, row.size_bytes) for row in inside.objects()] == [
        (f"raw/{number}.csv", number) for number in range(3)
    ]
    assert inside.object("raw/2.csv").read() == b"xx"
    assert told[-1] == 3


def test_refs_go_to_files_and_come_back(lake: Lake, repository: Repository, main: Branch) -> None:
    main.upload("a", b"1")
    head = main.commit("one")
    repository.tag("t").create(head)
    dump = repository.settings.dump_refs()
    place = repository.properties.storage_namespace
    repository.delete()
    Path(place.removeprefix("local://"), "_lakefs", "dummy").unlink()  # as its refusal says
    back = lake.repository(f"{repository.id}-back").create(place, bare=True)
    back.settings.restore_refs(dump)

    assert back.branch("main").head == back.tag("t").get_commit() == head
    assert back.branch("main").object("a").read() == b"1"


def test_refs_come_back_into_a_bare_repository_only(repository: Repository) -> None:
    dump = repository.settings.dump_refs()

    with pytest.raises(Conflict, match="restore into a bare one"):
        repository.settings.restore_refs(dump)


def test_settings_of_a_repository(repository: Repository) -> None:
    settings = repository.settings
    settings.set_metadata({"team": "a", "cost": "b"})
    settings.delete_metadata(["cost"])
    settings.protect_branches(["rel-*"])
    assert settings.find_retention() is None
    rules = GarbageCollectionRules(default_retention_days=7, branches=[])
    settings.set_retention(rules)

    assert settings.metadata() == {"team": "a"}
    assert settings.protected_branches() == ["rel-*"]
    assert settings.find_retention() == rules
    settings.delete_retention()
    assert settings.find_retention() is None


def test_the_verbs_of_2016(repository: Repository) -> None:
    pfs = repository.pfs
    opened = pfs.start_commit("logs")
    pfs.put_file(opened.id, "a/log", b"one\n")
    pfs.put_file(opened.id, "a/log", b"two\n")
    first = pfs.finish_commit(opened.id, message="m")
    opened = pfs.start_commit(parent=first.id)
    pfs.put_file(opened.id, "a/log", b"three\n")
    second = pfs.finish_commit(opened.id)

    assert pfs.get_file("a/log", second.id) == b"one\ntwo\nthree\n"
    assert pfs.get_file("a/log", second.id, since=first.id) == b"three\n"
    assert [one.path for one in pfs.list_file(second.id, "a")] == ["a/log"]
    assert pfs.inspect_file("a", second.id).kind == "directory"
    assert second.id in [one.id for one in pfs.list_commit("logs")]
    assert [one.id for one in pfs.history(second.id, since=first.id)] == [second.id]
    assert pfs.kinship(first.id, second.id).one_is_ancestor
    assert pfs.clocks(second.id).ID.startswith(f"{repository.id}/logs/")


def test_users_groups_and_policies(lake: Lake, repository: Repository) -> None:
    name = repository.id  # a name that no other test uses
    resource = f"arn:lakefs:fs:::repository/{name}"
    statement = Statement(effect="allow", action=["fs:ReadRepository"], resource=resource)
    lake.users.create(name)
    lake.groups.create(name, "readers")
    lake.policies.create(name, [statement])
    lake.groups.attach_policy(name, name)
    lake.groups.add_member(name, name)
    key = lake.users.create_credentials(name)

    assert [one.id for one in lake.users.groups(name)] == [name]
    assert [one.id for one in lake.users.policies(name, effective=True)] == [name]
    assert [one.access_key_id for one in lake.users.credentials(name)] == [key.access_key_id]
    lake.users.delete(name)
    assert list(lake.groups.members(name)) == []


def test_addresses_are_taken_with_either_scheme(lake: Lake, main: Branch) -> None:
    main.upload("a/b", b"1")
    for scheme in ("lochan", "lakefs"):
        uri = f"{scheme}://{main.repository_id}/main/a/b"
        assert lake.object(uri).read() == b"1"
        assert [row.path for row in lake.ref(uri.removesuffix("/a/b")).objects()] == ["a/b"]
    with pytest.raises(InvalidInput, match="another server"):
        lake.object(f"lochan://elsewhere:1/{main.repository_id}/main/a/b")
    with pytest.raises(InvalidInput):
        lake.object(f"lochan://{main.repository_id}/main")


def test_notebooks_show_text_and_never_markup(inside: Branch) -> None:
    evil = "<script>alert(1)</script>"
    inside.upload(f"x{evil}", b"", metadata={"k": evil})
    inside.commit(evil, {"m": evil})
    shown = (inside, inside.head, inside.object(f"x{evil}"))

    for one in shown:
        text = one._repr_html_()
        assert "<script" not in text
        assert "&lt;script" in text
    assert repr(inside) == f"<Branch lochan://{inside.repository_id}/main>"
    assert repr(inside.head).startswith("<Commit ")


def test_lakes_and_repositories_show_themselves(lake: Lake, repository: Repository) -> None:
    assert repository.id in repository._repr_html_()
    assert "<table>" in lake._repr_html_()
    assert lake.user.id
    assert lake.config.version_config.version


@pytest.mark.parametrize("text", ["\udcff", "caf\udce9"])
def test_what_is_not_utf_8_is_wrong_input_wherever_it_is_said(
    repository: Repository, text: str
) -> None:
    branch = repository.branch("main")
    branch.upload("a", b"1")
    for say in (
        lambda: branch.commit(text),
        lambda: branch.commit("m", metadata={text: text}),
        lambda: repository.tag(text).create("main"),
        lambda: repository.branch("dev").create(text),
        lambda: branch.upload("b", b"1", metadata={"k": text}),
        lambda: branch.upload("b", b"1", content_type=text),
        lambda: repository.pfs.finish_commit(text),
        lambda: repository.pfs.put_file(text, "f", b"1"),
        lambda: branch.upload("b", text),
        lambda: repository.pfs.inspect_commit(text),
    ):
        with pytest.raises(InvalidInput, match="UTF-8"):
            say()


def test_a_path_that_is_not_utf_8_is_a_bad_request(lake: Lake) -> None:
    http = lake.transport._http  # no name that the client takes makes such a path
    answer = http.get(f"{API}/repositories/%FF")
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid-address")
