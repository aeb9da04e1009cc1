"""Classic: the task assignors in Kafka Streams' client (classic protocol), called as they ship.

The leader of a group assigns tasks to processes with one of them, then the tasks of each process
to its threads with ``StreamsPartitionAssignor.assignTasksToThreads``. Both are called here.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache, cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import NAMESPACE_OID, UUID, uuid5

from msgspec import UNSET

from groups.documents.assay_group import pairs
from groups.documents.assay_streams import Tasks, held
from heuristics.shipped.java.java_client import RELEASES, JavaClient
from heuristics.shipped.java.jvm import java_util, loader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from groups.documents.assay_group import Partitions
    from groups.documents.assay_streams import StreamsDocument

# The classes have had these names since KIP-924.
KAFKA_STREAMS = JavaClient(
    name="kafka-streams",
    source="Kafka Streams of the classic protocol, org.apache.kafka:kafka-streams, in a JVM",
    assignors={
        "high-availability": "internals.assignment.HighAvailabilityTaskAssignor",
        "classic-sticky": "assignment.assignors.StickyTaskAssignor",
    },
    artifact="kafka-streams",
    package="org.apache.kafka.streams.processor",
    caller="ClientGroup",
    listed=RELEASES[:1],
    oldest="3.8.0",
    owned=lambda group: group.claims,
)
# The defaults of Kafka Streams.
ACCEPTABLE_RECOVERY_LAG, MAX_WARMUP_REPLICAS, PROBING_REBALANCE_MS = 10_000, 2, 600_000
# End offset of each changelog: more than ACCEPTABLE_RECOVERY_LAG, the lag without a copy.
END_OFFSET = 1_000_000
Task: TypeAlias = tuple[str, int]


@cache
def classes(version: str) -> SimpleNamespace:
    """Return the classes of a release, by their short names; starts the JVM."""
    loaded = loader(KAFKA_STREAMS.artifact, version, KAFKA_STREAMS.caller)
    import jpype

    # StreamsConfig loads the classes that it names with the thread's context class loader.
    thread = jpype.JClass("java.lang.Thread").currentThread()
    before = thread.getContextClassLoader()
    thread.setContextClassLoader(loaded)
    jpype.JClass("java.lang.Class").forName("org.apache.kafka.streams.StreamsConfig", True, loaded)
    thread.setContextClassLoader(before)
    rooms = {
        "streams.processor.assignment.": ("ApplicationState", "AssignmentConfigs", "ProcessId"),
        "streams.processor.internals.": ("StreamsPartitionAssignor", "Task"),
        "streams.processor.internals.assignment.": (
            *("ClientState", "DefaultKafkaStreamsState", "DefaultTaskInfo"),
            *("DefaultTaskTopicPartition", "RackAwareTaskAssignor"),
        ),
        "streams.processor.": ("TaskId", *KAFKA_STREAMS.assignors.values()),
        "common.": ("TopicPartition", "utils.Time"),
    }
    found = {
        name.rpartition(".")[2]: jpype.JClass(f"org.apache.kafka.{room}{name}", loader=loaded)
        for room, names in rooms.items()
        for name in names
    }
    util = java_util()
    taken = (util.Collection, jpype.JBoolean, util.SortedSet, found["ClientState"], util.Map)
    deal = found["StreamsPartitionAssignor"].class_.getDeclaredMethod(
        "assignTasksToThreads", *(one.class_ for one in taken)
    )
    # The method is package-private, for Kafka's tests.
    deal.setAccessible(True)
    return SimpleNamespace(**found, util=util, deal=deal)


class Rebalance:
    """One rebalance: what the members of a group sent to its leader, as Kafka's objects.

    A process that has a task (active, standby or warm-up) is taken to have lag 0 for it; every
    other process lags by all of its changelog.

    Parameters
    ----------
    version : release of Kafka Streams
    warmups : ``max.warmup.replicas``
    """

    def __init__(self, group: StreamsDocument, version: str, warmups: int) -> None:
        self._group, self._java = group, classes(version)
        java = self._java
        names = sorted(group.subtopologies, key=lambda name: (len(name), name))
        self._ids = {
            (name, number): java.TaskId(at, number)
            for at, name in enumerate(names)
            for number in range(group.subtopologies[name].tasks)
        }
        self._task_of = {str(said): task for task, said in self._ids.items()}
        self._partitions = {task: java.TopicPartition(*task) for task in self._ids}
        self._stateful = {task for task in self._ids if group.subtopologies[task[0]].stateful}
        self._threads: dict[str, list[str]] = defaultdict(list)
        for name, member in sorted(group.members.items()):
            self._threads[member.process].append(name)
        self._processes = {
            process: java.ProcessId(java.util.UUID.fromString(str(_uuid(process))))
            for process in self._threads
        }
        self._states = {process: self._state(process) for process in self._threads}
        default = java.util.OptionalInt.empty()
        self._configs = java.AssignmentConfigs(
            *(ACCEPTABLE_RECOVERY_LAG, warmups, group.standby_replicas),
            *(PROBING_REBALANCE_MS, java.util.ArrayList(group.rack_aware_tags)),
            *(default, default, "none"),
        )

    def assigned(self, assignor: str) -> dict[str, Tasks]:
        """Return the tasks that an assignor gives each member, with its warm-ups.

        The assignor returns warm-ups among the standbys: if a task has more standbys than
        ``num.standby.replicas``, those with most lag, then the last by process name, count as
        warm-ups.

        Raises
        ------
        jpype.JException
            Where the assignor throws.
        """
        name = KAFKA_STREAMS.assignors[assignor].rpartition(".")[2]
        called = getattr(self._java, name)()
        (self._by_states if assignor == "high-availability" else self._by_application)(called)
        return {m: tasks for process in self._threads for m, tasks in self._by_thread(process)}

    def _by_states(self, assignor: Any) -> None:
        """Call an assignor that fills the states of the processes (``LegacyTaskAssignor``)."""
        util, nothing = self._java.util, hash_map(())
        racks = self._java.RackAwareTaskAssignor(
            *(None, nothing, nothing, nothing, None, None, self._configs, self._java.Time.SYSTEM)
        )
        states = hash_map((self._processes[p], state) for p, state in self._states.items())
        stateful = util.HashSet([self._ids[task] for task in self._stateful])
        tasks = util.HashSet([*self._ids.values()])
        assignor.assign(states, tasks, stateful, racks, self._configs)

    def _by_application(self, assignor: Any) -> None:
        """Call an assignor on an ``ApplicationState`` (KIP-924)."""
        import jpype

        java, util, empty = self._java, self._java.util, self._java.util.Optional.empty()
        processes = hash_map(
            (
                process,
                java.DefaultKafkaStreamsState(
                    *(process, state.capacity(), state.clientTags(), state.previousActiveTasks()),
                    *(state.previousStandbyTasks(), state.taskIdsByPreviousConsumer(), empty),
                    *(util.Optional.of(state.taskLagTotals()), empty),
                ),
            )
            for process, state in ((self._processes[p], one) for p, one in self._states.items())
        )
        tasks = util.HashMap()
        for task, said in self._ids.items():
            keeps = task in self._stateful
            # A stateful task has a changelog. It has no racks, so rack-aware code is not used.
            part = java.DefaultTaskTopicPartition(self._partitions[task], not keeps, keeps, None)
            tasks.put(said, java.DefaultTaskInfo(said, keeps, util.Set.of(), util.Set.of(part)))
        asked = {
            "kafkaStreamsStates": lambda _: processes,
            "assignmentConfigs": lambda: self._configs,
            "allTasks": lambda: tasks,
        }
        made = assignor.assign(jpype.JProxy(java.ApplicationState, dict=asked)).assignment()
        assigned = {str(one.processId()): one for one in made}
        for process, state in self._states.items():
            state.setAssignedTasks(assigned[str(self._processes[process])])

    def _state(self, process: str) -> Any:
        """Return a process's ``ClientState``: the previous tasks of its threads, and its lags."""
        import jpype

        said = [(name, self._group.members[name]) for name in self._threads[process]]
        tags = said[0][1].tags
        told = () if tags is UNSET else tags.items()
        state = self._java.ClientState(self._processes[process], hash_map(told))
        for name, member in said:
            tasks = held(member)
            active = pairs(tasks.active)
            offsets = dict.fromkeys(pairs(tasks.warmup) + pairs(tasks.standby), END_OFFSET)
            offsets |= dict.fromkeys(active, int(self._java.Task.LATEST_OFFSET))
            state.incrementCapacity()
            partitions = self._java.util.ArrayList([self._partitions[task] for task in active])
            state.addOwnedPartitions(partitions, name)
            state.addPreviousTasksAndOffsetSums(
                name,
                hash_map(
                    (self._ids[task], jpype.JLong(offset))
                    for task, offset in offsets.items()
                    if task in self._stateful
                ),
            )
        tasks_of = ((self._partitions[task], one) for task, one in self._ids.items())
        state.initializePrevTasks(hash_map(tasks_of), False)
        ends = ((self._ids[task], jpype.JLong(END_OFFSET)) for task in self._stateful)
        state.computeTaskLags(self._processes[process], hash_map(ends))
        return state

    def _by_thread(self, process: str) -> Iterator[tuple[str, Tasks]]:
        """Yield each thread of a process with its tasks; kinds of tasks in the leader's order."""
        state, load = self._states[process], hash_map(())
        threads = self._java.util.TreeSet(self._threads[process])
        keeping, spare, plain = (
            self._java.deal.invoke(None, [tasks, stateful, threads, state, load])
            for tasks, stateful in (
                (state.statefulActiveTasks(), True),
                (state.standbyTasks(), True),
                (state.statelessActiveTasks(), False),
            )
        )
        for thread in self._threads[process]:
            standbys = self._named(spare.get(thread))
            yield (
                thread,
                Tasks(
                    active=_grouped(
                        self._named(keeping.get(thread)) + self._named(plain.get(thread))
                    ),
                    standby=_grouped(t for t in standbys if (t, process) not in self._warmups),
                    warmup=_grouped(t for t in standbys if (t, process) in self._warmups),
                ),
            )

    @cached_property
    def _warmups(self) -> set[tuple[Task, str]]:
        """(task, process) of the warm-ups."""
        found: dict[Task, list[str]] = defaultdict(list)
        for process, state in sorted(self._states.items()):
            for task in self._named(state.standbyTasks()):
                found[task].append(process)
        warm = set[tuple[Task, str]]()
        for task, processes in found.items():
            lag = {p: int(self._states[p].lagFor(self._ids[task])) for p in processes}
            more = max(0, len(processes) - (self._group.standby_replicas or 0))
            last = sorted(processes, key=lambda p: (lag[p], p), reverse=True)[:more]
            warm.update((task, process) for process in last)
        return warm

    def _named(self, ids: Iterable[Any]) -> list[Task]:
        return [self._task_of[str(one)] for one in ids]


def hash_map(pairs: Iterable[tuple[Any, Any]]) -> Any:
    """Return a ``java.util.HashMap`` of (key, value) pairs."""
    made = java_util().HashMap()
    for key, value in pairs:
        made.put(key, value)
    return made


def _uuid(process: str) -> UUID:
    """Return a process id as a UUID; a name that is no UUID, as in a test group, is hashed."""
    try:
        return UUID(process)
    except ValueError:
        return uuid5(NAMESPACE_OID, process)


def _grouped(tasks: Iterable[Task]) -> Partitions:
    found: dict[str, list[int]] = {}
    for name, number in sorted(tasks):
        found.setdefault(name, []).append(number)
    return found
