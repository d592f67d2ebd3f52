# SPDX-License-Identifier: Apache-2.0
"""The main job end to end: server, repository, data in, branch, change, merge; Spark, a pipeline.

`make demo` runs it. The server is a real one in a process of its own, `lochan quickstart`, over the
embedded stores (SQLite, local files); it is stopped at the end. The data is the source text of
Python's standard library, which every machine with Python has. The lake stays in .cache/demo, to be
looked at; the next run starts it afresh. With --quick the steps on Spark are left out.
"""

import codecs
import shutil
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

import fsspec
from demo_pipeline import show_pipeline
from demo_spark import show_spark
from quickstart_server import quickstart
from rich.console import Console
from rich.progress import track
from rich.table import Table

import lochan
from lochan.client import Branch, Lake, Repository
from lochan.errors import Conflict, InvalidInput
from lochan.shapes.refs import Diff

FOLDER = Path(".cache/demo")
QUICK = "--quick"
LIBRARY = Path(codecs.__file__).parent
PACKAGES = ("collections", "email", "html", "http", "importlib", "json", "logging", "xml")
# lakeFS's published quickstart key: its clients and tutorials work unchanged.
KEY_ID, SECRET = "AKIAIOSFOLQUICKSTART", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
SIGNS = {"added": "[green]+[/]", "changed": "[yellow]~[/]", "removed": "[red]-[/]"}

console = Console(soft_wrap=True, highlight=False)


def step(what: str) -> None:
    """Begin a step."""
    console.print(f"\n[bold cyan]»[/] [bold]{what}[/]")


def tell(what: str) -> None:
    """Say what came of it."""
    console.print(f"  {what}")


def stored_files() -> int:
    """Count what lies in the lake's object store."""
    return sum(path.is_file() for path in (FOLDER / "objects").rglob("*"))


def bring_in_data(main: Branch) -> None:
    """Upload the standard library, four files at a time, and commit it at once."""
    step("Real data in: the source of Python's standard library")
    files = sorted(LIBRARY.glob("*.py"))
    for package in PACKAGES:
        files += sorted((LIBRARY / package).rglob("*.py"))

    def upload(path: Path) -> int:
        where = f"lib/{path.relative_to(LIBRARY).as_posix()}"
        return main.upload(where, path, content_type="text/x-python").size_bytes or 0

    began = perf_counter()
    with ThreadPoolExecutor(4) as pool:
        sizes = track(pool.map(upload, files), "  uploading", len(files), console=console)
        total = sum(sizes)
    took = perf_counter() - began
    tell(f"{len(files)} files, {total / 1e6:.1f} MB in {took:.1f} s; each on disk when answered")
    made = main.commit("the standard library", {"python": "source"})
    tell(f"committed as {made.id[:12]}, and tagged v1")


def make_branch(repository: Repository) -> Branch:
    """Make a branch, which copies nothing."""
    step("A branch of everything")
    before, began = stored_files(), perf_counter()
    tidy = repository.branch("tidy").create("main")
    took = 1000 * (perf_counter() - began)
    tell(f"branch tidy made in {took:.0f} ms; files copied: {stored_files() - before}")
    return tidy


def change_things(tidy: Branch, main: Branch) -> None:
    """Add, change and remove an object where nobody else sees it."""
    step("Changes on it: one object added, one changed, one removed")
    with tidy.object("modules.csv").open("w") as table:
        table.write("module,bytes\n")
        for row in tidy.objects("lib/", delimiter="/"):
            if row.path_type == "object":
                table.write(f"{row.path.removeprefix('lib/')},{row.size_bytes}\n")
    riddle = tidy.object("lib/this.py").read().decode()
    tidy.upload("lib/this.py", codecs.decode(riddle, "rot13"))  # now it can be read
    tidy.object("lib/antigravity.py").delete()
    staged, elsewhere = len(list(tidy.uncommitted())), len(list(main.uncommitted()))
    tell(f"tidy has {staged} uncommitted changes, main has {elsewhere}")
    before = stored_files()
    made = tidy.commit("solve the riddle, list the modules")
    wrote = stored_files() - before
    tell(f"committed as {made.id[:12]}: {wrote} files written for the tree of all objects")


def show_changes(changes: Iterable[Diff]) -> None:
    """List changes, a line each."""
    for change in changes:
        tell(f"{SIGNS[change.type]} {change.path}")


def merge(tidy: Branch, main: Branch, url: str) -> None:
    """Bring the changes to main, which has moved on meanwhile."""
    step("Meanwhile main moves on; what would a merge bring?")
    main.upload("README.md", "# The standard library of Python\n")
    main.commit("say what this is")
    show_changes(main.diff(tidy))
    step("Merge")
    made = tidy.merge_into(main, message="merge tidy")
    tell(f"main is at {made[:12]}")
    with main.object("lib/this.py").open("r") as file:
        tell(f"its riddle begins: {file.readline().rstrip()}")
    # What pandas, polars, Arrow and DuckDB use, too.
    key = {"username": KEY_ID, "password": SECRET}
    address = f"lochan://{main.repository_id}/v1/lib/this.py"
    with fsspec.open(address, "r", host=url, **key) as file:
        tell(f"in v1 it began:    {file.readline().rstrip()}  [dim]({address})[/]")


def conflict(repository: Repository, main: Branch) -> None:
    """Let two branches change one object differently; then let one side win."""
    step("Two people change the same object")
    other = repository.branch("other").create("main")
    other.upload("README.md", "# Python, with batteries\n")
    other.commit("with batteries")
    main.upload("README.md", "# Python\n")
    main.commit("shorter")
    try:
        other.merge_into(main)
    except Conflict as error:
        tell(f"refused: {error.message}")
    other.merge_into(main, strategy="source-wins", message="merge other; it wins")
    tell(f"merged, source wins: {main.object('README.md').read().decode().rstrip()}")


def crowd(repository: Repository, main: Branch) -> None:
    """Let eight writers put and commit to one branch at once: none waits, none is lost."""
    step("Eight writers commit to one branch at once")
    before = main.head

    def work(number: int) -> None:
        main.upload(f"notes/{number}.txt", f"note {number}\n")
        main.commit(f"note {number}", allow_empty=True)

    began = perf_counter()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    took = perf_counter() - began
    found = len(list(repository.ref(before).diff(main)))
    tell(f"{found} objects in {took:.1f} s, none lost")


def way_back(main: Branch) -> None:
    """Undo a mistake that is committed already."""
    step("A mistake, and the way back")
    main.delete_objects([row.path for row in main.objects("lib/json/")])
    wrong = main.commit("who needs JSON")
    main.revert(wrong, message="we do")
    tell(f"reverted: {len(list(main.objects('lib/json/')))} files of lib/json/ are back")
    try:
        main.commit("nothing")
    except InvalidInput as error:
        tell(f"and a commit of nothing is refused: {error.message}")


def show_log(main: Branch) -> None:
    """Show the history."""
    step("History")
    grid = Table("commit", "at", "by", "message", box=None, header_style="dim")
    for commit in main.log():
        at = datetime.fromtimestamp(commit.record.creation_date, UTC)
        grid.add_row(commit.id[:12], f"{at:%H:%M:%S}", commit.committer, commit.message)
    console.print(grid)


def run(lake: Lake, url: str) -> None:
    """Go through all steps."""
    step("A repository")
    repository = lake.repository("python").create()
    tell(f"{repository.properties.storage_namespace}")
    main = repository.branch("main")
    bring_in_data(main)
    repository.tag("v1").create("main")
    tidy = make_branch(repository)
    change_things(tidy, main)
    merge(tidy, main, url)
    conflict(repository, main)
    crowd(repository, main)
    way_back(main)
    if QUICK not in sys.argv:
        show_spark(lake, repository, step, tell)
        show_pipeline(lake, repository, step, tell)
    show_log(main)


def main() -> None:
    """Start a server, go through all steps, stop it."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    step("A server: lochan quickstart")
    with quickstart(FOLDER) as url:
        tell(f"{url}, for this machine alone; its API as a page: {url}/docs")
        with lochan.connect(url, access_key_id=KEY_ID, secret_access_key=SECRET) as lake:
            run(lake, url)
    step("Done")
    tell(f"the server is stopped; what it holds stays in {FOLDER}")
    tell("serve it again:          make serve ARGS='--lake .cache/demo'")
    tell("or begin with your own:  make serve, then http://127.0.0.1:8000/docs")
    tell("the same by hand:        docs/quickstart.md, docs/pipelines.md")


if __name__ == "__main__":
    main()
