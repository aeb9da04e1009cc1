"""JVM: this process's JVM, with a class loader for each release of Kafka, and groups in it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import gettempdir
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from groups import Assignment, Failed, Refused
from groups.arrays import NOBODY, starts
from groups.errors import BadInput
from heuristics.assignor import Plan
from heuristics.shipped.java.jars import NO_JAVA, compiled, java_home, java_version, noted

if TYPE_CHECKING:
    from groups import Claims, Group
    from groups.arrays import Int32, Int64, Ints


OPTIONS = ("-XX:+UseSerialGC", "-Xmx4g")
WARNS_OF_NATIVE_CALLS = 24


@cache
def loader(artifact: str, version: str, source: str) -> Any:
    """Return the class loader of an artifact in one version, our classes included.

    Its parent is the platform's, so that releases do not see each other.

    Raises
    ------
    BadInput
        If there is no Java, or the jars are not here.
    """
    jars = noted(artifact, version)
    if not jars:
        raise BadInput(f"{artifact} {version}: its jars are not here")
    places = [compiled(artifact, version, source), *jars]
    start()
    import jpype

    file, url = jpype.JClass("java.io.File"), jpype.JClass("java.net.URL")
    urls = jpype.JArray(url)([file(str(place)).toURI().toURL() for place in places])
    parent = jpype.JClass("java.lang.ClassLoader").getPlatformClassLoader()
    return jpype.JClass("java.net.URLClassLoader")(urls, parent)


@cache
def java_util() -> SimpleNamespace:
    """Return the classes of ``java.util`` that Kafka's classes use, by their short names.

    Each is loaded by name, because ``jpype.JPackage`` first looks through all packages of Java,
    which takes a third of a second.
    """
    import jpype

    lists = ("ArrayList", "Collection", "HashMap", "HashSet", "Map", "Set", "SortedSet", "TreeSet")
    names = (*lists, "Optional", "OptionalInt", "UUID")
    return SimpleNamespace(**{name: jpype.JClass(f"java.util.{name}") for name in names})


def failure(error: Any) -> Failed:
    """Return a Java exception as a `Failed` with its class and message."""
    name, message = str(type(error).class_.getName()), error.getMessage()
    text = "" if message is None else " ".join(str(message).split())
    return Failed(f"{name}: {text}" if text else name)


def start(*options: str, classes: str | None = None) -> None:
    """Start the JVM of this process, unless it runs.

    Parameters
    ----------
    options : options of Java, after ours
    classes : class path; None: JPype's own

    Raises
    ------
    BadInput
        If there is no Java, or it has no JVM library.
    """
    import jpype

    if jpype.isJVMStarted():
        return
    home = java_home()
    if home is None:
        raise BadInput(NO_JAVA)
    # By default, a JVM that crashes writes its report to the working folder.
    report = Path(gettempdir()) / "kafka-assay-jvm-%p.log"
    told = [*OPTIONS, f"-XX:ErrorFile={report}", *options]
    if java_version(home) >= WARNS_OF_NATIVE_CALLS:
        told.append("--enable-native-access=ALL-UNNAMED")
    libraries = [home / "lib/server" / name for name in ("libjvm.so", "libjvm.dylib")]
    library = next(filter(Path.is_file, libraries), None)
    if library is None:
        raise BadInput(f"Java: {home} has no JVM library")
    jpype.startJVM(str(library), *told, classpath=classes, convertStrings=False)


MOST = int(np.iinfo(np.int32).max)


def fill(arrays: Any, group: Group, owned: Claims) -> None:
    """Write a group into an ``assay.GroupArrays``.

    Parameters
    ----------
    arrays : the Java object
    owned : the owned partitions that the assignor is given

    Raises
    ------
    Refused
        If a number does not fit into Kafka's 32 bits.
    """
    strings, of_ints = _array_types()

    def ints(values: Ints, what: str = "an index") -> Any:
        return of_ints(_int32(values, what))

    names, members = group.topics + group.absent_topics, len(group.members)
    indptr, subscribed = _subscriptions(group)
    arrays.topics = strings(list(names))
    arrays.partitions = ints(group.partitions, "partitions")
    arrays.members = strings(list(group.members))
    details = group.details or [None] * members
    arrays.instances = strings([said and said.instance_id for said in details])
    arrays.generations = ints(group.generation, "generation")
    arrays.subscriptionStarts, arrays.subscribed = ints(indptr), ints(subscribed)
    arrays.ownedStarts = ints(np.searchsorted(owned.member, np.arange(members + 1)))
    arrays.ownedTopics = ints(owned.topic)
    arrays.ownedNumbers = ints(owned.partition, "an owned partition")
    racks = group.racks
    none = np.empty(0, np.int32)
    if racks is None:
        arrays.racks = strings([])
        arrays.memberRacks = ints(np.full(members, NOBODY))
        arrays.replicaSets = arrays.setOf = arrays.rackOf = ints(none)
        return
    arrays.racks = strings(list(racks.names))
    arrays.memberRacks = ints(racks.member)
    arrays.replicaSets = ints(racks.replicas)
    sets, of_rack = np.divmod(racks.holds, max(len(racks.names), 1))
    arrays.setOf, arrays.rackOf = ints(sets), ints(of_rack)


def handed_out(arrays: Any, group: Group) -> Assignment:
    """Return the assignment in an ``assay.GroupArrays``, which need not be valid."""
    member, topic, number = (
        np.array(array, np.int64)
        for array in (arrays.heldBy, arrays.heldTopics, arrays.heldNumbers)
    )
    order = np.lexsort((number, topic, member))
    return Assignment.from_columns(group, member[order], topic[order], number[order])


@cache
def _array_types() -> tuple[Any, Any]:
    """Return the Java types of arrays of strings and of ints; making them takes a while."""
    from jpype import JArray, JInt, JString

    return JArray(JString), JArray(JInt)


def _subscriptions(group: Group) -> tuple[Int64, Int64]:
    """Return subscriptions as CSR (starts, topics); absent topics have the last numbers."""
    members, topics = group.subscription_pairs
    absent = np.array(sorted(group.absent_subscriptions), np.int64).reshape(-1, 2)
    member = np.concatenate((members, absent[:, 0]))
    topic: Int64 = np.concatenate((topics, absent[:, 1] + len(group.topics)))
    counts = np.bincount(member, minlength=len(group.members))
    if len(absent):
        topic = topic[np.lexsort((topic, member))]
    return starts(counts), topic


def _int32(values: Ints, what: str) -> Int32:
    if len(values) and int(values.max()) > MOST:
        raise Refused(f"{what} of {int(values.max())}: Kafka has 32 bits for it")
    return np.ascontiguousarray(values, np.int32)


class JavaGroup:
    """A group as Java objects, with the assignor that is called on it.

    Parameters
    ----------
    owned : the owned partitions that the assignor is given
    loaded : the Java class loader of Kafka's classes and ours
    caller : full name of our class
    assignor : full name of Kafka's class

    Raises
    ------
    Refused
        If a number does not fit into Kafka's 32 bits.
    Failed
        If Kafka's classes reject the group.
    """

    def __init__(
        self, group: Group, owned: Claims, loaded: object, caller: str, assignor: str
    ) -> None:
        import jpype

        self._group = group
        self._arrays: Any = _class("assay.GroupArrays", loaded)()
        fill(self._arrays, group, owned)
        try:
            self._caller: Any = _class(caller, loaded)(assignor, self._arrays)
        except jpype.JException as error:
            raise failure(error) from None

    def plan(self) -> Plan:
        """Call the assignor once.

        Raises
        ------
        Failed
            If it throws.
        """
        if not self._group.members:
            # No leader or broker ever calls an assignor for such a group.
            return Plan(Assignment(self._group, self._group.owner), seconds=0.0)
        (seconds,) = self.timed(1)
        return Plan(handed_out(self._arrays, self._group), seconds=seconds)

    def timed(self, runs: int) -> list[float]:
        """Return the seconds inside the assignor for each of `runs` calls.

        The calls do not affect each other: the assignor does not change its input, and each call
        of a client's assignor uses a new leader. The first calls are slower, until Java is warm.

        Raises
        ------
        Failed
            If it throws.
        """
        import jpype

        try:
            return [int(nanoseconds) / 1e9 for nanoseconds in self._caller.timed(runs)]
        except jpype.JException as error:
            raise failure(error) from None


@cache
def _class(name: str, loaded: object) -> Any:
    """Return a class of a loader, cached because every group needs two and looking up is slow."""
    import jpype

    return jpype.JClass(name, loader=loaded)
