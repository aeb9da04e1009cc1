"""Splits of any size give the groups, places and failures that reading all at once gives."""

import gzip
import json
import os
import pickle
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compare.runs.source.planning import seeded_splits, splits
from compare.runs.source.reading import halves, portions
from compare.runs.source.rows import INPUT, Given, read_split, rows_of
from compare.runs.source.split import OutOfReach
from compare.samples.families import Family
from groups import BadInput, Group
from groups.columnar.key import keys_of
from groups.columnar.layout import LAYOUT
from groups.columnar.rows import batch_of
from groups.errors import Failure
from groups.files import find
from tests.groups.documents.mutated import EQUAL, RICH

ROOT = Path(__file__).parents[4]


def line(number: int, **more) -> str:
    return json.dumps({**EQUAL, "group": f"g{number}", **more})


def read(paths, *, split_bytes=2**24, line_bytes=2**26, given=None):
    """(good rows by place, failures by place) of an input, through splits of some size."""
    good, bad = [], []
    for split in pickle.loads(
        pickle.dumps(splits([str(p) for p in paths], split_bytes=split_bytes))
    ):
        for rows in read_split(split, given=given or Given(), line_bytes=line_bytes):
            assert rows.schema.equals(INPUT)
            for row in rows.to_pylist():
                (good if row["reason"] is None else bad).append(row)
    return (
        sorted((r["source"], r["place"], r["group"], r["captured_at"], r["key"]) for r in good),
        sorted((r["source"], r["place"], r["reason"], r["group"], r["captured_at"]) for r in bad),
    )


def all_at_once(paths):
    good, bad = [], []
    for found in find([str(p) for p in paths]):
        one = found if isinstance(found, Failure) else found.group()
        if isinstance(one, Group):
            key = keys_of(batch_of([one]))[0]
            good.append((found.source, found.place, one.name, one.captured_at, key))
        else:
            bad.append((one.source, one.place, one.reason, one.group, one.captured_at))

    def by_text(row):
        return [str(value) for value in row]

    return sorted(good, key=by_text), sorted(bad, key=by_text)


@pytest.fixture(scope="module")
def messy(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("messy")
    shutil.copytree(ROOT / "corpus/captures", folder / "captures")
    shutil.copy(ROOT / "corpus/findings.jsonl", folder)
    good = [line(i) for i in range(40)]
    mixed = [
        *good[:9],
        "",
        "{",
        line(9, members=3),
        "  \t",
        "\u00a0",
        '{"group": 1, "group": 2}',
        *good[9:],
    ]
    (folder / "a.jsonl").write_text("\n".join(mixed))
    (folder / "crlf.jsonl").write_bytes("\r\n".join(["", *mixed, ""]).encode())
    (folder / "bom.jsonl").write_bytes(b"\xef\xbb\xbf" + "\n".join(mixed).encode() + b"\n")
    (folder / "wide.jsonl").write_text("\n".join(good[:3]), encoding="utf-16")
    (folder / "packed.jsonl.gz").write_bytes(gzip.compress("\n".join(mixed).encode()))
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "blank.jsonl").write_bytes(b"\n \n\n")
    (folder / "one.json").write_text(json.dumps(RICH, indent=2))
    (folder / "lines.json").write_text("\n".join(good[:4]))
    (folder / "lines.txt.gz").write_bytes(gzip.compress("\n".join(good[:4]).encode()))
    (folder / "odd.json").write_text("[1, 2")
    (folder / "empty.json").write_text("")
    (folder / "prose.txt").write_text("nothing that a tool prints")
    return folder


@pytest.mark.parametrize("split_bytes", [1, 300, 1000, 5000, 2**24])
def test_splits_of_any_size_read_what_reading_all_at_once_reads(messy, split_bytes):
    assert read([messy], split_bytes=split_bytes) == all_at_once([messy])


def test_files_that_are_named_themselves_are_read_as_they_are_all_at_once(messy):
    files = [messy / "a.jsonl", messy / "one.json", messy / "captures/3.9.2/all-describe.txt"]
    assert read(files, split_bytes=700) == all_at_once(files)


@pytest.mark.parametrize("split_bytes", [*range(1, 24), 71, 72, 90, 110])
def test_every_line_is_in_one_split_wherever_the_borders_fall(tmp_path, split_bytes):
    lines = ["{}", "", "[12345678]", "{", "x" * 70, "", "", "1"]
    for text in ("\n".join(lines), "\n".join([*lines, ""]), "\n\n" + "\r\n".join(lines)):
        file = tmp_path / "a.jsonl"
        file.write_bytes(text.encode())
        found = [
            (item.place, item.content)
            for split in splits([str(file)], split_bytes=split_bytes)
            for items in portions(split)
            for item in items
        ]
        assert found == [
            (f"{file}:{n}", one.encode())
            for n, one in enumerate(text.replace("\r", "").split("\n"), start=1)
            if one
        ]


def test_a_line_that_is_not_utf_8_is_a_failure_and_the_others_are_read(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"\n".join([line(1).encode(), b'{"group": "\xff"}', line(2).encode()]))
    good, bad = read([file])
    assert [row[2] for row in good] == ["g1", "g2"]
    assert bad == [(str(file), f"{file}:2", "byte 11: not UTF-8 text", None, None)]


@pytest.mark.parametrize("packed", [False, True])
def test_a_line_that_is_too_long_is_a_failure_that_names_its_group(tmp_path, packed):
    long = line(2, captured_at="2026-11-20T10:00:00Z", assumed=["x" * 5_000_000])
    text = "\n".join([line(1), long, line(3)]).encode()
    file = tmp_path / ("a.jsonl.gz" if packed else "a.jsonl")
    file.write_bytes(gzip.compress(text) if packed else text)
    for split_bytes in (1000, 2**24):
        good, bad = read([file], line_bytes=4_000_000, split_bytes=split_bytes)
        assert [row[2] for row in good] == ["g1", "g3"]
        assert bad == [
            (
                str(file),
                f"{file}:2",
                f"a line of {len(long):,} bytes, more than the 4,000,000 that are read",
                "g2",
                "2026-11-20T10:00:00Z",
            )
        ]


def test_gzip_that_is_cut_off_costs_a_failure_not_the_lines_before(tmp_path):
    file = tmp_path / "a.jsonl.gz"
    data = gzip.compress("\n".join(map(line, range(2000))).encode())
    file.write_bytes(data[: len(data) // 2])
    good, bad = read([file])
    assert 500 < len(good) < 1500
    assert bad == [(str(file), str(file), "gzip that is cut off: get the whole file", None, None)]


def test_what_cannot_be_read_is_a_failure_that_names_it(tmp_path):
    (tmp_path / "good.jsonl").write_text(line(1))
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "loop.json").symlink_to(tmp_path / "loop.json")
    (tmp_path / "gone.json").symlink_to(tmp_path / "nowhere")
    (tmp_path / "again").symlink_to(tmp_path)
    (tmp_path / "folder.json").mkdir()
    good, bad = read([tmp_path])
    assert [row[2] for row in good] == ["g1"]
    assert [(Path(row[1]).name, row[2]) for row in bad] == [
        ("gone.json", "cannot be read: No such file or directory"),
        ("loop.json", "cannot be read: Too many levels of symbolic links"),
        ("pipe.json", "cannot be read: not a regular file"),
    ]


def test_a_file_that_vanishes_after_planning_is_a_failure(tmp_path):
    for name in ("a.jsonl", "b.json", "c.txt", "d.jsonl.gz"):
        data = (
            (ROOT / "corpus/captures/3.9.2/all-describe.txt").read_bytes()
            if name == "c.txt"
            else line(1).encode()
        )
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    planned = splits([str(tmp_path)])
    for file in list(tmp_path.iterdir()):
        file.unlink()
    rows = [row for split in planned for batch in read_split(split) for row in batch.to_pylist()]
    assert sorted((Path(row["place"]).name, row["reason"]) for row in rows) == [
        (name, "cannot be read: No such file or directory")
        for name in ("a.jsonl", "b.json", "c.txt", "d.jsonl.gz")
    ]


@pytest.mark.parametrize("name", ["nowhere.jsonl", "pipe.json"])
def test_a_file_that_is_named_itself_and_cannot_be_read_is_refused(tmp_path, name):
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(BadInput, match=f"{name}: cannot be read: "):
        splits([str(tmp_path / name)])


def test_a_folder_without_snapshots_is_refused(tmp_path):
    (tmp_path / "notes.md").write_text("")
    with pytest.raises(BadInput, match="no snapshot in this folder"):
        splits([str(tmp_path)])


def test_parquet_gives_the_rows_that_it_was_made_of_whatever_the_split(tmp_path):
    from groups.columnar.parquet import write_groups

    groups = [Group.from_json(line(n)) for n in range(30)]
    groups.append(Group.from_dict(RICH))
    write_groups(groups, str(tmp_path / "a.parquet"))
    for split_bytes in (1, 2**24):
        good, bad = read([tmp_path / "a.parquet"], split_bytes=split_bytes)
        assert bad == []
        assert sorted(row[4] for row in good) == sorted(keys_of(batch_of(groups)))


def test_parquet_that_another_program_wrote_gives_the_keys_of_the_same_groups(tmp_path):
    groups = [Group.from_json(line(n)) for n in range(3)]
    rows = batch_of(groups).to_pylist()
    for row in rows:
        topics = len(row["topics"])
        members = len(row["members"])
        # A list of topics for each member, where all read the same ones.
        assert row["subscription_row"] == [0] * members
        row["subscription_indptr"] = [topics * at for at in range(members + 1)]
        row["subscription_topics"] *= members
        row["subscription_row"] = list(range(members))
        row["subscription_known"] = [True] * members
    pq.write_table(pa.Table.from_pylist(rows, LAYOUT), tmp_path / "a.parquet")
    good, bad = read([tmp_path / "a.parquet"])
    assert bad == []
    assert sorted(row[4] for row in good) == sorted(keys_of(batch_of(groups)))


@pytest.mark.parametrize("given", [Given(reset="earliest"), Given(assume_equal=True)])
def test_what_is_taken_as_given_holds_for_every_kind_of_input(tmp_path, given):
    from groups.columnar.parquet import write_groups

    open_ended = {key: value for key, value in RICH.items() if key != "auto_offset_reset"}
    groups = [Group.from_dict(one) for one in (EQUAL, open_ended, {**EQUAL, "group": "h"})]
    write_groups(groups, str(tmp_path / "a.parquet"))
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps(group.to_dict()) for group in groups))
    expected = sorted(keys_of(batch_of([given.of(group) for group in groups])))
    for name in ("a.parquet", "a.jsonl"):
        good, _ = read([tmp_path / name], given=given)
        assert sorted(row[4] for row in good) == expected


def test_seeded_families_are_the_same_groups_under_any_splitting():
    families = [Family(4, subscriptions="random", event="join-one"), Family(10)]
    expected = keys_of(batch_of([f.group(seed) for f in families for seed in range(5, 25)]))
    for split_bytes in (1, 2000, 10**9):
        planned = seeded_splits(families, 20, first=5, split_bytes=split_bytes)
        keys = [
            key
            for split in planned
            for rows in read_split(split)
            for key in rows["key"].to_pylist()
        ]
        assert keys == expected
    assert len(seeded_splits(families, 20, split_bytes=1)) == 40


def test_items_are_taken_in_halves_down_to_single_groups(tmp_path):
    from groups.columnar.parquet import write_groups

    groups = [Group.from_json(line(n)) for n in range(7)]
    write_groups(groups, str(tmp_path / "a.parquet"))
    (tmp_path / "a.jsonl").write_text("\n".join(map(line, range(7))))
    planned = [*splits([str(tmp_path)]), *seeded_splits([Family(3)], 5)]
    left = [item for split in planned for items in portions(split) for item in items]
    singles = []
    while left:
        item = left.pop()
        parts = halves(item)
        if parts:
            left += parts
        else:
            singles.append(item)
    found = [rows_of([item]) for item in singles]
    assert [len(one.rows) for one in found] == [1] * 19
    assert sorted(place for one in found for _, place in one.places) == sorted(
        [f"{tmp_path / 'a.jsonl'}:{n}" for n in range(1, 8)]
        + [f"{tmp_path / 'a.parquet'}:{n}" for n in range(1, 8)]
        + [f"3x10-10-topics-equal-fresh-{seed}" for seed in range(1, 6)]
    )


def test_a_file_that_vanishes_before_it_is_cut_is_a_failure_with_its_place(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join(map(line, range(20))))

    def vanished(size: int) -> int:
        file.unlink()
        return size // 4

    (split,) = splits([str(tmp_path)], split_bytes=vanished)
    (failure,) = (item for items in portions(split) for item in items)
    reason = "cannot be read: No such file or directory"
    assert failure == OutOfReach(str(file), str(file), reason, None)
