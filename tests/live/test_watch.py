import gzip
import json
import os
from pathlib import Path

import pytest

from assay.commands.cluster import ConnectionOptions
from assay.commands.watch import Watched, news_line, watch
from assay.signals import Ended
from compare.judged import judge
from groups import Group
from groups.documents.assay_group import of_mapping
from groups.errors import BadInput, Failure
from groups.files import read_groups
from groups.importers import Imported
from groups.unknown import settled
from live.capture import Captured
from live.watch import Look, Series
from tests.assay.calling import EVEN, LOPSIDED
from tests.compare.conftest import holding
from tests.live.connection.listening import closed_port

AT = "2026-11-20T10:00:00Z"


def series(folder: Path, keep: int | None = None) -> Series:
    made = Series(folder / "new" / "series", keep)
    made.prepare()
    return made


def documents(*given) -> list[Imported]:
    return [Imported(of_mapping(one), ("there",)) for one in given]


def test_a_capture_is_a_file_that_other_commands_read(tmp_path):
    made = series(tmp_path)
    assert made.add(AT, documents(LOPSIDED, EVEN)) < 1000
    (file,) = made.folder.iterdir()
    assert file.name == "2026-11-20T10-00-00Z.jsonl.gz"
    groups = read_groups([str(made.folder)])
    assert ([group.name for group in groups], groups.failures) == (["orders", "even"], ())


def test_what_is_half_written_is_never_under_a_name_that_is_read(tmp_path, monkeypatch):
    made = series(tmp_path)
    seen = []

    def crash(number):
        seen.extend(path.name for path in made.folder.iterdir())
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", crash)
    with pytest.raises(BadInput, match=r"Z\.jsonl\.gz: cannot be written: No space left"):
        made.add(AT, documents(EVEN))
    assert seen == [f".{os.getpid()}.unfinished"]
    assert [*made.folder.iterdir()] == []


def test_captures_of_one_second_are_two_files(tmp_path):
    made = series(tmp_path)
    for group in (EVEN, LOPSIDED):
        made.add(AT, documents(group))
    read = [json.loads(gzip.decompress(path.read_bytes()))["group"] for path in made.files()]
    assert sorted(read) == ["even", "orders"]


def test_no_more_captures_stay_than_are_kept_and_other_files_all(tmp_path):
    made = series(tmp_path, keep=2)
    (made.folder / "notes.txt").write_text("mine")
    (made.folder / "2026-01-01.jsonl.gz").write_text("mine")
    for second in range(5):
        made.add(f"2026-11-20T10:00:0{second}Z", documents(EVEN))
    assert sorted(path.name for path in made.folder.iterdir()) == [
        "2026-01-01.jsonl.gz",
        "2026-11-20T10-00-03Z.jsonl.gz",
        "2026-11-20T10-00-04Z.jsonl.gz",
        "notes.txt",
    ]


def judged(*given):
    return judge([Group.from_dict(one) for one in given])


def news(before, now, **names):
    return news_line({one.group.name: one for one in before}, now, **names)


def test_the_first_line_counts_verdicts():
    assert news([], judged(LOPSIDED, EVEN)) == "2 groups: 1 improvable, 1 as good as can be"
    assert news([], []) == "no group to judge"
    held = {"a": [0, 1], "b": [2, 3]}
    lagging = EVEN | {
        "group": "late",
        "topics": {"t": {"partitions": 4, "lag": [90, 80, 1, 1]}},
        "members": {m: {"subscription": ["t"], "owned": {"t": held[m]}} for m in held},
    }
    assert news([], judged(EVEN, lagging)) == (
        "2 groups: 1 even, lag could fall, 1 as good as can be"
    )


def test_a_line_says_who_came_and_went_what_moved_and_what_the_verdict_was():
    members = {
        "c0-x": {"subscription": ["t0", "t1"], "owned": {"t0": [0, 1]}, "client_id": "c0"},
        "c2-x": {"subscription": ["t1"], "owned": {"t1": [0, 1, 2]}, "client_id": "c2"},
    }
    before = judged(LOPSIDED, EVEN)
    after = judged(LOPSIDED | {"members": members}, EVEN)
    assert news(before, after) == (
        "orders: c0 and c2 joined, c0 and c1 left, 5 partitions moved, "
        "as good as can be (before: improvable by moving 2)"
    )
    assert news(before, before) == "no change in 2 groups"


def test_a_group_on_the_way_to_its_target_is_said_to_be():
    target = {"c0": {"t0": [0, 1], "t1": [0]}, "c1": {"t1": [1, 2]}}
    members = {m: said | {"target": target[m]} for m, said in LOPSIDED["members"].items()}
    moving = judge([settled(Group.from_dict(LOPSIDED | {"members": members}))])
    under_way = "a rebalance is under way"
    assert news(judged(EVEN), [*judged(EVEN), *moving]) == (
        f"orders: new, 2 members, as good as can be, {under_way}"
    )
    # Long on the way, no capture says that all is as before, and nothing has moved yet.
    assert news([], moving) == f"1 group: 1 as good as can be; {under_way}: orders"
    assert news(moving, moving) == f"no change in 1 group; {under_way}: orders"
    assert news(judged(LOPSIDED), moving).startswith("orders: 2 partitions moving, as good as")


def test_a_line_says_which_partitions_are_new_and_gone():
    """A watch said that nothing changed when a topic was deleted, or got more partitions."""

    def held(*topics: tuple[str, int]):
        owned = {topic: [*range(count)] for topic, count in topics}
        members = {"a": {"subscription": [*owned], "owned": owned}}
        return judged(EVEN | {"topics": dict(topics), "members": members})

    before, more = held(("t", 4), ("u", 2)), held(("t", 5), ("u", 2))
    assert news(before, more) == "even: 1 partition new (t)"
    assert news(more, held(("t", 5))) == "even: 2 partitions gone (u)"
    # Of a group without members and commits no topic is known: none is gone or new.
    empty = judged(EVEN | {"topics": {}, "members": {}})
    assert news(before, empty) == "even: a left, no members (before: as good as can be)"
    assert news(empty, before) == "even: a joined, as good as can be (before: no members)"


def test_a_line_says_which_groups_are_new_gone_or_missed():
    two, one = judged(LOPSIDED, EVEN), judged(EVEN)
    assert news(one, two) == "orders: new, 2 members, improvable by moving 2"
    assert news(two, one) == "orders: gone"
    assert news(two, one, failing=["orders"]) == "not captured: orders"
    assert news(two, one, failing=["orders"], missed=["orders"]) == "no change in 1 group"
    assert news(two, one, unjudged=["orders"]) == "not judged: orders"
    assert news([], [], unjudged=["orders", "even"]) == "not judged: even, orders"
    assert news([], [], unjudged=["even"], missed=["even"]) == "no group to judge"


def test_a_lag_that_gets_unknown_is_told_with_the_verdict():
    """A verdict got better, as watch had it, when a partition lost its leader."""

    def late(lag: int | None):
        held = {"a": [0, 1], "b": [2, 3]}
        return judged(holding([lag, 80, 1, 1], held, group="late"))

    lost = "as good as can be, lag of 1 partition unknown"
    assert news(late(90), late(None)) == f"late: {lost} (before: even, lag could fall)"
    assert news(late(None), late(90)) == f"late: even, lag could fall (before: {lost})"


def test_more_records_where_nobody_reads_are_no_news_and_another_such_partition_is():
    """A watch printed a line for each capture, for as long as a partition had no owner."""

    def left(lag: int, held: list[int]):
        return judged(holding([lag, 5, 5], {"a": [], "b": held}, group="left"))

    assert news(left(10, [1, 2]), left(90, [1, 2])) == "no change in 1 group"
    assert news(left(10, [1, 2]), left(90, [1])) == (
        "left: not valid, 2 partitions have no owner: t-0, t-2; 95 records wait there "
        "(before: not valid, 1 partition has no owner: t-0; 10 records wait there)"
    )


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """Give a function that watches a cluster of unchanging groups, and returns the series."""

    def run(*given, **options) -> Series:
        at = [Look(f"2026-11-20T10:00:0{i}Z", Captured(tuple(documents(*given)))) for i in (0, 1)]
        monkeypatch.setattr("assay.commands.watch.looks", lambda *_, **__: iter(at))
        folder = str(tmp_path / "series")
        watch(closed_port(), out=folder, options=ConnectionOptions(), **options)

    return run


def test_a_group_without_what_a_tier_needs_is_named_and_the_others_are_watched(
    watched, tmp_path, capsys
):
    with_lag = LOPSIDED | {
        "topics": {"t0": {"partitions": 2, "lag": [5, 5]}, "t1": {"partitions": 3, "lag": [1] * 3}}
    }
    watched(with_lag, EVEN, objective="peak_lag")
    out, err = capsys.readouterr()
    assert [line.split(" ", 1)[1] for line in out.splitlines()] == [
        "1 group: 1 improvable",
        "no change in 1 group",
    ]
    assert err.count("0Z even: topics.t.lag[0]: unknown, but tier peak_lag needs it") == 1
    groups = read_groups([str(tmp_path / "series")])
    assert [group.name for group in groups] == ["orders", "even"] * 2


def test_a_group_whose_broker_lists_nothing_is_missed_and_not_gone(capsys):
    watched = Watched(("balance", "moves"), None, None, quiet=False)
    why = Failure("there", "there", "broker 2: no answer: groups there are not listed", None)
    for found in (
        Captured(tuple(documents(EVEN, LOPSIDED))),
        Captured(tuple(documents(EVEN)), (why,), is_partial=True),
        Captured(tuple(documents(EVEN)), (why,), is_partial=True),
        Captured(tuple(documents(EVEN, LOPSIDED))),
        Captured(tuple(documents(EVEN))),
    ):
        watched.take_in(Look(AT, found))
    assert [line.split(" ", 1)[1] for line in capsys.readouterr().out.splitlines()] == [
        "2 groups: 1 improvable, 1 as good as can be",
        "not captured: orders",
        "no change in 1 group",
        "no change in 2 groups",
        "orders: gone",
    ]


def test_a_quiet_watch_says_only_what_changes(watched, capsys):
    watched(EVEN, quiet=True)
    out, _ = capsys.readouterr()
    assert out == "2026-11-20T10:00:00Z 1 group: 1 as good as can be\n"


def test_a_capture_is_kept_when_judging_it_is_interrupted(watched, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("assay.commands.watch.judge", interrupted)
    with pytest.raises(Ended, match="what was captured is kept"):
        watched(EVEN)
    groups = read_groups([str(tmp_path / "series")])
    assert ([group.name for group in groups], groups.failures) == (["even"], ())


def test_a_line_says_why_an_assignment_is_not_valid():
    members = {"c0": {"subscription": ["t0", "t1"], "owned": {"t0": [0, 1], "t1": [2]}}}
    (left,) = judged(LOPSIDED | {"members": members})
    assert news([], [left]) == "1 group: 1 not valid"
    assert news(judged(EVEN), [left], failing=["even"], missed=["even"]) == (
        "orders: new, 1 member, not valid, 2 partitions have no owner: t1-0, t1-1"
    )
