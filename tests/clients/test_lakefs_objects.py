# SPDX-License-Identifier: Apache-2.0
"""lakeFS's Python package, unchanged: objects up and down, readers and writers, import."""

from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import lakefs
import pytest
from lakefs.exceptions import (
    ForbiddenException,
    ImportManagerException,
    ObjectExistsException,
    ObjectNotFoundException,
)

SOON = timedelta(milliseconds=50)


@pytest.mark.parametrize("pre_sign", [False, True])
def test_an_object_goes_up_and_comes_down(main: lakefs.Branch, *, pre_sign: bool) -> None:
    told = {"my_key": "x", "my-other": "y"}
    up = main.object("c.bin").upload(
        bytes(range(256)), pre_sign=pre_sign, content_type="text/x-own", metadata=told
    )
    stat = up.stat()
    assert (stat.size_bytes, stat.content_type, stat.path) == (256, "text/x-own", "c.bin")
    assert stat.metadata == told
    with up.reader("rb", pre_sign=pre_sign) as file:
        assert file.read(3) == b"\0\1\2"
        assert (file.seek(250), file.read()) == (250, bytes(range(250, 256)))
        assert (file.seek(-4, 2), file.read(2), file.tell()) == (252, b"\xfc\xfd", 254)
        assert (file.seek(300), file.read()) == (300, b"")


@pytest.mark.parametrize("pre_sign", [False, True])
def test_writers_take_text_and_readers_give_lines(main: lakefs.Branch, *, pre_sign: bool) -> None:
    with main.object("t.txt").writer("w", pre_sign=pre_sign) as file:
        for number in range(100):
            file.write(f"line {number} é\n")
    with main.object("t.txt").reader("r", pre_sign=pre_sign) as file:
        lines = list(file)
    assert (len(lines), lines[99]) == (100, "line 99 é\n")


def test_a_large_object_goes_through_the_writer_s_file(main: lakefs.Branch) -> None:
    piece = bytes(1 << 20)
    with main.object("large.bin").writer("wb") as file:
        for _ in range(40):
            file.write(piece)
    assert main.object("large.bin").stat().size_bytes == 40 << 20


def test_nothing_stays_of_a_writer_that_failed(main: lakefs.Branch) -> None:
    with suppress(RuntimeError), main.object("t.txt").writer("w") as file:
        file.write("half")
        raise RuntimeError
    assert not main.object("t.txt").exists()


@pytest.mark.parametrize("pre_sign", [False, True])
def test_mode_x_takes_new_paths_only(main: lakefs.Branch, *, pre_sign: bool) -> None:
    main.object("new.txt").upload(b"new", mode="xb", pre_sign=pre_sign)
    with pytest.raises(ObjectExistsException):
        main.object("new.txt").upload(b"newer", mode="xb", pre_sign=pre_sign)
    assert main.object("new.txt").reader("rb").read() == b"new"


def test_what_is_not_there_is_told_as_such(main: lakefs.Branch) -> None:
    missing = main.object("nope")
    assert not missing.exists()
    with pytest.raises(ObjectNotFoundException):
        missing.stat()
    with pytest.raises(ObjectNotFoundException):
        missing.reader("rb").read()
    with pytest.raises(ObjectNotFoundException):
        missing.reader("rb", pre_sign=False).read()


def test_objects_are_listed_with_prefix_delimiter_and_in_pages(main: lakefs.Branch) -> None:
    for number in range(12):
        main.object(f"many/{number:02}").upload(b"")
    assert [one.path for one in main.objects(delimiter="/")] == ["a/", "b/", "many/"]
    assert [one.path for one in main.objects(prefix="a/")] == ["a/one.txt"]
    assert [one.path for one in main.objects(after="many/09")] == ["many/10", "many/11"]
    assert len(list(main.objects(max_amount=5))) == 5


@pytest.mark.parametrize(
    "path", ["with space", "per%cent", "plus+", "é/ü", "q?x=1&y", "#h", "a//b"]
)
def test_paths_of_every_letter(main: lakefs.Branch, path: str) -> None:
    main.object(path).upload(path.encode())
    assert [one.path for one in main.objects(prefix=path)] == [path]
    assert main.object(path).reader("rb").read() == path.encode()
    main.object(path).delete()
    assert not main.object(path).exists()


def test_a_copy_is_of_any_ref(repo: lakefs.Repository, main: lakefs.Branch) -> None:
    fix = repo.branch("fix").create(main)
    main.object("a/one.txt").upload(b"newer")
    copied = repo.ref("main@").object("a/one.txt").copy("fix", "copied.txt")
    assert copied.reader("rb").read() == b"one"
    assert [one.path for one in fix.uncommitted()] == ["copied.txt"]


def test_many_objects_are_deleted_at_once(main: lakefs.Branch) -> None:
    main.delete_objects(["a/one.txt", main.object("b/two.txt"), "never/was"])
    assert list(main.objects()) == []
    assert [one.type for one in main.uncommitted()] == ["removed", "removed"]


def test_an_import_takes_files_where_they_lie(main: lakefs.Branch, outside: Path) -> None:
    into = main.import_data("files from outside", metadata={"k": "v"})
    into.prefix(f"file://{outside}/", "in/").object(f"file://{outside}/a.csv", "single.csv")
    status = into.run(SOON)
    assert (status.completed, status.ingested_objects) == (True, 4)
    head = main.get_commit()
    assert (head.message, head.id) == ("files from outside", status.commit.id)
    found = [one.path for one in main.objects(prefix="in/")]
    assert found == ["in/a.csv", "in/b.csv", "in/below/c.csv"]
    assert main.object("in/below/c.csv").reader("r").read() == "content of below/c.csv\n"


def test_an_import_from_where_the_server_may_not_read_is_refused(main: lakefs.Branch) -> None:
    with pytest.raises((ForbiddenException, ImportManagerException)):
        main.import_data("x").prefix("file:///etc/", "in/").run(SOON)
    assert list(main.objects(prefix="in/")) == []
