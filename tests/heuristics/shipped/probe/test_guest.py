import pickle
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import pytest

from compare.promises.hunt import hunt
from compare.samples.drawn import drawn
from groups import BadInput
from heuristics import assign, assignor_named
from heuristics.assignor import Assignor, Unavailable, attempt
from heuristics.shipped.consumers.consumer import LIBRDKAFKA
from heuristics.shipped.probe import Probe, probed
from heuristics.shipped.probe.guest import Door, Guest, OpenDoor
from heuristics.shipped.probe.names import OWN_TOPIC
from heuristics.time_limit import TimeLimit
from tests.heuristics.shipped.probe.frames import DEADLINE, JOIN, connected, exchange, join_as
from tests.optimal.small_groups import group_of
from tests.processes import until

MISSING = LIBRDKAFKA.missing("range", LIBRDKAFKA.versions()[0])
pytestmark = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
GROUP = group_of({"t": 3, "u": 2}, {"a": ["t", "u"], "b": ["t"]}, {"a": {"t": [0]}})


@pytest.fixture
def joined(client):
    """Give a guest, its probe, its process and the lines that it printed."""
    lines = []
    with Probe() as probe:
        process = client(probe.bootstrap)
        guest = Guest(probe, None, seconds=DEADLINE, wait=DEADLINE, say=lines.append)
        yield guest, probe, process, lines


@pytest.mark.clients
def test_a_client_that_joins_is_an_assignor_under_its_own_name(joined):
    guest, *_ = joined
    assert assignor_named(guest.assignor).name == guest.name == "librdkafka/range"
    with TimeLimit(DEADLINE) as limit:
        for group in islice(drawn(11), 10):
            outcome = limit.plan(group, guest.assignor)
            assert outcome.plan.assignment.to_dict() == assign(group, "range").to_dict()


def test_a_client_that_is_killed_is_waited_for_again(joined, client):
    guest, probe, process, lines = joined
    process.kill()
    process.wait()
    again = threading.Timer(0.2, client, [probe.bootstrap])
    again.start()
    assert guest.plan(GROUP).assignment.to_dict() == assign(GROUP, "range").to_dict()
    again.join()
    assert guest.gone is None
    assert not lines or "waiting for a client" in lines[0]


def test_a_client_that_never_comes_back_makes_all_that_follow_unavailable(joined):
    guest, _, process, _ = joined
    process.kill()
    process.wait()
    guest.wait = 0.2
    for _ in range(2):
        with pytest.raises(Unavailable, match=r"^no client joined within 0\.2 s$"):
            guest.plan(GROUP)
    assert attempt(guest.plan, GROUP).status == "unavailable"
    found = hunt(guest.assignor, "answers", exhaustive=False, groups=20)
    assert (found.tried, found.tested, found.broken) == (20, 0, 0)


def met(pool, probe, **times):
    """Return a guest that has joined and left."""
    meeting = pool.submit(Guest, probe, None, **times)
    while not meeting.done():
        exchange(probe, JOIN)
    return meeting.result()


def late(probe, is_over):
    """Join, and send no plan until the deadline has passed."""
    with connected(probe) as connection:
        connection.sendall(JOIN)
        until(is_over)


def away(probe, is_over):
    """Join, and close the connection as soon as the probe has answered."""
    with connected(probe) as connection:
        connection.sendall(JOIN)
        assert connection.recv(1 << 16)
    until(is_over)


DOES = {"late": late, "away": away}
LATE, AWAY = "no answer within 0.3 s", "the client closed its connection before"


@pytest.mark.clients
@pytest.mark.parametrize(
    ("happens", "status", "reason"),
    [
        (["late", "late"], "timed-out", rf"^{LATE}, twice$"),
        (["away", "away"], "failed", rf"^{AWAY} it sent a plan, twice$"),
        (["late", "away", "late"], "timed-out", rf"^{LATE}, twice$"),
        (["away", "late", "away"], "failed", rf"^{AWAY} it sent a plan, twice$"),
        (["late"], "unavailable", r"^no client joined within 1 s$"),
        (["away"], "unavailable", r"^no client joined within 1 s$"),
        (["late", "away"], "unavailable", r"^no client joined within 1 s$"),
    ],
)
def test_only_what_happens_twice_on_a_group_counts(happens, status, reason):
    lines = []
    with Probe() as probe, ThreadPoolExecutor(1) as pool:
        guest = met(pool, probe, seconds=DEADLINE, wait=DEADLINE, say=lines.append)
        guest.seconds, guest.wait = 0.3, 1.0 if status == "unavailable" else DEADLINE
        planning = pool.submit(attempt, guest.plan, GROUP)
        for number, one in enumerate(happens):
            DOES[one](probe, lambda number=number: len(lines) > number or planning.done())
        outcome = planning.result()
    assert outcome.status == status
    assert re.search(reason, outcome.reason)
    assert lines[0].endswith("; waiting for a client to ask again")


@pytest.mark.parametrize("listed", ["range", "roundrobin"])
def test_what_another_client_does_is_not_said_to_be_the_guest_s_doing(listed):
    with Probe() as probe, ThreadPoolExecutor(1) as pool:
        guest = met(pool, probe, seconds=DEADLINE, wait=DEADLINE, say=str)
        planning = pool.submit(attempt, guest.plan, GROUP)
        while not planning.done():
            exchange(probe, join_as(OWN_TOPIC, client="other", assignor=listed))
        outcome = planning.result()
    assert (outcome.status, outcome.reason) == (
        "unavailable", "another client joined in its place: other/range",
    )  # fmt: skip
    assert guest.gone == outcome.reason


def test_a_client_that_does_not_list_the_assignor_is_bad_input(client):
    with Probe() as probe:
        client(probe.bootstrap)
        with pytest.raises(BadInput, match=r"^probe: the client does not list sticky, but range$"):
            Guest(probe, "sticky", seconds=DEADLINE, wait=DEADLINE, say=str)


def test_nobody_who_joins_is_bad_input():
    with (
        pytest.raises(BadInput, match=r"^probe: no client joined within 0\.1 s$"),
        probed(wait=0.1, say=str),
    ):
        pass


@pytest.mark.clients
def test_a_door_closes_right_after_an_answer_whoever_listens_by_then():
    def asked_once():
        for _ in range(60):
            with OpenDoor(
                Assignor("a/range", "probed", "", None, assignor_named("range"))
            ) as door:
                door.assignor(GROUP)

    closing = threading.Thread(target=asked_once, daemon=True)
    closing.start()
    closing.join(DEADLINE)
    assert not closing.is_alive()


def test_another_process_asks_a_guest_through_a_door(joined):
    guest, *_ = joined
    with OpenDoor(guest.assignor) as door:
        asked = pickle.loads(pickle.dumps(door.assignor))
        assert asked.name == guest.name
        assert asked(GROUP).assignment.to_dict() == assign(GROUP, "range").to_dict()
        wrong = Door(door.door.port, b"another key")
        with pytest.raises(Unavailable, match=r"^the probe is not there, or not on this machine$"):
            wrong.plan(GROUP)
        assert asked(GROUP).assignment.to_dict() == assign(GROUP, "range").to_dict()
    assert attempt(asked.function, GROUP).status == "unavailable"
