"""Real consumers on a real broker, whose leader gives them the optimum."""

from __future__ import annotations

import glob
import os
import re
import signal
import textwrap
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from broker import BROKER_RELEASE, Broker, Consumer, settle
from compare.judged import judge
from groups import BadInput, Group
from heuristics.shipped.java.jars import OWN, compile_java, noted
from live.capture import capture
from live.connection import Connection
from studies.on_a_cluster.stage import Flow
from tests.broker.members import STILL, Members
from tests.live.assignor import lag_aware, test_never_returns
from tests.processes import in_python

pytestmark = pytest.mark.broker

TOPICS = {"even": 6, "odd": 5, "few": 1}
ASSIGNOR = {
    "kafka-python": "tests.live.assignor.patient:Optimal",
    "aiokafka": "tests.live.assignor.patient:AsyncOptimal",
    "java": "assay.consumer.CooperativeOptimalAssignor",
}
EAGER = "tests.live.assignor.patient:Eager"
# The assignors that each member lists before, during and after the rollout.
ROLLOUTS = {
    "kafka-python": (["range"], [EAGER, "range"], [ASSIGNOR["kafka-python"]]),
    "kafka-python cooperative": (
        ["cooperative-sticky"],
        [ASSIGNOR["kafka-python"], "cooperative-sticky"],
        [ASSIGNOR["kafka-python"]],
    ),
    "aiokafka": (["roundrobin"], [ASSIGNOR["aiokafka"], "roundrobin"], [ASSIGNOR["aiokafka"]]),
    "java": (
        ["cooperative-sticky"],
        [ASSIGNOR["java"], "cooperative-sticky"],
        [ASSIGNOR["java"]],
    ),
    "java back": (
        [ASSIGNOR["java"]],
        ["cooperative-sticky", ASSIGNOR["java"]],
        ["cooperative-sticky"],
    ),
}
# So long a record may wait on a busy machine where no rebalance holds its consumer up, and no
# session has to end: that takes twice as long, and more.
READ_ON_SECONDS = 5.0
REBALANCE_SECONDS = 10.0
# A busy machine stalls members for seconds; a long session keeps them in the group.
PATIENT = {"session.timeout.ms": 30_000}
PATIENT_IN_PYTHON = {"session_timeout_ms": 30_000}


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    """The assignors of the jar that `make jar` builds."""
    folder = tmp_path_factory.mktemp("assignors")
    sources = [path for room in ("optimal", "consumer") for path in (OWN / room).glob("*.java")]
    assert compile_java(sources, noted("kafka_2.13", BROKER_RELEASE), folder) is None
    return folder


@pytest.fixture(scope="module")
def bootstrap(broker):
    for topic, partitions in TOPICS.items():
        broker.create_topic(topic, partitions)
    return broker.bootstrap


@pytest.fixture(scope="module")
def flow(bootstrap):
    """A producer that keeps writing records to every partition."""
    with Flow(bootstrap, TOPICS, rate=10) as running:
        yield running


@pytest.fixture
def members(bootstrap, classes, request):
    with ExitStack() as running:
        yield Members(running, bootstrap, request.node.name, TOPICS, ASSIGNOR, classes=[classes])


KINDS = {
    "kafka-python": ["kafka-python"] * 4,
    "all": ["java", "kafka-python", "aiokafka", "java"],
}


@pytest.mark.parametrize("kind", KINDS)
def test_joins_leaves_and_kills_end_at_the_optimum(bootstrap, members, kind, request):
    kinds = KINDS[kind]
    patient = {one: PATIENT if one == "java" else PATIENT_IN_PYTHON for one in kinds}
    # The one that is killed is missed after 6 or 10 s.
    missed = {} if kinds[0] == "java" else {"session_timeout_ms": 10_000}
    for number, topics in enumerate((TOPICS, ["even", "odd"], ["odd", "few"])):
        config = patient[kinds[number]] if number else missed
        members.start(f"c{number}", kinds[number], topics, config=config)
    members.require_best()
    members.start("c3", kinds[3], config=patient[kinds[3]])
    members.require_best()
    members.stop("c1")
    members.require_best()
    members.kill("c0")
    members.require_best()
    assert "no optimal assignment" not in members.logs()
    (captured,) = capture(Connection(bootstrap), [glob.escape(request.node.name)]).documents
    (judged,) = judge([Group.from_dict(captured.document)])
    assert (str(judged.verdict.says), judged.verdict.sure) == ("as good as can be", True)


def test_a_static_member_that_restarts_has_its_partitions_again(members):
    kinds = {"c0": ("kafka-python", PATIENT_IN_PYTHON), "c1": ("java", PATIENT)}
    for name, (kind, config) in kinds.items():
        members.start(name, kind, instance_id=f"i-{name}", config=config)
    members.settled()
    before = members.held
    for name, (kind, config) in kinds.items():
        members.stop(name)
        members.start(name, kind, instance_id=f"i-{name}", config=config)
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
    run = in_python("-c", f"import asyncio\nasync def main():\n{body}\nasyncio.run(main())")
    assert (run.returncode, run.stdout) == (0, "2\n"), run.stderr


def strategy(bootstrap: str, group: str) -> str:
    """Return the assignor of a group, from its coordinator."""
    with Connection(bootstrap).admin() as admin:
        found = admin.describe_groups([group])[group]
    return str(found["protocol_data"])


@pytest.mark.parametrize("way", ROLLOUTS)
@pytest.mark.usefixtures("flow")
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
            members.waits()
            members.stop(name)
            members.start(name, kind, assignor=listed)
            found, best = members.settled()
            used.append(strategy(bootstrap, group))
            if used[-1] == "assay-optimal":
                assert found[0] == best[0]
            if kind == "java":
                waits = members.waits()
                assert len(waits) == sum(TOPICS.values())
                assert max(waits.values()) < READ_ON_SECONDS
    first, last = ("assay-optimal" if "." in one[0] else one[0] for one in (old, new))
    assert used == [first] + [last] * 3


@pytest.mark.usefixtures("flow")
def test_a_java_consumer_reads_on_while_a_rebalance_waits_for_another(bootstrap, members, request):
    group = request.node.name
    for name in ("c0", "c1"):
        members.start(name, "java", config=PATIENT)
    members.settled()
    before = members.held["c0"]
    members.waits()
    os.kill(members.alive["c1"].pid, signal.SIGSTOP)
    members.start("c2", "java", config=PATIENT)
    with Connection(bootstrap).admin() as admin:
        while admin.describe_groups([group])[group]["group_state"] != "PreparingRebalance":
            time.sleep(0.1)
    time.sleep(REBALANCE_SECONDS)
    os.kill(members.alive["c1"].pid, signal.SIGCONT)
    members.require_best()
    held, waits = members.held["c0"], members.waits()
    stays = [(t, n) for t in before for n in before[t] if n in held.get(t, ())]
    assert len(stays) == 4
    assert max(waits[partition] for partition in stays) < READ_ON_SECONDS


@pytest.fixture(scope="module")
def older(classes):
    """A broker of an older release, and members of one group on it."""
    try:
        started = Broker.start("3.9.2")
    except BadInput as reason:
        pytest.skip(str(reason))
    with started, ExitStack() as running:
        topics = test_never_returns.TOPICS
        at = (running, started.bootstrap, "older")
        yield started, Members(*at, topics, ASSIGNOR, classes=[classes])


def test_java_consumers_of_an_older_release_survive_the_join_that_never_returns(older):
    """Kafka's sticky assignors never return when the last of these members joins the others."""
    broker, members = older
    for topic, partitions in members.partitions.items():
        broker.create_topic(topic, partitions)
    *first, last = test_never_returns.READS
    alike = {"release": "3.9.2", "config": PATIENT}
    for name in first:
        members.start(name, "java", test_never_returns.READS[name], **alike)
    members.settled()
    members.start(last, "java", test_never_returns.READS[last], **alike)
    found, best = members.settled()
    assert found == best
    assert found[1] > 0
    members.stop(first[0])
    members.require_best()


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
