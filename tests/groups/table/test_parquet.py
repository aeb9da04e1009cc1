"""Parquet of groups: read like snapshots, written whole or not at all, and refused in one line."""

import json
import random
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from groups import BadInput, Group
from groups.files import find, read_group
from groups.files import read_groups as read_files
from groups.table.layout import LAYOUT, NESTED
from groups.table.parquet import read_groups, write_groups
from groups.table.rows import batch_of
from tests.groups.examples import EVERYTHING, odd, shipped
from tests.groups.table.test_rows import good


@pytest.fixture
def table(tmp_path):
    """Three groups, the last of which is bad."""
    path = tmp_path / "groups.parquet"
    rows = [good(), good() | {"group": "h"}, good() | {"group": "bad", "owner": [1, 1, 1]}]
    pq.write_table(pa.Table.from_pylist(rows, LAYOUT), path)
    return path


def test_groups_come_back_from_parquet_as_they_were(tmp_path):
    groups, path = shipped() + odd(), str(tmp_path / "groups.parquet")
    assert write_groups(iter(groups), path) == len(groups)
    found = read_files([path])
    assert found.failures == ()
    assert [one.to_dict() for one in found] == [one.to_dict() for one in groups]
    assert [path.name for path in tmp_path.iterdir()] == ["groups.parquet"]
    # The text of a row is its snapshot; a file may hold one group, and none are no file.
    assert json.loads(next(find([path])).text) == groups[0].to_dict()
    one = str(tmp_path / "one.parquet")
    write_groups([Group.from_dict(EVERYTHING)], one)
    assert read_group(one).to_dict() == Group.from_dict(EVERYTHING).to_dict()
    assert write_groups([], str(tmp_path / "none.parquet")) == 0
    assert not (tmp_path / "none.parquet").exists()


def test_many_groups_are_several_row_groups(tmp_path, monkeypatch):
    monkeypatch.setattr("groups.table.parquet.MOST_ROWS", 4)
    path = str(tmp_path / "groups.parquet")
    write_groups([Group.from_dict(EVERYTHING | {"group": f"g{n}"}) for n in range(10)], path)
    assert pq.ParquetFile(path).num_row_groups == 3


def test_a_bad_row_is_a_failure_at_its_place_and_the_others_are_read(table, monkeypatch):
    monkeypatch.setattr("groups.table.parquet.ROWS_AT_ONCE", 2)
    groups = read_files([str(table)])
    assert [group.name for group in groups] == ["g", "h"]
    [failure] = groups.failures
    assert (failure.source, failure.place) == (str(table), f"{table}:3")
    assert failure.reason == "owner[0]: b owns a partition of t0 but does not subscribe"
    assert (failure.group, failure.captured_at) == ("bad", "2026-11-20T10:00:00Z")


def test_parquet_is_known_by_its_beginning_and_from_standard_input(table):
    plain = table.rename(table.with_name("groups"))
    assert [g.name for g in read_files([str(plain)])] == ["g", "h"]
    groups = read_files(["-"], standard_input=plain.read_bytes())
    assert [group.name for group in groups] == ["g", "h"]
    assert groups.failures[0].place == "standard input:3"


def test_of_a_folder_its_own_parquet_is_read_and_not_that_of_tables_in_it(table):
    folder = table.parent
    for inside in ("day=1/hour=2", "out/groups"):
        (folder / inside).mkdir(parents=True)
        (folder / inside / "part.parquet").write_bytes(table.read_bytes())
    places = [found.place for found in find([str(folder)])]
    files = {place.rpartition(":")[0] for place in places}
    assert files == {str(table), str(folder / "day=1/hour=2/part.parquet")}
    assert len(places) == 6
    assert len(list(find([str(folder / "out/groups")]))) == 3


def test_what_is_not_parquet_of_groups_is_refused_in_one_line(tmp_path):
    path, other = tmp_path / "groups.parquet", pa.BufferOutputStream()
    pq.write_table(pa.table({"group": ["g"], "value": [1]}), other)
    for data, reason in (
        (b"", "not Parquet, or damaged: Parquet file size is 0 bytes"),
        (b'{"format": "assay-group/1"}', "not Parquet, or damaged: Parquet magic bytes not found"),
        (other.getvalue().to_pybytes(), "topics: this column is missing"),
    ):
        path.write_bytes(data)
        [failure] = find([str(path)])
        assert failure.place == str(path)
        assert failure.reason.startswith(reason)
        assert "\n" not in failure.reason


def test_parquet_of_an_earlier_version_is_refused_with_what_to_do(tmp_path):
    path = tmp_path / "old.parquet"
    columns = [field for field in LAYOUT if field.name not in NESTED]
    rows = [good() | {"rest": '{"members":{"a":{"rack":"r"}}}'}]
    pq.write_table(pa.Table.from_pylist(rows, pa.schema([*columns, ("rest", pa.string())])), path)
    [failure] = find([str(path)])
    assert failure.reason == (
        "rest: this column is of an earlier version; write the file again from its JSON"
    )


def test_damage_is_noticed_and_said_in_one_line():
    rng = random.Random("damage")
    groups = [Group.from_dict(EVERYTHING | {"group": f"g{n}"}) for n in range(20)]
    same, sink = [one.to_dict() for one in groups], pa.BufferOutputStream()
    with pq.ParquetWriter(sink, LAYOUT, write_page_checksum=True) as file:
        file.write_batch(batch_of(groups))
    data = sink.getvalue().to_pybytes()
    for flips in [0, 1, 20] * 10:
        broken = bytearray(data if flips else data[: rng.randrange(len(data))])
        for at in rng.sample(range(4, len(data) - 8), flips):
            broken[at] ^= 1 << rng.randrange(8)
        try:
            found = list(read_groups(bytes(broken)))
        except BadInput as error:
            lost = r"not Parquet, or damaged: .+|\w+: this column is missing"
            assert re.fullmatch(lost, str(error))  # noqa: PT017 - both ends are good
        else:
            # The changed bit may be in Parquet metadata that no reader uses.
            assert [one.to_dict() for one in found if isinstance(one, Group)] == same


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "groups.parquet"
    path.write_bytes(b"what was there")

    def groups():
        yield Group.from_dict(EVERYTHING)
        raise BadInput("stop")

    with pytest.raises(BadInput, match="stop"):
        write_groups(groups(), str(path))
    assert path.read_bytes() == b"what was there"
    assert [one.name for one in tmp_path.iterdir()] == ["groups.parquet"]
    with pytest.raises(BadInput, match="cannot be written: No such file or directory"):
        write_groups([Group.from_dict(EVERYTHING)], str(tmp_path / "none" / "g.parquet"))
