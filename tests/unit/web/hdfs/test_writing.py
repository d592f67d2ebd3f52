# SPDX-License-Identifier: Apache-2.0
"""Files and directories made, renamed and deleted, by the operations of WebHDFS."""

import pytest

from support.hdfs import Hdfs, exception


def test_a_file_is_created_in_two_steps_and_every_client_sees_it(hdfs: Hdfs) -> None:
    begun = hdfs.ask("PUT", "CREATE", "a/b c", overwrite=True, permission=644)
    assert begun.status_code == 307
    assert "/webhdfs/v1/lake/main/a/b%20c?" in begun.headers["location"]
    assert hdfs.keys() == []
    assert hdfs.follow("PUT", begun, b"content").status_code == 201
    assert hdfs.objects.get("a/b c").content == b"content"


def test_a_file_that_is_there_is_replaced_only_if_that_is_said(hdfs: Hdfs) -> None:
    assert hdfs.write("a", b"1").status_code == 201
    assert exception(hdfs.write("a", b"2", overwrite=False)) == (403, "FileAlreadyExistsException")
    assert hdfs.write("a", b"3", overwrite=True).status_code == 201
    assert hdfs.write("a", b"4", createflag="CREATE,OVERWRITE").status_code == 201
    assert hdfs.objects.get("a").content == b"4"


def test_of_two_creators_at_once_one_wins(hdfs: Hdfs) -> None:
    one, other = hdfs.ask("PUT", "CREATE", "a"), hdfs.ask("PUT", "CREATE", "a")
    assert hdfs.follow("PUT", one, b"1").status_code == 201
    assert exception(hdfs.follow("PUT", other, b"2")) == (403, "FileAlreadyExistsException")
    assert hdfs.objects.get("a").content == b"1"


@pytest.mark.parametrize("path", ["a", "", "/lake", "/lake/none/x"])
def test_a_file_goes_to_no_place_that_cannot_hold_it(hdfs: Hdfs, path: str) -> None:
    hdfs.objects.put("a/b")
    refused = hdfs.write(path, overwrite=True)
    assert refused.status_code in {403, 404}
    assert hdfs.keys() == ["a/b"]


@pytest.mark.parametrize("ref", ["main@", "main~1", "0" * 64])
def test_only_branches_are_written_to(hdfs: Hdfs, ref: str) -> None:
    for answer in (hdfs.write(f"/lake/{ref}/a"), hdfs.make(f"/lake/{ref}/b")):
        assert answer.status_code in {400, 403, 404}


@pytest.mark.parametrize("op", ["APPEND", "CONCAT", "TRUNCATE"])
def test_no_file_is_changed_in_its_place(hdfs: Hdfs, op: str) -> None:
    hdfs.objects.put("a", b"1")
    refused = hdfs.ask("POST", op, "a")
    assert exception(refused) == (400, "UnsupportedOperationException")
    assert "write it as a whole" in refused.json["RemoteException"]["message"]


def test_an_empty_directory_is_there_for_hadoop_and_one_marker_for_others(hdfs: Hdfs) -> None:
    assert hdfs.make("a/b").json == {"boolean": True}
    assert hdfs.status("a")["type"] == hdfs.status("a/b")["type"] == "DIRECTORY"
    assert hdfs.names() == ["a/"]
    assert hdfs.names("a") == ["b/"]
    assert hdfs.names("a/b") == []
    assert hdfs.keys() == ["a/b/"]


def test_a_directory_that_is_there_gets_no_marker(hdfs: Hdfs) -> None:
    hdfs.objects.put("a/b/c")
    for path in ("a", "a/b", ""):
        assert hdfs.make(path).json == {"boolean": True}
    assert hdfs.keys() == ["a/b/c"]
    assert exception(hdfs.make("a/b/c")) == (403, "FileAlreadyExistsException")


def test_a_deleted_directory_takes_all_with_it_and_leaves_nothing(hdfs: Hdfs) -> None:
    hdfs.make("out/_temporary/0")
    hdfs.write("out/_temporary/0/x/part-0")
    hdfs.write("other")
    full = hdfs.delete("out/_temporary")
    assert exception(full) == (403, "PathIsNotEmptyDirectoryException")
    assert hdfs.delete("out/_temporary", recursive=True).json == {"boolean": True}
    assert hdfs.keys() == ["other"]
    assert exception(hdfs.get("GETFILESTATUS", "out")) == (404, "FileNotFoundException")


def test_deleting_a_file_an_empty_directory_and_nothing(hdfs: Hdfs) -> None:
    hdfs.write("a/b")
    hdfs.make("c")
    assert hdfs.delete("a/b").json == {"boolean": True}
    assert hdfs.delete("c").json == {"boolean": True}
    assert hdfs.delete("c").json == hdfs.delete("d/e", recursive=True).json == {"boolean": False}
    assert hdfs.keys() == []


def test_a_file_is_renamed_to_a_path_or_into_a_directory(hdfs: Hdfs) -> None:
    hdfs.write("a", b"1")
    assert hdfs.renamed("a", "b/c")
    hdfs.make("d")
    assert hdfs.renamed("b/c", "d")
    assert hdfs.keys() == ["d/", "d/c"]
    assert hdfs.objects.get("d/c").content == b"1"


def test_a_directory_is_renamed_by_metadata_alone(hdfs: Hdfs) -> None:
    for name in ("_temporary/0/t1/p=1/x", "_temporary/0/t1/p=2/y"):
        hdfs.write(name, name.encode())
    address = hdfs.objects.stat("_temporary/0/t1/p=1/x").json["physical_address"]
    assert hdfs.renamed("_temporary/0/t1", "out")
    assert hdfs.keys() == ["out/p=1/x", "out/p=2/y"]
    assert hdfs.objects.stat("out/p=1/x").json["physical_address"] == address
    hdfs.make("into")
    assert hdfs.renamed("out", "into")
    assert hdfs.keys() == ["into/", "into/out/p=1/x", "into/out/p=2/y"]


def test_the_older_rename_answers_no_where_it_cannot_be(hdfs: Hdfs) -> None:
    hdfs.write("a/b")
    hdfs.write("c")
    for source, other in [
        ("none", "x"),
        ("a", "a/b/d"),
        ("a", "c"),
        ("c", "a/b"),
        ("", "x"),
        ("a", "a"),
    ]:
        assert not hdfs.renamed(source, other), (source, other)
    assert hdfs.renamed("c", "c")
    assert hdfs.keys() == ["a/b", "c"]


def test_a_rename_with_options_says_why_not(hdfs: Hdfs) -> None:
    hdfs.write("a/b", b"1")
    hdfs.write("c", b"2")
    for source, other, options, expected in [
        ("none", "x", "NONE", (404, "FileNotFoundException")),
        ("c", "a/b", "NONE", (403, "FileAlreadyExistsException")),
        ("c", "c", "OVERWRITE", (403, "FileAlreadyExistsException")),
        ("c", "a", "OVERWRITE", (403, "IOException")),
        ("a", "a/b/c", "NONE", (400, "IllegalArgumentException")),
        ("a", "", "OVERWRITE", (400, "IllegalArgumentException")),
    ]:
        assert exception(hdfs.rename(source, other, options)) == expected, (source, other)
    assert hdfs.keys() == ["a/b", "c"]
    assert hdfs.rename("c", "a/b", "OVERWRITE").status_code == 200
    assert hdfs.objects.get("a/b").content == b"2"


def test_a_directory_replaces_only_an_empty_one(hdfs: Hdfs) -> None:
    hdfs.write("a/b", b"1")
    hdfs.write("full/c")
    hdfs.make("empty")
    refused = hdfs.rename("a", "full", "OVERWRITE")
    assert exception(refused) == (403, "PathIsNotEmptyDirectoryException")
    assert hdfs.rename("a", "empty", "OVERWRITE").status_code == 200
    assert hdfs.keys() == ["empty/", "empty/b", "full/c"]


def test_nothing_is_renamed_out_of_its_branch(hdfs: Hdfs) -> None:
    hdfs.write("a")
    for other in ("/lake/dev/a", "/other/main/a", "/lake", "a b"):
        answer = hdfs.rename("a", other)
        assert answer.status_code in {200, 400, 403}
    assert exception(hdfs.rename("a", "/lake/dev/a")) == (403, "IOException")
    assert hdfs.keys() == ["a b"]


def test_a_job_as_spark_commits_it_leaves_its_files_and_nothing_else(hdfs: Hdfs) -> None:
    hdfs.make("t/_temporary/0")
    for task in (1, 2):
        attempt = f"t/_temporary/0/_temporary/attempt_{task}"
        hdfs.write(f"{attempt}/p={task}/part-{task}", overwrite=False)
        assert hdfs.renamed(attempt, f"t/_temporary/0/task_{task}")
    for task in (1, 2):
        assert hdfs.renamed(f"t/_temporary/0/task_{task}/p={task}", f"t/p={task}")
    hdfs.delete("t/_temporary", recursive=True)
    hdfs.write("t/_SUCCESS", b"", overwrite=True)
    assert hdfs.keys() == ["t/_SUCCESS", "t/p=1/part-1", "t/p=2/part-2"]


@pytest.mark.parametrize("op", ["SETPERMISSION", "SETOWNER", "SETTIMES"])
def test_what_no_file_here_has_can_be_set_and_changes_nothing(hdfs: Hdfs, op: str) -> None:
    hdfs.write("a")
    before = hdfs.status("a")
    assert hdfs.ask("PUT", op, "a", permission=700, owner="eve").status_code == 200
    assert hdfs.status("a") == before
    assert hdfs.ask("PUT", "SETREPLICATION", "a").json == {"boolean": True}
