# SPDX-License-Identifier: Apache-2.0
"""Commits, logs, diffs, merges and who changed what, by commands."""

import pytest

from lochan.cli.blame import blame
from lochan.cli.graph import Graph
from lochan.client.branch import Branch
from support.lake_commands import LakeCommands


@pytest.fixture
def forked(lochan: LakeCommands) -> LakeCommands:
    """Give main and fix, which both changed a since they parted, and each something alone."""
    with lochan.opened() as lake:
        repository = lake.repository("my-lake")
        main, fix = repository.branch("main"), repository.branch("fix")
        _commit(main, {"a": "1", "b/1": "1"})
        fix.create("main")
        _commit(main, {"a": "main", "m": "1"})
        _commit(fix, {"a": "fix", "b/2": "22"})
    return lochan


def _commit(branch: Branch, files: dict[str, str]) -> None:
    for path, content in files.items():
        branch.upload(path, content)
    branch.commit(f"{branch.id}: {' '.join(files)}\n\nat length")


def test_a_commit_has_message_metadata_and_date(lochan: LakeCommands) -> None:
    lochan.put("my-lake/main/a", "1")
    args = ("-m", "load", "--meta", "source=crm", "--date", "2024-02-29T12:00:00")
    made = lochan.json("commit", "my-lake/main", *args)
    assert (made["message"], made["metadata"]) == ("load", {"source": "crm"})
    assert made["creation_date"] % 60 == 0

    lochan("commit", "my-lake/main", "-m", "nothing", code=2)
    said = lochan("commit", "my-lake/main", "-m", "nothing", "--allow-empty").out
    assert said.startswith("committed ")
    assert "message" in lochan("commit", "my-lake/main", code=2).err


def test_the_log_is_a_table_lines_or_a_drawing(forked: LakeCommands) -> None:
    table = forked("log", "my-lake/main").lines
    assert table[0].split() == ["COMMIT", "DATE", "AUTHOR", "MESSAGE"]
    assert [line.rpartition("  ")[2] for line in table[1:]] == [
        "main: a m",
        "main: a b/1",
        "Repository created",
    ]
    lines = forked("log", "my-lake/fix", "--oneline", "--limit", "2").lines
    assert [line[13:] for line in lines] == ["fix: a b/2", "main: a b/1"]

    found = forked.json("log", "my-lake/main", "--prefix", "b/")
    assert [one["message"].split("\n")[0] for one in found] == ["main: a b/1"]
    assert len(forked.json("log", "my-lake/main", "--object", "m")) == 1
    assert forked.json("log", "my-lake/main", "--since", "2999-01-01") == []


def test_a_merge_is_drawn_and_its_first_parent_followed(forked: LakeCommands) -> None:
    forked("merge", "my-lake/fix", "main", "--strategy", "source-wins", "-m", "both")

    drawn = [line[: line.find(" ", 3)] if "*" in line else line for line in
             forked("log", "my-lake/main", "--graph").lines]  # fmt: skip
    assert drawn[1] == "|\\"
    assert "|/" in drawn
    messages = forked("log", "my-lake/main", "--first-parent", "--oneline").lines
    assert [line[13:] for line in messages][:2] == ["both", "main: a m"]


def test_lines_of_history_part_and_join_in_a_drawing() -> None:
    graph, drawn = Graph(), []
    history = {"m": "ab", "b": "r", "a": "r", "r": ""}
    for commit, parents in history.items():
        before, line, behind = graph.add(commit, list(parents))
        drawn += [*before, f"{line} {commit}", *behind]

    assert drawn == ["* m", "|\\", "| * b", "* | a", "|/", "* r"]


def test_show_gives_a_commit_and_its_changes(forked: LakeCommands) -> None:
    shown = forked("show", "my-lake/fix").lines
    assert shown[0].startswith("commit ")
    assert "    at length" in shown
    assert shown[-3:] == ["~ a  (3 B)", "+ b/2  (2 B)", "1 added (2 B), 1 changed (3 B)"]

    found = forked.json("show", "my-lake/fix", "--prefix", "b/")
    assert found["commit"]["message"].startswith("fix: a b/2")
    assert [(one["type"], one["path"]) for one in found["changes"]] == [("added", "b/2")]
    assert "it changed no objects" in forked("show", "my-lake/main~2").out


def test_a_diff_is_of_two_refs_or_of_what_is_not_committed(forked: LakeCommands) -> None:
    since = {one["path"]: one["type"] for one in forked.json("diff", "my-lake/main", "fix")}
    assert since == {"a": "conflict", "b/2": "added"}
    both = forked("diff", "my-lake/main", "lochan://my-lake/fix", "--two-dot").lines
    assert both == [
        "~ a  (3 B)",
        "+ b/2  (2 B)",
        "- m  (1 B)",
        "1 added (2 B), 1 removed (1 B), 1 changed (3 B)",
    ]
    assert forked("diff", "my-lake/main", "fix", "--directories").lines[1] == "~ b/"

    assert forked("diff", "my-lake/main").out == "no differences\n"
    forked.put("my-lake/main/new", "x")
    assert forked("diff", "my-lake/main").lines == ["+ new  (1 B)", "1 added (1 B)"]
    forked("diff", "my-lake/main", "--two-dot", code=2)


def test_a_merge_in_conflict_lists_what_and_ends_with_4(forked: LakeCommands) -> None:
    before = forked.json("branch", "show", "my-lake/main")

    ran = forked("merge", "my-lake/fix", "main", code=4)
    assert [line.split() for line in ran.lines] == [
        ["CONFLICT", "SIZE", "IN", "FIX"],
        ["a", "3", "B"],
    ]
    assert "conflict" in ran.err
    assert [one["path"] for one in forked.json("merge", "my-lake/fix", "main", code=4)] == ["a"]
    assert forked.json("branch", "show", "my-lake/main") == before


def test_a_strategy_decides_conflicts_and_squash_leaves_history_out(forked: LakeCommands) -> None:
    args = ("merge", "my-lake/fix", "main", "--squash", "--meta", "a=b", "-m", "taken")
    made = forked.json(*args, "--strategy", "dest-wins")

    assert (len(made["parents"]), made["message"]) == (1, "taken")
    assert forked("fs", "cat", "my-lake/main/a").out == "main"
    forked(*args, "--strategy", "nobody", code=2)


def test_commits_are_undone_and_picked(forked: LakeCommands) -> None:
    said = forked("revert", "my-lake/main", "main", "--yes").out
    assert said.startswith("reverted by ")
    assert forked("fs", "cat", "my-lake/main/a").out == "1"

    picked = forked.json("cherry-pick", "lochan://my-lake/fix", "my-lake/main", "-m", "mine")
    assert picked["message"] == "mine"
    assert forked("fs", "cat", "my-lake/main/b/2").out == "22"


def test_merge_base_is_where_two_refs_parted(forked: LakeCommands) -> None:
    assert forked.json("merge-base", "my-lake/fix", "main")["message"].startswith("main: a b/1")


def test_annotate_names_the_commit_behind_a_merge(forked: LakeCommands) -> None:
    forked("merge", "my-lake/fix", "main", "--strategy", "source-wins", "-m", "both")

    def annotated(*args: str) -> dict[str, str]:
        found = forked.json("annotate", *args)
        return {one["path"]: one["commit"]["message"].split("\n")[0] for one in found}

    assert annotated("my-lake/main") == {
        "a": "fix: a b/2",
        "b/1": "main: a b/1",
        "b/2": "fix: a b/2",
        "m": "main: a m",
    }
    assert annotated("my-lake/main", "--first-parent")["a"] == "both"
    table = forked("annotate", "my-lake/main/b/").lines
    assert [line.split()[0] for line in table] == ["PATH", "b/1", "b/2"]
    forked("annotate", "my-lake/main/nothing/", code=3)


def test_annotate_looks_no_further_back_than_it_must(lochan: LakeCommands) -> None:
    with lochan.opened() as lake:
        repository = lake.repository("my-lake")
        main = repository.branch("main")
        for number in range(12):
            main.upload(f"p/{number % 3}", str(number))
            main.commit(f"{number}")
        told: list[tuple[int, int | None]] = []
        found = blame(repository, main, "p/", progress=lambda *at: told.append(at))

    assert {one.path: one.commit.message for one in found} == {"p/0": "9", "p/1": "10", "p/2": "11"}
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_words_that_are_not_utf_8_are_wrong_input(lochan: LakeCommands) -> None:
    lochan.put("lochan://my-lake/main/a", "1")
    for words in (
        ("commit", "lochan://my-lake/main", "-m", "\udcff"),
        ("tag", "create", "lochan://my-lake/\udcff", "main"),
        ("commit", "lochan://my-lake/main", "-m", "\udcff", "--json"),
    ):
        ran = lochan(*words, code=2)
        assert "bug" not in ran.err
