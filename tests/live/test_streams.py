"""A real Kafka Streams application: captured live, by the console tool, and as the client says."""

import re
from contextlib import ExitStack

import pytest

from broker import Broker, StreamsProcess
from compare.judged import judge
from compare.streams import tasks_of
from groups import BadInput
from groups.importers import import_each
from live.capture import capture
from live.connection import Connection
from tests.assay.calling import assay
from tests.processes import until

pytestmark = pytest.mark.broker
AT_ONCE = {
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.streams.min.heartbeat.interval.ms": "200",
    "group.streams.heartbeat.interval.ms": "200",
    "group.initial.rebalance.delay.ms": "0",
}
PROCESSES = [
    *[("shop", "streams", 2)] * 2,
    *[("old", "classic", threads) for threads in (1, 2)],
]


def without_lag(document):
    """Return the parts of a document that the console tool and the broker both tell."""
    members = {
        name: {key: one[key] for key in ("process", "tasks", "target", "epoch", "client_id")}
        for name, one in document["members"].items()
    }
    sizes = {name: one["tasks"] for name, one in document["subtopologies"].items()}
    return members, sizes


@pytest.fixture(scope="module")
def broker():
    """A broker that assigns tasks to threads at once.

    On it run two processes of two threads each with a standby of each task that keeps state, and
    an application of the classic protocol.
    """
    with ExitStack() as running:
        try:
            broker = running.enter_context(Broker.start(properties=AT_ONCE))
            broker.create_topic("orders", 6)
            broker.produce("orders", dict.fromkeys(range(6), 20))
            to = ("--entity-type", "groups", "--entity-name", "shop")
            setting = ("--add-config", "streams.num.standby.replicas=1")
            broker.tool("configs", "--alter", *to, *setting)
            for group, protocol, threads in PROCESSES:
                one = StreamsProcess(broker.bootstrap, group, protocol=protocol, threads=threads)
                running.enter_context(one)
        except BadInput as reason:
            pytest.skip(str(reason))
        yield broker


def captured(broker, name, members):
    """Return the captured group once it has so many members, and all hold their targets."""

    def at_rest():
        for one in capture(Connection(broker.bootstrap), [name], patience_seconds=1).documents:
            if len(one.snapshot.members) == members and not one.group().with_target().assumed:
                return one
        return None

    return until(at_rest)


def test_a_capture_is_what_the_console_tool_prints_and_says_state_standbys_and_lag_besides(
    broker,
):
    def caught_up():
        live = captured(broker, "shop", 4)
        parts = live.document["subtopologies"].values()
        return live if all(lag == 0 for one in parts for lag in one["lag"]) else None

    live = until(caught_up)
    tool = broker.tool("streams-groups", "--describe", "--group", "shop", "--members", "--verbose")
    ((printed,), failures) = import_each([("members", tool.stdout.encode())])
    assert failures == []
    assert without_lag(live.document) == without_lag(printed.document)
    told = live.document["subtopologies"]
    assert [(one["tasks"], one["stateful"]) for one in told.values()] == [(6, False), (4, True)]
    assert live.document["standby_replicas"] == 1
    tasks = tasks_of(live.snapshot)
    assert (tasks.standbys, tasks.misplaced, tasks.missing, tasks.unknown) == (4, (), (), ())
    (judged,) = judge([live.group()])
    assert judged.verdict.says == "as good as can be"
    assert len(judged.group.places("host").names) == 2


def test_a_thread_more_is_a_member_more(broker):
    with StreamsProcess(broker.bootstrap, "shop", threads=1):
        group = captured(broker, "shop", 5).group()
    assert sorted(group.owned.tolist()) == [2, 2, 2, 2, 2]
    assert len(group.places("host").names) == 3


def test_a_classic_application_is_captured_as_threads_of_processes(broker):
    def started():
        for one in capture(Connection(broker.bootstrap), ["old"]).documents:
            if len(one.group().members) == 3 and (one.group().owned > 0).all():
                return one.group()
        return None

    group = until(started)
    assert group.of_streams
    assert len(group.places("host").names) == 2
    assert any("which tasks keep state are not known" in line for line in group.assumed)


def test_a_watch_of_streams_groups_names_a_next_command_that_reads_them(broker, tmp_path):
    captured(broker, "shop", 4)
    to = ("--bootstrap-server", broker.bootstrap)
    run = assay("watch", *to, "--group", "shop", "--times", "1", "-o", "series", cwd=tmp_path)
    found = re.search(r"1 capture in series; next: assay (.*)", run.stderr)
    assert found is not None, run.stderr
    named = found[1]
    assert assay(*named.split(), "-o", "page.html", cwd=tmp_path).returncode == 0
    assert "shop" in (tmp_path / "page.html").read_text()


def test_a_group_that_nobody_runs_any_more_is_captured_without_members(broker):
    with StreamsProcess(broker.bootstrap, "till", threads=1) as only:
        captured(broker, "till", 1)
        only.stop()

    def without_members() -> bool:
        found = capture(Connection(broker.bootstrap), ["till"]).documents
        return [len(one.group().members) for one in found] == [0]

    assert until(without_members)
