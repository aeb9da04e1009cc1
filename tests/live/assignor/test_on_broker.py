"""Real consumers on a real broker, whose leader gives them the optimum."""

from __future__ import annotations

import glob
import re
import subprocess
import sys
import textwrap
from contextlib import ExitStack
from pathlib import Path

import pytest

from broker import Consumer, settle
from compare.judged import judge
from groups import Assignment, Group
from groups.tiers import values
from live.capture import capture
from live.connection import Connection
from optimal import solve
from tests.live.assignor import lag_aware

pytestmark = pytest.mark.broker

STILL = 0.6
TOPICS = {"even": 6, "odd": 5, "few": 1}
ASSIGNOR = {
    "kafka-python": "tests.live.assignor.patient:Optimal",
    "aiokafka": "tests.live.assignor.patient:AsyncOptimal",
}
EAGER = "tests.live.assignor.patient:Eager"
# The assignors of each member before, on the way, and in the end.
ROLLOUTS = {
    "kafka-python": (["range"], [EAGER, "range"], [ASSIGNOR["kafka-python"]]),
    "kafka-python cooperative": (
        ["cooperative-sticky"],
        [ASSIGNOR["kafka-python"], "cooperative-sticky"],
        [ASSIGNOR["kafka-python"]],
    ),
    "aiokafka": (["roundrobin"], [ASSIGNOR["aiokafka"], "roundrobin"], [ASSIGNOR["aiokafka"]]),
}


class Members:
    """Consumers of one group, and what they held when they last were settled."""

    def __init__(self, running: ExitStack, bootstrap: str, group: str) -> None:
        self._running, self._bootstrap, self._group = running, bootstrap, group
        self.alive: dict[str, Consumer] = {}
        self.topics: dict[str, list[str]] = {}
        self.held: dict[str, dict[str, list[int]]] = {}

    def start(self, client_id, kind, topics=tuple(TOPICS), assignor=None, **more) -> None:
        made = Consumer.start(
            kind,
            self._bootstrap,
            self._group,
            list(topics),
            client_id=client_id,
            assignor=assignor or ASSIGNOR[kind],
            **more,
        )
        self.alive[client_id] = self._running.enter_context(made)
        self.topics[client_id] = list(topics)

    def stop(self, client_id: str) -> None:
        self.alive.pop(client_id).stop()

    def kill(self, client_id: str) -> None:
        self.alive.pop(client_id).kill()

    def settled(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Wait; return balance and moves since the last time, and the least they could be."""
        held = dict(zip(self.alive, settle([*self.alive.values()], TOPICS, STILL), strict=True))
        members = {
            member: {"subscription": self.topics[member], "owned": self.held.get(member, {})}
            for member in self.alive
        }
        group = Group.from_dict(
            {"format": "assay-group/1", "group": "g", "topics": TOPICS, "members": members}
        )
        assignment = Assignment.from_dict(group, held)
        assignment.require_valid()
        self.held = held
        best = solve(group)
        found = values(assignment, best.objective)
        return found, tuple(term.value for term in best.terms)

    def logs(self) -> str:
        return "".join(one.log() for one in self.alive.values())


@pytest.fixture(scope="module")
def bootstrap(broker):
    for topic, partitions in TOPICS.items():
        broker.create_topic(topic, partitions)
    return broker.bootstrap


@pytest.fixture
def members(bootstrap, request):
    with ExitStack() as running:
        yield Members(running, bootstrap, request.node.name)


@pytest.mark.parametrize("kind", ["kafka-python", "both"])
def test_joins_leaves_and_kills_end_at_the_optimum(bootstrap, members, kind, request):
    kinds = [*ASSIGNOR] if kind == "both" else [kind] * 2
    for number, topics in enumerate((TOPICS, ["even", "odd"], ["odd", "few"])):
        missed = {"session_timeout_ms": 10_000} if number == 0 else {}
        members.start(f"c{number}", kinds[number % 2], topics, config=missed)
    found, best = members.settled()
    assert found == best
    members.start("c3", kinds[1])
    found, best = members.settled()
    assert found == best
    members.stop("c1")
    found, best = members.settled()
    assert found == best
    members.kill("c0")
    found, best = members.settled()
    assert found == best
    assert "no optimal assignment" not in members.logs()
    (captured,) = capture(Connection(bootstrap), [glob.escape(request.node.name)]).documents
    (judged,) = judge([Group.from_dict(captured.document)])
    assert (str(judged.verdict.says), judged.verdict.sure) == ("as good as can be", True)


def test_a_static_member_that_restarts_has_its_partitions_again(members):
    for name in ("c0", "c1"):
        members.start(name, "kafka-python", instance_id=f"i-{name}")
    members.settled()
    before = members.held
    for name in ("c0", "c1"):
        members.stop(name)
        members.start(name, "kafka-python", instance_id=f"i-{name}")
        members.settled()
        assert members.held == before


PAGE = Path(__file__).parents[3] / "docs/how-to/run-the-optimal-assignor.md"
RUN = {
    "kafka": "consumer.poll(5000); print(len(consumer.assignment())); consumer.close()",
    "aiokafka": (
        "await consumer.start(); await consumer.getone(); "
        "print(len(consumer.assignment())); await consumer.stop()"
    ),
}


@pytest.mark.parametrize("client", RUN)
def test_the_programs_of_the_page_run(broker, client):
    """Each makes a consumer: it gets all of a topic."""
    shown = re.findall(r"^```text\n(from .*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    (program,) = [text for text in shown if text.startswith(f"from {client} ")]
    broker.create_topic(f"orders-{client}", 2)
    broker.produce(f"orders-{client}", {0: 1})
    program = program.replace("127.0.0.1:9092", broker.bootstrap).replace(
        '"orders"', f'"orders-{client}", auto_offset_reset="earliest"'
    )
    program = program.replace("billing", f"billing-{client}")
    body = textwrap.indent(program + RUN[client], "    ")
    run = subprocess.run(
        [sys.executable, "-c", f"import asyncio\nasync def main():\n{body}\nasyncio.run(main())"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (run.returncode, run.stdout) == (0, "2\n"), run.stderr


def strategy(bootstrap: str, group: str) -> str:
    """Return the assignor of a group, as its coordinator says."""
    with Connection(bootstrap).admin() as admin:
        found = admin.describe_groups([group])[group]
    return str(found["protocol_data"])


@pytest.mark.parametrize("way", ROLLOUTS)
def test_two_rolling_restarts_change_the_assignor_of_a_group(bootstrap, members, way, request):
    kind = way.split()[0]
    old, both, new = ROLLOUTS[way]
    group, names = request.node.name, ["c0", "c1"]
    for name in names:
        members.start(name, kind, assignor=old)
    members.settled()
    used = []
    for listed in (both, new):
        for name in names:
            members.stop(name)
            members.start(name, kind, assignor=listed)
            found, best = members.settled()
            used.append(strategy(bootstrap, group))
            if used[-1] == "assay-optimal":
                assert found[0] == best[0]
    assert used == [old[0]] + ["assay-optimal"] * 3


def test_the_lag_aware_leader_spreads_what_is_not_committed_yet(broker, monkeypatch):
    """Two committed partitions and one without records; the rest lags."""
    kind, group, topic = "kafka-python", "lag-aware", "lagging"
    records = [90, 80, 40, 30, 70, 0]
    broker.create_topic(topic, len(records))
    broker.produce(topic, {n: count for n, count in enumerate(records) if count})
    monkeypatch.setenv(lag_aware.GROUP, group)
    monkeypatch.setenv(lag_aware.BOOTSTRAP, broker.bootstrap)
    told = {"assignor": "tests.live.assignor.lag_aware:LagAware", "commit": False}
    with ExitStack() as running:
        one = running.enter_context(Consumer.start(kind, broker.bootstrap, group, [topic], **told))
        settle([one], {topic: 6}, STILL)
        one.commit({topic: {0: 85, 4: 70}})
        lag = [5, 80, 40, 30, 0, 0]
        two = running.enter_context(Consumer.start(kind, broker.bootstrap, group, [topic], **told))
        held = settle([one, two], {topic: 6}, STILL)
        assert "lag is not known" not in one.log() + two.log()
    lags = [sum(lag[n] for n in each[topic]) for each in held]
    assert [len(each[topic]) for each in held] == [3, 3]
    assert sorted(lags) == [75, 80]
