"""What is measured of a course that was played on a cluster."""

import json

from broker import Read
from studies.on_a_cluster import effects as on_a_cluster
from studies.on_a_cluster.course import COURSES
from studies.on_a_cluster.effects import effects
from studies.on_a_cluster.play import Hang, Look, Played

STICKY = COURSES[0]
EVERYBODY = frozenset(STICKY.joining.reads)


def look(at, state, members=EVERYBODY, behind=0):
    return Look(at, state, frozenset(members), behind, {})


def read(at, first, last, waited=0.1, topic="t0", partition=0):
    return "m1", Read(at, topic, partition, first, last, waited)


def played(**told):
    seen = {
        "looks": [look(0, "Stable", EVERYBODY - {"m2"}), look(1, "Stable")],
        "reads": [read(1, 0, 9)],
        "written": {("t0", 0): [n / 10 for n in range(500)], ("t1", 3): [0.0]},
    }
    return effects(Played(STICKY, **{**seen, **told}))


def test_what_was_written_before_the_last_member_was_started_counts_as_read():
    found = played(before={("t0", 0): 8}, reads=[read(1, 0, 9, 1.0)])
    assert found["records_read_twice"] == 8
    assert found["without_a_reader_seconds"]["longest"] == 0.2


def test_each_state_has_the_seconds_until_another_one_was_seen():
    looks = [
        look(0, "Stable", EVERYBODY - {"m2"}),
        look(2, "CompletingRebalance"),
        look(3, "CompletingRebalance", behind=7),
        look(47, "Stable", EVERYBODY - {"m0"}),
        look(50, "Stable", EVERYBODY - {"m0"}),
    ]
    found = played(looks=looks)
    assert found["states"] == [("CompletingRebalance", 45), ("Stable", 3)]
    assert found["records_behind"] == {"most": 7, "at_the_end": 0}
    assert found["members_at_the_end"] == ["m1", "m2", "m3", "m4"]


def test_a_record_that_is_handed_over_again_counts_as_read_twice():
    reads = [read(1, 0, 9), read(2, 10, 19), read(3, 5, 24), read(4, 25, 25)]
    assert played(reads=reads)["records_read_twice"] == 15


def test_a_partition_is_without_a_reader_as_long_as_a_record_of_it_waits_or_nobody_reads_it():
    reads = [read(1, 0, 9, 0.2), read(50, 5, 400, 45.54), read(1, 0, 0, 0.1, "t1", 3)]
    found = played(reads=reads, unread={("t1", 3): 49.0})
    assert found["without_a_reader_seconds"] == {
        "longest": 49.0,
        "partitions": 2,
        "longer_than_10_seconds": 2,
    }
    assert found["unread_at_the_end"] == ["t1-3"]


def test_a_hang_is_told_from_when_the_poll_began_to_when_the_group_goes_on():
    hang = Hang("m0", 2.0, 17, left=47.06, busy_share=0.996, watched=372.06)
    hang.ended = False
    assert played(hangs=[hang])["hangs"] == [
        {
            "member": "m0",
            "began_seconds": 2.0,
            "out_of_the_group_after_seconds": 45.1,
            "killed_and_started_again_after_seconds": None,
            "share_of_time_computing": 1.0,
            "has_not_returned_after_seconds": 372.1,
            "ends_when_asked": False,
        }
    ]


def test_a_course_that_was_played_beside_another_leaves_what_that_one_has_measured(
    tmp_path, monkeypatch
):
    data = tmp_path / "data.json"
    data.write_text('{"courses": []}')
    monkeypatch.setattr(on_a_cluster, "DATA", data)
    names = [course.name for course in COURSES[-2:]]
    for name in reversed(names):
        on_a_cluster.keep({name: {**played(), "course": name}})
    kept = json.loads(data.read_text(encoding="utf-8"))["courses"]
    assert [each["course"] for each in kept] == names
