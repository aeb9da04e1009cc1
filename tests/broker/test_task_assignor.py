"""The assignor of streams tasks, called from its jar, beside the one in a real broker."""

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
from live.capture import capture
from live.connection import Connection
from tests.processes import until

VERSION = "4.4.0"


def settled(broker: Broker, members: int) -> StreamsDocument:
    """Return the streams group once it has so many members: the tasks that each is to have."""

    def at_rest() -> StreamsDocument | None:
        for one in capture(Connection(broker.bootstrap), ["shop"], lag=False).documents:
            if len(one.snapshot.members) == members and not one.group().with_target().assumed:
                return one.snapshot
        return None

    found = until(at_rest)
    return StreamsDocument(
        format=found.format,
        group=found.group,
        standby_replicas=found.standby_replicas,
        subtopologies={
            name: Subtopology(one.tasks, one.stateful) for name, one in found.subtopologies.items()
        },
        members={
            name: StreamsMember(process=one.process, tasks=Tasks(), target=held(one))
            for name, one in found.members.items()
        },
    )


@pytest.mark.broker
def test_a_broker_gives_the_tasks_that_its_assignor_gives_when_it_is_called_from_its_jar():
    """A process leaves; what the broker then plans is what the call plans."""
    with Broker.start(VERSION) as broker, ExitStack() as running:
        broker.create_topic("orders", 2)
        broker.produce("orders", {0: 20, 1: 20})
        name = ("--entity-type", "groups", "--entity-name", "shop")
        setting = ("--add-config", "streams.num.standby.replicas=1")
        broker.tool("configs", "--alter", *name, *setting)

        def started() -> StreamsProcess:
            process = StreamsProcess(broker.bootstrap, "shop", threads=1, version=VERSION)
            return running.enter_context(process)

        first, *_ = [started() for _ in range(3)]
        before = settled(broker, 3)
        first.stop()
        after = settled(broker, 2)
    left = {name: one for name, one in before.members.items() if name in after.members}
    asked = replace(before, members=left)
    with TaskLimit(TaskAssignor(VERSION)) as limit:
        (planned,) = limit.plans([asked])
    told = {m: replace(s, tasks=held(s), target=UNSET) for m, s in after.members.items()}
    assert planned == replace(after, members=told)
    assert TASK_PROMISES["valid"].judge(Placement(asked), Placement(after)).holds


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
        had: dict[str, StreamsMember] = {}

        def at_rest() -> bool:
            nonlocal had
            time.sleep(0.5)
            before, had = had, {}
            for one in capture(Connection(broker.bootstrap), ["shop"], lag=False).documents:
                for name, said in one.document["members"].items():
                    active = {"0" if t == "orders" else "1": n for t, n in said["owned"].items()}
                    process = said["host"].removeprefix("shop-")
                    had[name] = StreamsMember(process=process, tasks=Tasks(active=active))
            tasks = sum(len(n) for one in had.values() for n in one.tasks.active.values())
            return len(had) == 4 and tasks == 10 and had == before

        until(at_rest)
    group = StreamsDocument(
        format="assay-streams/1",
        group="shop",
        standby_replicas=0,
        subtopologies={"0": Subtopology(6, False), "1": Subtopology(4, True)},
        members=had,
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
