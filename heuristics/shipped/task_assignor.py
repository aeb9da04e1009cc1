"""Streams: Kafka's task assignors, called as they ship: the broker's (KIP-1071), the client's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from msgspec import UNSET
from msgspec.structs import replace

from groups import Assignment, BadInput, Failed, Refused
from groups.documents.assay_streams import Tasks, held
from heuristics.assignor import Assignor, Plan, start
from heuristics.child import Child, Lost
from heuristics.shipped.classic_task_assignor import (
    KAFKA_STREAMS,
    MAX_WARMUP_REPLICAS,
    Rebalance,
    classes,
    hash_map,
)
from heuristics.shipped.client import with_version
from heuristics.shipped.java import jars
from heuristics.shipped.java.java_client import BROKER_STREAMS
from heuristics.shipped.java.jvm import failure, java_util, loader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from groups import Group
    from groups.documents.assay_group import Partitions
    from groups.documents.assay_streams import StreamsDocument, StreamsMember

ROOM = "kafka-streams/"
STICKY, HIGH_AVAILABILITY = "sticky", "high-availability"
CLIENT_OF = {STICKY: BROKER_STREAMS, **dict.fromkeys(KAFKA_STREAMS.assignors, KAFKA_STREAMS)}
# The first release whose assignors are an API (KIP-1071, package ``coordinator.group.api``).
API_SINCE = (4, 4)
SECONDS = 10.0


@dataclass(frozen=True)
class TaskAssignor:
    """A task assignor of a release of Kafka.

    Calling it starts a JVM in this process. For many groups use :class:`TaskLimit`.

    Attributes
    ----------
    kind : ``sticky`` of ``org.apache.kafka:kafka-group-coordinator``, or ``high-availability`` or
        ``classic-sticky`` of ``org.apache.kafka:kafka-streams``
    warmups : ``max.warmup.replicas``, for high-availability
    """

    version: str
    kind: str = STICKY
    warmups: int = MAX_WARMUP_REPLICAS

    @staticmethod
    def named(name: str) -> TaskAssignor:
        """Return the assignor named ``kafka-streams/sticky@4.4.0``; the newest without the @.

        Raises
        ------
        BadInput
            If it is not a task assignor.
        """
        assignor, version = with_version(name)
        kind = assignor.removeprefix(ROOM)
        if kind not in CLIENT_OF:
            known = ", ".join(f"{ROOM}{one}" for one in CLIENT_OF)
            raise BadInput(f"assignor: {name!r} assigns no tasks, expected one of {known}")
        return TaskAssignor(version or CLIENT_OF[kind].listed[0], kind)

    @property
    def name(self) -> str:
        """The name as users write it."""
        return f"{ROOM}{self.kind}@{self.version}"

    @property
    def assignor(self) -> Assignor:
        """The same as an `Assignor`, whose partitions are active tasks."""
        source = CLIENT_OF[self.kind].source
        return Assignor(
            self.name, "shipped", source, self.version, self.plan, self.missing, self.prepare
        )

    def plan(self, group: Group) -> Plan:
        """Return the assignment of active tasks for a group made from a streams group.

        High-availability is called again, as in probing rebalances, until no task moves.

        Raises
        ------
        Refused
            If it is a group of consumers, or lacks what the assignor needs.
        Failed
            If the assignor throws, or tasks would move for ever.
        """
        if group.streams is None:
            hidden = "the group's protocol, the classic one, does not show its tasks"
            no_tasks = "it assigns the tasks of a Kafka Streams group"
            raise Refused(hidden if group.of_streams else no_tasks)
        course = [group.streams, self(group.streams)]
        if self.kind == HIGH_AVAILABILITY:
            course += until_rest(lambda groups: [*map(self, groups)], course[1:])[0][1:]
        made = {name: one.tasks.active for name, one in course[-1].members.items()}
        return Plan(Assignment.from_dict(group, made), rounds=len(course) - 1)

    def missing(self) -> str | None:
        """Return why it cannot be called here, with the command that helps; None if it can."""
        client = CLIENT_OF[self.kind]
        if self.kind == STICKY and jars.release(self.version) < jars.release(client.oldest):
            return f"release {self.version} has no assignor of tasks, {client.oldest} is the first"
        return client.missing(self.kind, self.version)

    def prepare(self) -> None:
        """Start the JVM, and load the classes."""
        (_classes if self.kind == STICKY else classes)(self.version)

    def __call__(self, group: StreamsDocument) -> StreamsDocument:
        """Return the group with the tasks that the assignor gives its members.

        Raises
        ------
        Refused
            If the group lacks what the assignor needs.
        Failed
            If the assignor throws.
        """
        import jpype

        for name, one in group.subtopologies.items():
            if one.stateful is None:
                raise Refused(f"subtopologies.{name}.stateful: not known, the assignor needs it")
        if group.standby_replicas is None:
            raise Refused("standby_replicas: not known, the assignor needs it")
        try:
            if self.kind == STICKY:
                java = _classes(self.version)
                tasks = java.assignor().assign(java.spec(group), java.topology(group)).members()
                made = {name: _tasks(tasks.get(name)) for name in group.members}
            else:
                made = Rebalance(group, self.version, self.warmups).assigned(self.kind)
        except jpype.JException as error:
            raise failure(error) from None
        members = {
            name: replace(member, tasks=made[name], target=UNSET)
            for name, member in group.members.items()
        }
        return replace(group, members=members)


def until_rest(
    plans: Callable[[list[StreamsDocument]], list[StreamsDocument | Lost]],
    groups: Sequence[StreamsDocument],
) -> list[list[StreamsDocument]]:
    """Assign the tasks of each group again and again until nothing moves.

    Returns, for each group, the group and its states after each assignment.

    Parameters
    ----------
    plans : assigns the tasks of groups

    Raises
    ------
    Failed
        If there is no plan, or tasks move for ever.
    """
    found = [[group] for group in groups]
    moving = found
    while moving:
        left = []
        for course, after in zip(moving, plans([one[-1] for one in moving]), strict=True):
            if isinstance(after, Lost):
                raise Failed(after.reason)
            if after in course[:-1]:
                raise Failed(f"{after.group}: its tasks move for ever")
            if after != course[-1]:
                course.append(after)
                left.append(course)
        moving = left
    return found


class TaskLimit:
    """A child process in which a task assignor runs, with a time limit for each group.

    Use it as a context manager.
    """

    def __init__(self, assignor: TaskAssignor, seconds: float = SECONDS) -> None:
        self.assignor, self.seconds = assignor, seconds
        self._child = Child()

    def __enter__(self) -> TaskLimit:
        """Start the JVM.

        Raises
        ------
        BadInput
            If the assignor cannot be called here.
        """
        reason = self.assignor.missing() or start(self._child, self.assignor.prepare)
        if reason is not None:
            self._child.close()
            raise BadInput(f"{self.assignor.name}: {reason}")
        return self

    def __exit__(self, *_: object) -> None:
        self._child.close()

    def plans(self, groups: Sequence[StreamsDocument]) -> list[StreamsDocument | Lost]:
        """Return each group with its new tasks, or why there is no plan."""
        came: list[StreamsDocument | Lost] = []
        while len(came) < len(groups):
            left = [(group,) for group in groups[len(came) :]]
            came += self._child.call_each(self.assignor, left, seconds=self.seconds)
        return came


def task_assignors() -> Iterator[TaskAssignor]:
    """Yield the task assignors of all listed and fetched releases, newest first by kind."""
    for kind, client in CLIENT_OF.items():
        for version in client.versions():
            if jars.release(version) >= jars.release(client.oldest):
                yield TaskAssignor(version, kind)


@cache
def _classes(version: str) -> Any:
    """Return a release's functions ``assignor``, ``spec``, ``topology`` that make its objects."""
    loaded = loader(BROKER_STREAMS.artifact, version, BROKER_STREAMS.caller)
    import jpype

    util = java_util()
    new = jars.release(version) >= API_SINCE
    own = f"{BROKER_STREAMS.package}.streams.assignor."
    api = f"{BROKER_STREAMS.package}.api.streams.assignor." if new else own

    def class_of(name: str) -> Any:
        return jpype.JClass(name, loader=loaded)

    describer, spec_of = class_of(f"{api}TopologyDescriber"), class_of(f"{own}GroupSpecImpl")
    member_of = class_of(f"{own}{'MemberMetadataAndStateImpl' if new else 'AssignmentMemberSpec'}")
    configs_of = class_of(f"{own}AssignmentConfigsImpl") if new else None

    def tasks(of: Partitions) -> Any:
        sets = ((name, util.HashSet(list(map(jpype.JInt, n)))) for name, n in of.items())
        return hash_map(sets)

    def member(said: StreamsMember) -> Any:
        has, tags = held(said), {} if said.tags is UNSET else said.tags
        places = [util.Optional.ofNullable(one or None) for one in (said.instance_id, said.rack)]
        process, roles = (
            [said.process, hash_map(tags.items())],
            (has.active, has.standby, has.warmup),
        )
        owned, offsets = [tasks(role) for role in roles], [util.HashMap(), util.HashMap()]
        return member_of(*places, *(process + owned if new else owned + process), *offsets)

    def spec(group: StreamsDocument) -> Any:
        # A HashMap, as the broker passes: it fixes the order of members by their ids.
        members = hash_map((name, member(said)) for name, said in group.members.items())
        replicas, tags = group.standby_replicas, util.ArrayList(group.rack_aware_tags)
        if configs_of is not None:
            return spec_of(members, configs_of(replicas, tags))
        return spec_of(members, hash_map([("num.standby.replicas", str(replicas))]))

    def topology(group: StreamsDocument) -> Any:
        return jpype.JProxy(
            describer, inst=_Topology(group, util.ArrayList(sorted(group.subtopologies)))
        )

    return SimpleNamespace(
        assignor=class_of(f"{BROKER_STREAMS.package}.{BROKER_STREAMS.assignors[STICKY]}"),
        spec=spec,
        topology=topology,
    )


class _Topology:
    """A group's subtopologies as a ``TopologyDescriber``."""

    def __init__(self, group: StreamsDocument, names: Any) -> None:
        self._of, self._names = group.subtopologies, names

    def subtopologies(self) -> Any:
        return self._names

    def maxNumInputPartitions(self, name: Any) -> int:  # noqa: N802
        return self._of[str(name)].tasks

    def isStateful(self, name: Any) -> bool:  # noqa: N802
        return bool(self._of[str(name)].stateful)


def _tasks(made: Any) -> Tasks:
    """Return a member's tasks; a member without an assignment has none."""
    if made is None:
        return Tasks()
    return Tasks(active=_numbers(made.activeTasks()), standby=_numbers(made.standbyTasks()))


def _numbers(tasks: Any) -> Partitions:
    found = {str(one.getKey()): sorted(map(int, one.getValue())) for one in tasks.entrySet()}
    return dict(sorted(found.items()))
