from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import tracemalloc
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from groups import BadInput, Group
from groups.documents.texts import MOST_UNPACKED_BYTES, decode, read_bytes
from groups.files import Found, find, read_groups
from groups.table.batch import each_of
from groups.table.rows import batch_of
from groups.times import file_time, time_in_utc
from tests.groups.importers.imported import CAPTURES
from tests.optimal.small_groups import document, lopsided

if TYPE_CHECKING:
    from pathlib import Path

    from groups.table.layout import BadRow

DESCRIBE = (CAPTURES / "4.3.1/coop-a-describe.txt").read_text()
GROUP = document({"t": 1}, {})


def only(path: Path) -> Group:
    groups = read_groups([str(path)])
    (group,), failures = groups, groups.failures
    assert failures == ()
    return group


def shape(group: Group) -> tuple[object, ...]:
    return group.name, group.members, group.topics, group.owner.tolist()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_text_is_read_in_whatever_encoding_and_packed_or_not(tmp_path, encoding, packed):
    plain, other = tmp_path / "plain.txt", tmp_path / "other.txt"
    plain.write_text(DESCRIBE)
    data = DESCRIBE.encode(encoding)
    other.write_bytes(gzip.compress(data) if packed else data)
    assert shape(only(other)) == shape(only(plain))
    (tmp_path / "g.json").write_bytes(json.dumps(GROUP).encode(encoding))
    assert only(tmp_path / "g.json").name == "g"


def test_texts_with_byte_order_marks_are_read_one_after_the_other(tmp_path):
    other = DESCRIBE.replace("coop-a", "coop-b")
    file = tmp_path / "both.txt"
    file.write_bytes(b"".join(text.encode("utf-8-sig") for text in (DESCRIBE, other)))
    groups = read_groups([str(file)])
    assert ([group.name for group in groups], groups.failures) == (["coop-a", "coop-b"], ())


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (DESCRIBE.encode("utf-16-le")[:-1], "not UTF-16 text"),
        (DESCRIBE.encode("utf-16")[:-1], "not UTF-16 text"),
        (DESCRIBE.encode("utf-32"), "^UTF-32, expected UTF-8 or UTF-16$"),
        (b"\xff" + DESCRIBE.encode(), "byte 0: not UTF-8 text"),
        ("GROUP caf\u00e9".encode("latin-1"), "byte 9: not UTF-8 text"),
    ],
)
def test_bytes_that_are_no_text_name_the_encoding_and_the_first_bad_one(data, says):
    with pytest.raises(BadInput, match=says):
        decode(data)


def test_gzip_that_is_damaged_cut_off_or_a_bomb_costs_a_line_and_not_the_memory(tmp_path):
    packed, file = gzip.compress(DESCRIBE.encode()), tmp_path / "a.gz"
    for data, reason in (
        (packed[:-20], "gzip that is cut off: get the whole file"),
        (packed[:40] + bytes(40) + packed[80:], "gzip that is damaged"),
        (b"\x1f\x8b, which is no gzip", "gzip that is damaged"),
        (gzip.compress(bytes(2**20)) * 300, "gzip of more than 256 MiB, unpack it first"),
    ):
        file.write_bytes(data)
        tracemalloc.start()
        try:
            with pytest.raises(BadInput, match=rf"^{file}: {reason}$"):
                read_bytes(file)
            assert tracemalloc.get_traced_memory()[1] < 1.1 * MOST_UNPACKED_BYTES
        finally:
            tracemalloc.stop()


def test_gzip_in_a_folder_is_found_by_the_ending_that_it_packs(tmp_path):
    lines = "\n".join(json.dumps(GROUP | {"group": name}) for name in "ab")
    (tmp_path / "g.ndjson.gz").write_bytes(gzip.compress(lines.encode()))
    # A text without a column of groups is named after its file.
    columns = "\n".join(line[16:] for line in DESCRIBE.split("\n"))
    (tmp_path / "pay.txt.gz").write_bytes(gzip.compress(columns.encode()))
    (tmp_path / "notes.tar.gz").write_bytes(b"not looked at")
    groups = read_groups([str(tmp_path)])
    assert ([group.name for group in groups], groups.failures) == (["a", "b", "pay"], ())
    places = [found.place for found in find([str(tmp_path)])]
    assert places[:2] == [f"{tmp_path / 'g.ndjson.gz'}:1", f"{tmp_path / 'g.ndjson.gz'}:2"]


def test_what_is_found_keeps_every_group_apart(tmp_path):
    groups = [GROUP | {"group": name} for name in ("a", "<b>")]
    (tmp_path / "x.json").write_text("\n".join(map(json.dumps, groups)))
    shutil.copy(CAPTURES / "4.3.1" / "two-groups-describe.txt", tmp_path)
    found = list(find([str(tmp_path)]))
    assert len(found) == 4
    assert all(isinstance(one, Found) for one in found)
    assert [json.loads(one.text)["group"] for one in found][:2] == ["a", "<b>"]
    assert {one.source for one in found[2:]} == {str(tmp_path / "two-groups-describe.txt")}


def test_the_texts_of_one_folder_are_views_of_a_group_and_those_of_two_are_not(tmp_path):
    for night in ("monday", "tuesday"):
        (tmp_path / night).mkdir()
        for view in ("describe", "members-verbose"):
            shutil.copy(CAPTURES / "4.3.1" / f"coop-a-{view}.txt", tmp_path / night)
    groups = read_groups([str(tmp_path)])
    assert ([group.name for group in groups], groups.failures) == (["coop-a"] * 2, ())
    assert not any("idle" in line for group in groups for line in group.assumed)


def test_a_folder_that_vanishes_while_it_is_listed_spares_the_others(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    (tmp_path / "g.json").write_text(json.dumps(GROUP))
    scandir = os.scandir

    def vanishing(path):
        if str(path).endswith("gone"):
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", vanishing)
    assert len(read_groups(tmp_path)) == 1


def test_a_file_of_a_folder_that_cannot_be_read_spares_the_others(tmp_path):
    (tmp_path / "g.json").write_text(json.dumps(GROUP))
    (tmp_path / "u.json").symlink_to("/proc/self/mem")
    groups = read_groups([str(tmp_path)])
    (group,), (failure,) = groups, groups.failures
    assert (group.name, failure.source) == ("g", str(tmp_path / "u.json"))
    assert failure.reason == "cannot be read: Input/output error"
    with pytest.raises(BadInput, match="cannot be read: Input/output error"):
        read_groups([str(tmp_path / "u.json")])


def test_a_text_was_captured_when_its_file_was_written_and_of_several_the_latest_counts(tmp_path):
    early, late = tmp_path / "early.txt", tmp_path / "late.txt"
    early.write_text(DESCRIBE)
    late.write_text((CAPTURES / "4.3.1/coop-a-members-verbose.txt").read_text())
    os.utime(early, (1_000_000_000.9,) * 2)
    os.utime(late, (1_500_000_000,) * 2)
    assert only(early).captured_at == "2001-09-09T01:46:40Z"
    assert "captured_at: the time of the file" in only(early).assumed
    (both,) = read_groups([str(late), str(early)])
    assert both.captured_at == "2017-07-14T02:40:00Z"
    assert "captured_at: the time of the latest file" in both.assumed
    (shown,) = read_groups(["-"], standard_input=DESCRIBE.encode())
    assert "captured_at: when standard input was read" in shown.assumed
    assert abs(datetime.fromisoformat(shown.captured_at) - datetime.now(UTC)) < timedelta(hours=1)
    assert file_time(str(tmp_path / "missing.txt")) is None


def test_a_snapshot_keeps_its_own_time_or_has_none_and_a_failure_says_the_one_it_has(tmp_path):
    told = GROUP | {"captured_at": "2026-11-20T10:00:00Z"}
    lines = [GROUP, told, told | {"topics": 7}]
    (tmp_path / "g.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "r.txt").write_text("Consumer group 'r' is rebalancing.\n")
    os.utime(tmp_path / "r.txt", (0, 0))
    groups = read_groups([str(tmp_path)])
    assert [group.captured_at for group in groups] == [None, told["captured_at"]]
    assert [(failure.group, failure.captured_at) for failure in groups.failures] == [
        ("g", told["captured_at"]),
        ("r", "1970-01-01T00:00:00Z"),
    ]


def as_row(group: Group, captured_at: str | None) -> Group | BadRow:
    """Return the group of a row that another program wrote with a time of its own."""
    rows = batch_of([group])
    at = rows.schema.get_field_index("captured_at")
    (found,) = each_of(rows.set_column(at, rows.schema.field(at), pa.array([captured_at])))
    return found


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("2026-11-20T10:00:00Z", "2026-11-20T10:00:00Z"),
        ("2026-11-20T12:00:00+05:00", "2026-11-20T07:00:00Z"),
        ("2026-11-20 10:00:00.5-03:30", "2026-11-20T13:30:00Z"),
        ("20261120T080000.12Z", "2026-11-20T08:00:00Z"),
        ("20261120T1000Z", "2026-11-20T10:00:00Z"),
        ("2026-11-20T10:00:00", None),
        ("2026-11-20", None),
    ],
)
def test_times_are_kept_in_utc_so_that_the_latest_capture_is_the_latest(given, kept):
    """They were compared as texts: +05:00 came after Z, and fractions of a second before it."""
    group = Group.from_dict(GROUP | {"captured_at": given})
    for made in (group, replace(group, captured_at=given), as_row(group, given)):
        assert made.captured_at == (kept or given)
    if kept is not None:
        assert time_in_utc(given) == kept
        return
    # Where it is told, a time has a zone.
    with pytest.raises(BadInput, match="has no time zone: add Z for UTC, or an offset"):
        time_in_utc(given)


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ("yesterday", "expected a time as in 2026-11-20T10:00:00Z"),
        ("", "expected a time"),
        ("2026-13-01T00:00:00Z", "expected a time"),
        ("0001-01-01T00:00:00+14:00", "no time of the years 1 to 9999 in UTC"),
    ],
)
def test_a_time_that_is_none_is_refused_told_or_of_a_group(told, says):
    with pytest.raises(BadInput, match=says):
        time_in_utc(told)
    good = Group.from_dict(GROUP)
    bad = as_row(good, told)
    assert (bad.group, bad.captured_at) == (GROUP["group"], None)
    assert re.match(f"captured_at: .*{says}", bad.reason)
    for made in (
        lambda: replace(good, captured_at=told),
        lambda: Group.from_dict(GROUP | {"captured_at": told}),
    ):
        with pytest.raises(BadInput, match=f"captured_at: .*({says}|a non-empty string)"):
            made()


def test_a_path_by_itself_is_read_and_groups_go_by_name_too(tmp_path):
    orders = lopsided(2, 5).to_dict() | {"group": "orders"}
    for hour in (9, 10):
        at = f"2026-11-23T{hour:02}:00:00Z"
        (tmp_path / f"{hour}.json").write_text(json.dumps(orders | {"captured_at": at}))
    (tmp_path / "bad.json").write_text('{"format": "assay-group/1"}')
    for path in (tmp_path, str(tmp_path), [tmp_path], [str(tmp_path)]):
        groups = read_groups(path)
        assert repr(groups) == "Groups(2 groups, 1 failure)"
    assert groups["orders"].captured_at == "2026-11-23T10:00:00Z"
    assert groups[0] is groups[np.int64(0)] is next(iter(groups))
    assert ("orders" in groups, groups[0] in groups, "order" in groups) == (True, True, False)
    assert (len(groups[1:]), groups[1:].failures) == (1, groups.failures)
    with pytest.raises(KeyError, match="no group is named order; nearest: orders"):
        groups["order"]
    frame = groups.to_frame()
    assert frame["group"].tolist() == ["orders"] * 2
    assert frame.loc[0, ["members", "partitions", "most", "fewest"]].tolist() == [2, 5, 5, 0]
    assert frame["lag_records"].isna().all()
    assert groups._repr_html_().count("<tr>") == 2
    assert read_groups(tmp_path / "9.json")[:0].to_frame().empty
