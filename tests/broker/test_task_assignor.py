"""The assignor of streams tasks, called from its jar, beside the one in a real broker."""

import re
import time
from contextlib import ExitStack

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from broker import Broker
from broker.streams import StreamsProcess
from compare.promises.task_promises import TASK_PROMISES, Placement
from groups.documents.assay_streams import StreamsDocument, StreamsMember, Subtopology, Tasks, held
from heuristics.shipped.task_assignor import (
    HIGH_AVAILABILITY,
    TaskAssignor,
    TaskLimit,
    until_rest,
)

VERSION = "4.4.0"
TASK = re.compile(r"(\d+):\[([\d,]+)\]")
ROLE = re.compile(r"TARGET-(ACTIVE|STANDBY): ((?:\d+:\[[\d,]+\]; ?)+)")


def captured(broker: Broker, stateless: int) -> StreamsDocument:
    """Return the streams group as the console tool prints it: its members and target tasks."""
    asked = ("--describe", "--group", "shop", "--members", "--verbose")
    rows = broker.tool("streams-groups", *asked).stdout.splitlines()[1:]
    members = {}
    for row in filter(None, rows):
        cells = row.split(maxsplit=8)
        roles = {
            role.lower(): {s: [*map(int, n.split(","))] for s, n in TASK.findall(tasks)}
            for role, tasks in ROLE.findall(cells[8] if len(cells) > 8 else "")
        }
        members[cells[3]] = StreamsMember(process=cells[6], tasks=Tasks(), target=Tasks(**roles))
    return StreamsDocument(
        format="assay-streams/1",
        group="shop",
        standby_replicas=1,
        subtopologies={"0": Subtopology(stateless, False), "1": Subtopology(4, True)},
        members=members,
    )


def settled(broker: Broker, members: int, stateless: int) -> StreamsDocument:
    for _ in range(60):
        said = broker.tool("streams-groups", "--describe", "--group", "shop", "--state").stdout
        if re.search(rf"Stable +{members}$", said, re.MULTILINE):
            return captured(broker, stateless)
        time.sleep(0.3)
    raise TimeoutError(said)


@pytest.mark.broker
def test_a_broker_gives_the_tasks_that_its_assignor_gives_when_it_is_called_from_its_jar():
    """A process leaves; what the broker then plans is what the call plans."""
    stateless = 2
    with Broker.start(VERSION) as broker, ExitStack() as running:
        broker.create_topic("orders", stateless)
        broker.produce("orders", {0: 20, 1: 20})
        name = ("--entity-type", "groups", "--entity-name", "shop")
        setting = ("--add-config", "streams.num.standby.replicas=1")
        broker.tool("configs", "--alter", *name, *setting)

        def started() -> StreamsProcess:
            process = StreamsProcess(broker.bootstrap, "shop", threads=1, version=VERSION)
            return running.enter_context(process)

        first, *_ = [started() for _ in range(3)]
        before = settled(broker, 3, stateless)
        first.stop()
        after = settled(broker, 2, stateless)
    left = {name: one for name, one in before.members.items() if name in after.members}
    asked = replace(before, members=left)
    with TaskLimit(TaskAssignor(VERSION)) as limit:
        (planned,) = limit.plans([asked])
    told = {m: replace(s, tasks=held(s), target=UNSET) for m, s in after.members.items()}
    assert planned == replace(after, members=told)
    assert TASK_PROMISES["valid"].judge(Placement(asked), Placement(after)).holds


THREAD = re.compile(
    r"^shop +(\S+) +\S+ +shop-(\S{36})-StreamThread-\d+-consumer +\d+ +- +(\S+)", re.M
)


@pytest.mark.broker
def test_a_classic_application_has_the_tasks_that_the_call_of_its_assignor_comes_to():
    """Processes of one, one and two threads: which tasks they have, and which each thread."""
    with Broker.start(VERSION) as broker, ExitStack() as running:
        broker.create_topic("orders", 6)
        broker.produce("orders", {p: 20 for p in range(6)})
        for threads in (1, 1, 2):
            started = StreamsProcess(
                broker.bootstrap, "shop", threads=threads, protocol="classic", version=VERSION
            )
            running.enter_context(started)
        had: dict[str, Tasks] = {}
        processes: dict[str, str] = {}
        for _ in range(90):
            time.sleep(0.5)
            said = broker.tool(
                *("consumer-groups", "--describe", "--group", "shop", "--members", "--verbose")
            ).stdout
            rows = THREAD.findall(said)
            now = {
                member: Tasks(
                    active={
                        subtopology: [int(number) for number in numbers.split(",")]
                        for topic, numbers in (one.split(":") for one in assigned.split(";"))
                        for subtopology in ("0" if topic == "orders" else "1",)
                    }
                )
                for member, _, assigned in rows
                if assigned != "-"
            }
            tasks = sum(len(n) for one in now.values() for n in one.active.values())
            if len(rows) == 4 and tasks == 10 and now == had:
                break
            had, processes = now, {member: process for member, process, _ in rows}
        else:
            raise TimeoutError(said)
    group = StreamsDocument(
        format="assay-streams/1",
        group="shop",
        standby_replicas=0,
        subtopologies={"0": Subtopology(6, False), "1": Subtopology(4, True)},
        members={m: StreamsMember(process=processes[m], tasks=one) for m, one in had.items()},
    )
    empty = {m: replace(one, tasks=Tasks()) for m, one in group.members.items()}
    with TaskLimit(TaskAssignor(VERSION, HIGH_AVAILABILITY)) as limit:
        (course,) = until_rest(limit.plans, [replace(group, members=empty)])
        stays = limit.plans([group])

    def by_process(of: StreamsDocument) -> dict[tuple[str, str], list[int]]:
        found: dict[tuple[str, str], list[int]] = {}
        for one in of.members.values():
            for subtopology, numbers in one.tasks.active.items():
                found.setdefault((one.process, subtopology), []).extend(numbers)
        return {key: sorted(numbers) for key, numbers in found.items()}

    assert by_process(course[-1]) == by_process(group)
    assert stays == [group]
