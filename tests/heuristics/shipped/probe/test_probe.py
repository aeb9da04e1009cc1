import itertools
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time

import numpy as np
import pytest

from assay.commands.probe import score_client
from compare.samples.drawn import drawn
from groups import Assignment, BadInput, Failed, Refused
from heuristics import assign
from heuristics.shipped.consumers.consumer import LIBRDKAFKA
from heuristics.shipped.probe import Absent, Late, Probe, wire
from heuristics.shipped.probe.coordinator import Disconnected, Misread, TooSoon
from heuristics.shipped.probe.metadata import HOST
from heuristics.shipped.probe.names import OWN_TOPIC, SPARE_TOPICS
from heuristics.shipped.probe.probe import MOST_BYTES
from heuristics.shipped.probe.round import OwnTopicsOnly, Unread
from optimal import solve
from tests.assay.calling import assay
from tests.groups.importers.imported import CAPTURES
from tests.heuristics.shipped.probe.frames import (
    DEADLINE,
    HEADER,
    JOIN,
    METADATA,
    connected,
    exchange,
    frame,
    join_as,
    string,
    sync,
    sync_all,
)
from tests.optimal.small_groups import group_of
from tests.processes import until

VERSION = LIBRDKAFKA.versions()[0]
MISSING = LIBRDKAFKA.missing("range", VERSION)
pytestmark = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))


@pytest.fixture
def probe():
    with Probe() as listening:
        yield listening


def test_a_real_client_leads_one_group_after_the_other(probe, client):
    client(probe.bootstrap)
    for group in itertools.islice(drawn(11), 30):
        held, seconds = probe.plan(group, "range", timeout=DEADLINE)
        assert 0 < seconds < DEADLINE
        found = Assignment.from_holdings(group, sorted(held))
        assert found.to_dict() == assign(group, "range").to_dict()
    assert not probe.lines


def test_a_topic_that_does_not_exist_is_given_to_nobody(probe, client):
    client(probe.bootstrap)
    group = group_of({"t": 2}, {"a": ["t", "nowhere"], "b": ["t", "nowhere"]})
    assert group.absent_topics == ("nowhere",)
    held, _ = probe.plan(group, "range", timeout=DEADLINE)
    assert sorted(held) == [(0, "t", 0), (1, "t", 1)]


def test_the_broker_that_keeps_the_group_has_no_rack_and_each_rack_a_broker(probe):
    racks = {"t": {"partitions": 2, "racks": [["x"], ["y"]]}}
    group = group_of(racks, {"a": ["t"], "b": ["t"]})
    probe.offer(group, "range")
    answer = exchange(probe, METADATA)
    found = wire.types().MetadataResponse.decode(answer[4:], version=1, header=True)
    brokers = [(one.node_id, one.host, one.rack) for one in found.brokers]
    assert brokers == [(0, HOST, None), (1, HOST, "x"), (2, HOST, "y")]
    ports = [one.port for one in found.brokers]
    assert ports[0] == probe.port
    assert len(set(ports)) == 3
    leaders = {topic.name: [one.leader_id for one in topic.partitions] for topic in found.topics}
    spare = {name: [] for name in SPARE_TOPICS}
    assert leaders == {f"{1:015d}.t": [1, 2], OWN_TOPIC: [0], **spare}


def test_the_client_s_first_choice_is_taken_where_none_is_asked_for(probe, client, group):
    client(probe.bootstrap, "roundrobin,range")
    round_ = probe.offer(group)
    probe.wait(round_, DEADLINE)
    assert (round_.client_id, round_.chosen) == ("librdkafka", "roundrobin")


def test_a_client_that_stops_is_late_and_goes_on_with_the_next_group(probe, client, group):
    process = client(probe.bootstrap)
    probe.plan(group, "range", timeout=DEADLINE)
    process.send_signal(signal.SIGSTOP)
    # On a busy machine a process runs on for a while after the signal; wait until it is stopped.
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
    with pytest.raises((Late, Absent), match=r" within 0\.3 s$"):
        probe.plan(group, "range", timeout=0.3)
    process.send_signal(signal.SIGCONT)
    assert probe.plan(group, "range", timeout=DEADLINE)[0]


def test_a_client_that_joins_and_never_plans_is_late(probe, group):
    with connected(probe) as connection:
        connection.sendall(JOIN)
        with pytest.raises(Late, match=r"^no answer within 1 s$"):
            probe.plan(group, "range", timeout=1)


STRANGERS = frame(
    *(HEADER.pack(14, 0, 2), string("x"), string("g"), struct.pack(">i", 1)),
    *(string("a"), struct.pack(">i", 1), string("stranger"), struct.pack(">i", 0)),
)
SENT = {
    "it leaves": ([JOIN], Disconnected, "the client closed its connection before it sent"),
    "it only joins": ([JOIN] * 4, Failed, r"the client joined 3 times without sending a plan$"),
    "it only plans without metadata": (
        [JOIN, sync(1), JOIN, sync(2), JOIN, sync(3)],
        TooSoon,
        "the client planned 3 times before it had the metadata",
    ),
    "it sends what cannot be read": (
        [JOIN, frame(HEADER.pack(14, 3, 1), b"\x05\x00zzz")],
        Misread,
        "the probe cannot read what the client sent: API 14 in",
    ),
    "it plans for somebody else": (
        [JOIN, STRANGERS],
        Failed,
        "the plan is for 'stranger', who is no member",
    ),
    "it reads what no member does": (
        [join_as("u")],
        Unread,
        r"no member reads just what the client does: u$",
    ),
    "it reads too few spare topics": (
        [join_as(SPARE_TOPICS[4])],
        Unread,
        r"a reads 2 topics, the client 1$",
    ),
    "it deals out the probe's own topic": (
        [JOIN, sync_all(1, OWN_TOPIC)],
        OwnTopicsOnly,
        ".* it has to read assay-probe-01 to assay-probe-32, instead",
    ),
}


@pytest.mark.parametrize("case", SENT)
def test_why_there_is_no_plan_is_said_and_whose_doing_it_is(probe, group, case):
    sent, error, reason = SENT[case]
    round_ = probe.offer(group, "range")
    exchange(probe, *sent)
    probe.wait(round_, DEADLINE)
    with pytest.raises(error, match=f"^{reason}") as caught:
        round_.result()
    assert type(caught.value) is error


@pytest.mark.parametrize(
    ("sent", "plans"),
    [
        # If a plan came before the metadata, the probe asks for another plan, and takes that one.
        ([JOIN, sync(1), METADATA, JOIN, sync(2)], 2),
        # What it asks without waiting for it is no metadata.
        ([JOIN, sync(1), JOIN, METADATA, sync(2), JOIN, sync(3)], 3),
    ],
)
def test_the_first_plan_counts_that_was_made_on_metadata(probe, group, sent, plans):
    round_ = probe.offer(group, "range")
    exchange(probe, *sent)
    probe.wait(round_, DEADLINE)
    assert (round_.plans, round_.result()[0]) == (plans, [])


def test_a_client_of_another_name_leads_only_where_the_one_that_led_does_not_come_back(probe):
    group = group_of({"t": 1}, {"a": ["t"]})
    first = probe.offer(group, "range")
    with connected(probe) as led, connected(probe) as waits:
        led.sendall(JOIN + sync_all(1, f"{1:015d}.t"))
        probe.wait(first, DEADLINE)
        waits.sendall(join_as(OWN_TOPIC, client="other"))
        again = probe.offer(group, "range")
        led.sendall(JOIN + sync_all(2, f"{2:015d}.t"))
        probe.wait(again, DEADLINE)
        nobody = probe.offer(group, "range")
        with pytest.raises(Absent, match=r"^no client joined within 0\.3 s$"):
            probe.wait(nobody, 0, join=0.3)
        last = probe.offer(group, "range")
        until(lambda: last.client_id)
    assert [one.client_id for one in (first, again, nobody, last)] == ["x", "x", "", "other"]


def test_what_one_connection_was_told_does_not_make_the_plan_of_another_count(probe, group):
    round_ = probe.offer(group, "range")
    with connected(probe) as one, connected(probe) as two:
        one.sendall(JOIN + sync(1) + METADATA)
        until(lambda: round_.plans)
        one.close()
        two.sendall(JOIN + sync(2))
        until(lambda: round_.plans == 2)
        assert not round_.over.wait(0.2)


@pytest.mark.parametrize(
    ("members", "topics", "reason"),
    [
        ({}, {"t": 1}, r"^a group without members has no leader$"),
        (
            {"a": ["t"]},
            {"t": {"partitions": 65, "racks": [[f"r{i}"] for i in range(65)]}},
            r"^65 racks, more than the 64 that the probe stands for$",
        ),
    ],
)
def test_a_group_that_the_probe_cannot_put_before_a_client_is_refused(
    probe, members, topics, reason
):
    group = group_of(topics, members)
    with pytest.raises(Refused, match=reason):
        probe.offer(group)
    row = score_client(probe, group, solve(group), "range", timeout=DEADLINE)
    assert (row.assignor, row.status) == ("client/range", "refused")
    assert re.search(reason, row.reason)


def test_the_seconds_of_a_plan_do_not_lose_what_was_held_back_from_a_client_that_went_on(probe):
    group = group_of({"t": 1}, {"a": ["t"]})
    round_ = probe.offer(group, "range")
    with connected(probe) as client:
        client.sendall(JOIN + sync(1) + JOIN)
        time.sleep(0.1)
        client.sendall(METADATA)
        time.sleep(0.3)
        client.sendall(sync_all(2, f"{1:015d}.t"))
        probe.wait(round_, DEADLINE)
    assert round_.plans == 2
    assert round_.seconds > 0.3


def test_a_client_that_reads_topics_of_the_group_leads_as_the_member_that_reads_them(probe, group):
    round_ = probe.offer(group, "range")
    assert b"consumer" not in exchange(probe, join_as("t"))
    assert (round_.me, list(round_.topics)) == ("b", ["t", "u"])


def test_a_client_that_reads_spare_topics_finds_those_of_the_first_member_among_them(probe):
    read = ["s", "u"]
    group = group_of({"s": 3, "t": 2, "u": 1}, {"a": read, "b": ["t"]})
    round_ = probe.offer(group, "range")
    exchange(probe, join_as(*SPARE_TOPICS))
    answer = exchange(probe, METADATA)
    found = wire.types().MetadataResponse.decode(answer[4:], version=1, header=True)
    counts = {topic.name: len(topic.partitions) for topic in found.topics}
    among, other = SPARE_TOPICS[:2], f"{SPARE_TOPICS[0]}.{1:015d}.1"
    assert {name: count for name, count in counts.items() if count} == {
        among[0]: 3, other: 2, among[1]: 1, OWN_TOPIC: 1,
    }  # fmt: skip
    assert (round_.me, list(round_.topics)) == ("a", [among[0], other, among[1]])


@pytest.mark.parametrize(("own", "version"), [(-1, 0), (0, 0), (1, 1), (2, 2), (3, 3), (9, 3)])
def test_members_subscribe_in_the_version_of_the_client_and_nothing_of_a_later_one_follows(
    probe, group, own, version
):
    probe.offer(group, "range")
    answer = exchange(probe, join_as(OWN_TOPIC, version=own))
    joined = wire.types().JoinGroupResponse.decode(answer[4:], version=0, header=True)
    for told in (bytes(member.metadata) for member in joined.members):
        read = wire.types().ConsumerProtocolSubscription.decode(told)
        assert (read.version, bytes(read.encode())) == (version, told)


def test_who_asks_to_join_a_dismissed_probe_is_told_that_it_may_not(probe):
    probe.dismiss(0)
    answer = exchange(probe, JOIN)
    assert struct.unpack_from(">h", answer, 8) == (30,)


def test_a_group_that_the_protocol_has_no_room_for_is_refused_and_the_next_is_planned(
    probe, client, group
):
    client(probe.bootstrap, "cooperative-sticky")
    far = group_of({"t": 1}, {"a": ["t"]}, {"a": {"t": [1 << 40]}}, generation=1)
    with pytest.raises(Refused, match=r"^the group cannot be put on the wire: "):
        probe.plan(far, timeout=DEADLINE)
    assert probe.plan(group, timeout=DEADLINE)[0]


def test_a_port_that_is_taken_is_bad_input(probe):
    with (
        pytest.raises(BadInput, match=rf"^probe: 127\.0\.0\.1:{probe.port}: "),
        Probe(port=probe.port),
    ):
        pass


MALFORMED = {
    "a huge length": (b"\x7f\xff\xff\xff", rf"a request of 2147483647 bytes, .* {MOST_BYTES}$"),
    "a negative length": (b"\xff\xff\xff\xff", r"a request of -1 bytes"),
    "web": (b"GET / HTTP/1.1\r\n\r\n", r"a request of 1195725856 bytes"),
    "nothing": (frame(b"\0\0"), r"2 bytes, too few for a request$"),
    "half a frame": (frame(bytes(100))[:50], r"ended inside a request, after 50 bytes$"),
    "another API": (frame(HEADER.pack(22, 0, 1)), r"asks for API 22, which the probe does"),
    "a later version": (frame(HEADER.pack(11, 9, 1)), r"API 11 in version 9, expected 0 to 5"),
    "garbage": (frame(HEADER.pack(11, 5, 1), b"\x05\x00zzzzz"), r"API 11 in version 5 cannot"),
    "no protocols": (
        frame(HEADER.pack(11, 1, 1), b"\xff" * 20),
        r"API 11 in version 1: ValueError: no assignors$",
    ),
    "an array of billions": (
        frame(HEADER.pack(9, 1, 1), string("x"), string("g"), b"\x7f\xff\xff\xff"),
        r"API 9 in version 1 cannot be read",
    ),
}


def test_malformed_bytes_end_that_session_with_one_line(probe, client, group):
    client(probe.bootstrap)
    for case, (sent, line) in MALFORMED.items():
        probe.plan(group, "range", timeout=DEADLINE)
        assert exchange(probe, sent) == b"", case
        until(lambda: probe.lines)
        found = probe.lines.popleft()
        assert not probe.lines, case
        assert "\n" not in found, case
        assert re.search(line, found), case
    assert probe.plan(group, "range", timeout=DEADLINE)[0]


def test_random_garbage_never_ends_the_run(probe, client, group):
    rng = np.random.default_rng(1)
    client(probe.bootstrap)
    for _ in range(200):
        key = int(rng.choice([1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 18]))
        header = HEADER.pack(key, int(rng.integers(0, 6)), 1)
        exchange(probe, frame(header, rng.bytes(int(rng.integers(0, 200)))))
    assert all("\n" not in line for line in probe.lines)
    assert probe.plan(group, "range", timeout=DEADLINE)[0]


def assay_probe(*args, **options):
    command = [sys.executable, "-c", "from assay.cli import main; main()", "probe", *args]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, **options)


@pytest.mark.clients
def test_the_command_scores_whatever_client_connects(client, tmp_path):
    groups = list(itertools.islice(drawn(5), 3))
    file = tmp_path / "groups.jsonl"
    file.write_text("".join(json.dumps(group.to_dict()) + "\n" for group in groups))
    with assay_probe(str(file), "--timeout", str(DEADLINE), "--format", "json") as command:
        bootstrap = command.stderr.readline().strip().removeprefix("bootstrap.servers=")
        client(bootstrap, "roundrobin,range")
        out, err = command.communicate(timeout=60)
    assert command.returncode == 0, err
    found = [json.loads(line) for line in out.splitlines()]
    assert [one["group"] for one in found] == [group.name for group in groups]
    rows = [row for one in found for row in one["scores"]]
    assert {(row["assignor"], row["status"]) for row in rows} == {
        ("librdkafka/roundrobin", "scored")
    }


@pytest.mark.clients
def test_the_command_ends_with_a_summary_of_all_groups_on_the_port_it_is_given(client):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with assay_probe("--port", str(port), "--timeout", str(DEADLINE)) as command:
        assert command.stderr.readline() == f"bootstrap.servers=127.0.0.1:{port}\n"
        process = client(f"127.0.0.1:{port}")
        until(lambda: command.poll() is not None or process.poll() is not None)
        process.kill()
        out, err = command.communicate(timeout=60)
    assert command.returncode == 0, err
    (line,) = [line for line in out.splitlines() if line.startswith("librdkafka/range  10 of 10")]
    assert line.split()[4] == "10"


def test_the_command_says_in_one_line_that_nobody_came():
    run = assay("probe", "--timeout", "0.1")
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.splitlines()[-1] == "assay: seed-1-1: no client joined within 0.1 s"
    text = CAPTURES / "4.3.1" / "coop-a-describe.txt"
    run = assay("probe", text, "--assume-equal", "--timeout", "0.1")
    assert run.stderr.splitlines()[-1] == "assay: coop-a: no client joined within 0.1 s"


@pytest.mark.clients
def test_the_command_ends_on_an_interrupt():
    with assay_probe() as command:
        assert command.stderr.readline().startswith("bootstrap.servers=127.0.0.1:")
        command.send_signal(signal.SIGINT)
        _, err = command.communicate(timeout=60)
    assert command.returncode == 130
    assert err.splitlines()[-1] == "assay: interrupted"
