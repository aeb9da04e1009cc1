"""What a capture says while brokers and consumers fail: true of its moment, or a reason."""

import gc
import time
from contextlib import ExitStack
from threading import Event, Thread

import pytest

from broker import Broker, Consumer, settle
from groups import BadInput
from live.capture import capture
from live.connection import Connection

pytestmark = pytest.mark.broker
TOPICS = {"t": 6}
STILL = 0.5
SESSION_MS = 2000
# A crashed broker stays registered for its session, 9 s by default.
SOON_BACK = {"broker.session.timeout.ms": "3000", "broker.heartbeat.interval.ms": "500"}
KINDS = ("confluent", "confluent-kip-848")
PASSING = ("is rebalancing", "changed while it was read")


@pytest.fixture(scope="module")
def own():
    """A broker that tests may stop or harm."""
    session = {"group.consumer.session.timeout.ms": str(SESSION_MS)}
    with Broker.start(properties=SOON_BACK | session) as broker:
        broker.create_topic("t", TOPICS["t"])
        broker.produce("t", {0: 10, 1: 20})
        yield broker


def started(broker, running, kind, group, count):
    session = {"session.timeout.ms": SESSION_MS} if kind == "confluent" else {}
    return [
        running.enter_context(
            Consumer.start(
                *(kind, broker.bootstrap, group, [*TOPICS]),
                client_id=f"c{number}",
                config=session,
                commit=False,
            )
        )
        for number in range(count)
    ]


def owned_in(captured):
    assert captured.failures == ()
    (one,) = captured.documents
    return {told["client_id"]: told["owned"] for told in one.document["members"].values()}


def held_by(consumers):
    return {consumer.client_id: consumer.assigned() for consumer in consumers}


class Captures:
    """Captures in a loop in a thread; `had` lists what each returned or raised."""

    def __init__(self, connection, group):
        self.connection, self.group = connection, group
        self.had = []
        self._enough = Event()
        self._thread = Thread(target=self._go_on)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._enough.set()
        self._thread.join()

    def _go_on(self):
        while not self._enough.is_set():
            try:
                self.had.append(capture(self.connection, [self.group], patience_seconds=0.0))
            except BadInput as error:
                self.had.append(error)


@pytest.mark.parametrize("kind", KINDS)
def test_while_members_come_and_go_each_capture_is_of_one_assignment_or_has_a_reason(own, kind):
    group = f"moving-{kind}"
    with ExitStack() as running:
        stays = started(own, running, kind, group, 2)
        seen = [settle(stays, TOPICS, STILL)]
        with Captures(Connection(own.bootstrap), group) as captures:
            for _ in range(2):
                (goes,) = started(own, running, kind, group, 1)
                seen.append(settle([*stays, goes], TOPICS, STILL))
                goes.stop()
                seen.append(settle(stays, TOPICS, STILL))
        assert owned_in(capture(captures.connection, [group])) == held_by(stays)
    had = captures.had
    reasons = [failure.reason for one in had for failure in one.failures]
    assert [reason for reason in reasons if not any(why in reason for why in PASSING)] == []
    documents = [each.document for one in had for each in one.documents]
    assert len(documents) > len(seen)
    for document in documents:
        held = [n for told in document["members"].values() for n in told["owned"].get("t", [])]
        assert len(held) == len(set(held))
        if kind == "confluent":
            # In a stable classic group each partition has an owner.
            assert sorted(held) == list(range(TOPICS["t"]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_member_that_was_killed_holds_its_partitions_until_its_session_has_run_out(own, kind):
    group = f"killed-{kind}"
    with ExitStack() as running:
        both = started(own, running, kind, group, 2)
        before = dict(zip(("c0", "c1"), settle(both, TOPICS, STILL), strict=True))
        both[1].kill()
        connection = Connection(own.bootstrap)
        assert owned_in(capture(connection, [group])) == before
        settle(both[:1], TOPICS, STILL)
        assert owned_in(capture(connection, [group])) == {"c0": {"t": [0, 1, 2, 3, 4, 5]}}


def test_a_broker_that_stands_still_costs_a_line_after_the_time_that_was_allowed(own):
    with ExitStack() as running:
        both = started(own, running, "confluent", "still", 2)
        settle(both, TOPICS, STILL)
        before = owned_in(capture(Connection(own.bootstrap), ["still"]))
        own.pause()
        running.callback(own.resume)
        with pytest.raises(BadInput, match=f"^{own.bootstrap}: ") as reason:
            capture(Connection(own.bootstrap, timeout=1.0), ["still"])
        assert "\n" not in str(reason.value)
        own.resume()
        settle(both, TOPICS, STILL)
        assert owned_in(capture(Connection(own.bootstrap), ["still"])).keys() == before.keys()


# kafka-python leaves the socket of a connection that was refused to the garbage collection.
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
def test_a_broker_that_crashes_while_a_capture_runs_leaves_no_half_of_a_group(own):
    with ExitStack() as running:
        both = started(own, running, "confluent", "crashed", 2)
        settle(both, TOPICS, STILL)
        both[0].commit({"t": {n: 7 for n in both[0].assigned()["t"]}})
        whole = capture(Connection(own.bootstrap), ["crashed"]).documents[0].document
        with Captures(Connection(own.bootstrap, timeout=2.0), "crashed") as captures:
            time.sleep(0.5)
            own.crash()
            time.sleep(1.0)
        had = captures.had
        own.restart()
        settle(both, TOPICS, STILL)
        after = capture(Connection(own.bootstrap), ["crashed"]).documents[0].document
    errors = [str(one) for one in had if isinstance(one, BadInput)]
    assert errors
    assert [error for error in errors if not error.startswith(own.bootstrap)] == []
    assert [error for error in errors if "\n" in error] == []
    for one in had:
        if not isinstance(one, BadInput):
            assert [
                each.document | {"captured_at": whole["captured_at"]} for each in one.documents
            ] in ([whole], [])
            assert bool(one.documents) != bool(one.failures)
    assert after["topics"] == whole["topics"]
    gc.collect()
