# SPDX-License-Identifier: Apache-2.0
"""An inventory is imported as the objects that it lists would be one by one."""

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from lochan.errors import InvalidInput, NotFound
from lochan.kernel.records import Record
from lochan.model.instant import from_seconds
from lochan.operations.import_inventory import Inventory, import_inventory
from lochan.operations.import_objects import ImportRequest, ListedObject, import_objects
from support.lakes import MAIN, Stage, open_stage

REQUEST = ImportRequest("me")
TIME = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
NAMES = ["raw/b.csv", "raw/a.csv", "other/c.csv", "raw/é/d.csv"]


def listed(names: list[str]) -> pa.Table:
    """List objects as S3 does."""
    count = len(names)
    return pa.table(
        {
            "Bucket": ["bucket"] * count,
            "Key": names,
            "Size": list(range(10, 10 + count)),
            "LastModifiedDate": [TIME] * count,
            "ETag": [f'"{name[:4]}"' for name in names],
        }
    )


def tree(stage: Stage, head: str) -> list[Record]:
    found = stage.storage.snapshots.list(head)  # type: ignore[arg-type]  # an id
    return [row for row in found if isinstance(row, Record)]


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_an_inventory_gives_the_tree_of_its_objects(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"inventory.{kind}"
    write = {"parquet": pyarrow.parquet.write_table, "csv": pyarrow.csv.write_csv}[kind]
    write(listed(NAMES), path)
    stage, other = open_stage(), open_stage()
    inventory = Inventory([str(path)], kind, prefix="raw/", destination="lake")
    made = import_inventory(stage.lake, stage.repository, MAIN, inventory, REQUEST)
    one_by_one = [
        ListedObject(
            b"lake/" + name.removeprefix("raw/").encode(),
            f"s3://bucket/{name}",
            10 + number,
            name[:4],
            from_seconds(TIME.timestamp()),
        )
        for number, name in enumerate(NAMES)
        if name.startswith("raw/")
    ]
    expected = import_objects(other.lake, other.repository, MAIN, one_by_one, REQUEST)
    assert tree(stage, made.meta_range_id) == tree(other, expected.meta_range_id)
    assert made.meta_range_id == expected.meta_range_id


@pytest.fixture
def stage() -> Stage:
    return open_stage()


def imported(stage: Stage, path: Path, table: pa.Table, prefix: str = "") -> None:
    pyarrow.parquet.write_table(table, path / "i.parquet")
    inventory = Inventory([str(path / "i.parquet")], prefix=prefix)
    import_inventory(stage.lake, stage.repository, MAIN, inventory, REQUEST)


def test_rows_that_say_the_same_are_one(stage: Stage, tmp_path: Path) -> None:
    table = listed(["raw/a.csv"])
    imported(stage, tmp_path, pa.concat_tables([table] * 3))


def test_two_objects_of_one_key_are_refused(stage: Stage, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="two imported objects"):
        imported(stage, tmp_path, listed(["raw/a.csv", "raw/a.csv"]))


def test_an_empty_list_is_not_imported(stage: Stage, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="lists nothing"):
        imported(stage, tmp_path, listed(NAMES), prefix="nowhere/")


def test_columns_that_are_missing_are_named(stage: Stage, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no column for e_tag"):
        imported(stage, tmp_path, listed(NAMES).drop_columns(["ETag"]))
