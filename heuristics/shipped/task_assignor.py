"""Streams: the task assignor of Kafka's broker for streams groups (KIP-1071), as it ships."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from msgspec import UNSET
from msgspec.structs import replace

from groups import Assignment, BadInput, Refused
from groups.documents.assay_streams import Tasks, held
from heuristics.assignor import Assignor, Plan, start
from heuristics.child import Child
from heuristics.shipped.java import jars
from heuristics.shipped.java.java_client import KAFKA_BROKER
from heuristics.shipped.java.jvm import failure, loader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups import Group
    from groups.documents.assay_group import Partitions
    from groups.documents.assay_streams import StreamsDocument, StreamsMember
    from heuristics.child import Lost

PREFIX = "kafka-streams/sticky"
SOURCE = "Kafka's broker for streams groups, org.apache.kafka:kafka-group-coordinator, in a JVM"
OLDEST = "4.1.0"
# The first release whose assignors are an API (KIP-1071, package ``coordinator.group.api``).
API_SINCE = (4, 4)
SECONDS = 10.0
_PACKAGE = "org.apache.kafka.coordinator.group."


@dataclass(frozen=True)
class TaskAssignor:
    """Kafka's ``StickyTaskAssignor`` in a release of ``org.apache.kafka:kafka-group-coordinator``.

    It can be called in a process that may start a JVM. Keep :class:`TaskLimit` for many groups.
    """

    version: str

    @staticmethod
    def named(name: str) -> TaskAssignor:
        """Return the assignor named ``kafka-streams/sticky@4.4.0``; the newest without the @.

        Raises
        ------
        BadInput
            Where it is not one of a streams group.
        """
        assignor, _, version = name.partition("@")
        if assignor not in (PREFIX, "sticky"):
            raise BadInput(f"assignor: {name!r} assigns no tasks, expected {PREFIX}@VERSION")
        return TaskAssignor(version or KAFKA_BROKER.listed[0])

    @property
    def name(self) -> str:
        """As users write it."""
        return f"{PREFIX}@{self.version}"

    @property
    def assignor(self) -> Assignor:
        """As one that can be scored on a group of active tasks."""
        return Assignor(
            self.name, "shipped", SOURCE, self.version, self.plan, self.missing, self.prepare
        )

    def plan(self, group: Group) -> Plan:
        """Return who gets which active task of a group that was made of a streams group.

        Raises
        ------
        Refused
            Where it is another group, or says less than the assignor needs.
        Failed
            Where the assignor throws.
        """
        if group.streams is None:
            raise Refused("it assigns the tasks of a Kafka Streams group")
        made = self(group.streams).members
        held_by = [
            (number, subtopology, task)
            for number, name in enumerate(group.members)
            for subtopology, tasks in made[name].tasks.active.items()
            for task in tasks
        ]
        return Plan(Assignment.from_holdings(group, held_by))

    def missing(self) -> str | None:
        """Return why it cannot be called here, and the command for it; None where it can."""
        if jars.release(self.version) < jars.release(OLDEST):
            return f"release {self.version} has no assignor of tasks, {OLDEST} is the first"
        return KAFKA_BROKER.missing("uniform", self.version)

    def prepare(self) -> None:
        """Start the JVM, and load the classes."""
        _classes(self.version)

    def __call__(self, group: StreamsDocument) -> StreamsDocument:
        """Return the group with the tasks that the assignor gives its members.

        Raises
        ------
        Refused
            Where the group says less than the assignor needs.
        Failed
            Where the assignor throws.
        """
        import jpype

        for name, one in group.subtopologies.items():
            if one.stateful is None:
                raise Refused(f"subtopologies.{name}.stateful: not known, the assignor needs it")
        if group.standby_replicas is None:
            raise Refused("standby_replicas: not known, the assignor needs it")
        java = _classes(self.version)
        try:
            made = java.assignor().assign(java.spec(group), java.topology(group)).members()
        except jpype.JException as error:
            raise failure(error) from None
        members = {
            name: replace(member, tasks=_tasks(made.get(name)), target=UNSET)
            for name, member in group.members.items()
        }
        return replace(group, members=members)


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
            Where the assignor cannot be called here.
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


@cache
def _classes(version: str) -> Any:
    """Return what makes a release's objects of a group: ``assignor``, ``spec``, ``topology``."""
    loaded = loader(KAFKA_BROKER.artifact, version, KAFKA_BROKER.caller)
    import jpype

    util = jpype.JPackage("java").util
    new = jars.release(version) >= API_SINCE
    own = f"{_PACKAGE}streams.assignor."
    api = f"{_PACKAGE}api.streams.assignor." if new else own

    def class_of(name: str) -> Any:
        return jpype.JClass(name, loader=loaded)

    describer, spec_of = class_of(f"{api}TopologyDescriber"), class_of(f"{own}GroupSpecImpl")
    member_of = class_of(f"{own}{'MemberMetadataAndStateImpl' if new else 'AssignmentMemberSpec'}")
    configs_of = class_of(f"{own}AssignmentConfigsImpl") if new else None

    def strings(pairs: dict[str, str]) -> Any:
        made = util.HashMap()
        for key, value in pairs.items():
            made.put(key, value)
        return made

    def tasks(of: Partitions) -> Any:
        made = util.HashMap()
        for subtopology, numbers in of.items():
            made.put(subtopology, util.HashSet(list(map(jpype.JInt, numbers))))
        return made

    def member(said: StreamsMember) -> Any:
        has, tags = held(said), {} if said.tags is UNSET else said.tags
        places = [util.Optional.ofNullable(one or None) for one in (said.instance_id, said.rack)]
        process, roles = [said.process, strings(tags)], (has.active, has.standby, has.warmup)
        owned, offsets = [tasks(role) for role in roles], [util.HashMap(), util.HashMap()]
        return member_of(*places, *(process + owned if new else owned + process), *offsets)

    def spec(group: StreamsDocument) -> Any:
        # The broker, too, hands over a HashMap: the order of members follows their ids.
        members = util.HashMap()
        for name, said in group.members.items():
            members.put(name, member(said))
        replicas, tags = group.standby_replicas, util.ArrayList(group.rack_aware_tags)
        if configs_of is not None:
            return spec_of(members, configs_of(replicas, tags))
        return spec_of(members, strings({"num.standby.replicas": str(replicas)}))

    def topology(group: StreamsDocument) -> Any:
        return jpype.JProxy(
            describer, inst=_Topology(group, util.ArrayList(sorted(group.subtopologies)))
        )

    return SimpleNamespace(
        assignor=class_of(f"{own}StickyTaskAssignor"), spec=spec, topology=topology
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
