"""Streams: Kafka's assignors of tasks, as they ship: of the broker (KIP-1071) and the client."""

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
    classes,
    classic_tasks,
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
    """An assignor of tasks in a release of Kafka.

    It can be called in a process that may start a JVM. Keep :class:`TaskLimit` for many groups.

    Attributes
    ----------
    kind : ``sticky`` of ``org.apache.kafka:kafka-group-coordinator``, or ``high-availability`` or
        ``classic-sticky`` of ``org.apache.kafka:kafka-streams``
    warmups : ``max.warmup.replicas``, of high availability
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
            If it is not one of a streams group.
        """
        assignor, version = with_version(name)
        kind = assignor.removeprefix(ROOM)
        if kind not in CLIENT_OF:
            known = ", ".join(f"{ROOM}{one}" for one in CLIENT_OF)
            raise BadInput(f"assignor: {name!r} assigns no tasks, expected one of {known}")
        return TaskAssignor(version or CLIENT_OF[kind].listed[0], kind)

    @property
    def name(self) -> str:
        """As users write it."""
        return f"{ROOM}{self.kind}@{self.version}"

    @property
    def assignor(self) -> Assignor:
        """As one that can be scored on a group of active tasks."""
        source = CLIENT_OF[self.kind].source
        return Assignor(
            self.name, "shipped", source, self.version, self.plan, self.missing, self.prepare
        )

    def plan(self, group: Group) -> Plan:
        """Return who gets which active task of a group that was made of a streams group.

        High availability is asked again, as in probing rebalances, until no task moves.

        Raises
        ------
        Refused
            If it is another group, or says less than the assignor needs.
        Failed
            If the assignor throws, or tasks would move for ever.
        """
        if group.streams is None:
            raise Refused("it assigns the tasks of a Kafka Streams group")
        course = [group.streams, self(group.streams)]
        if self.kind == HIGH_AVAILABILITY:
            course += until_rest(lambda groups: [*map(self, groups)], course[1:])[0][1:]
        made = {name: one.tasks.active for name, one in course[-1].members.items()}
        return Plan(Assignment.from_dict(group, made), rounds=len(course) - 1)

    def missing(self) -> str | None:
        """Return why it cannot be called here, and the command for it; None if it can."""
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
            If the group says less than the assignor needs.
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
                made = _broker_tasks(group, _classes(self.version))
            else:
                made = classic_tasks(group, self.kind, self.version, self.warmups)
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
    """Return what becomes of each group, itself first, until an assignment moves nothing.

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
    """A process in which a task assignor runs, for so many seconds a group; a context manager."""

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
        """Return what the assignor makes of each group, or why there is no plan."""
        came: list[StreamsDocument | Lost] = []
        while len(came) < len(groups):
            left = [(group,) for group in groups[len(came) :]]
            came += self._child.call_each(self.assignor, left, seconds=self.seconds)
        return came


def task_assignors() -> Iterator[TaskAssignor]:
    """Yield those of the releases to list, newest first, with those that were fetched besides."""
    for kind, client in CLIENT_OF.items():
        for version in client.versions():
            if jars.release(version) >= jars.release(client.oldest):
                yield TaskAssignor(version, kind)


def _broker_tasks(group: StreamsDocument, java: Any) -> dict[str, Tasks]:
    """Return the tasks that the broker's assignor gives each member."""
    made = java.assignor().assign(java.spec(group), java.topology(group)).members()
    return {name: _tasks(made.get(name)) for name in group.members}


@cache
def _classes(version: str) -> Any:
    """Return what makes a release's objects of a group: ``assignor``, ``spec``, ``topology``."""
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
        # The broker, too, hands over a HashMap: the order of members follows their ids.
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
    """A group's subtopologies, as the assignor's ``TopologyDescriber`` asks for them."""

    def __init__(self, group: StreamsDocument, names: Any) -> None:
        self._of, self._names = group.subtopologies, names

    def subtopologies(self) -> Any:
        return self._names

    def maxNumInputPartitions(self, name: Any) -> int:  # noqa: N802
        return self._of[str(name)].tasks

    def isStateful(self, name: Any) -> bool:  # noqa: N802
        return bool(self._of[str(name)].stateful)


def _tasks(made: Any) -> Tasks:
    """Return a member's assignment; a member without one gets nothing."""
    if made is None:
        return Tasks()
    return Tasks(active=_numbers(made.activeTasks()), standby=_numbers(made.standbyTasks()))


def _numbers(tasks: Any) -> Partitions:
    found = {str(one.getKey()): sorted(map(int, one.getValue())) for one in tasks.entrySet()}
    return dict(sorted(found.items()))
