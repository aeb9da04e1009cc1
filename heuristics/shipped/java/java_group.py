"""JavaGroup: a group that stays in the JVM, with one of Kafka's assignors to call on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from groups import Assignment
from heuristics.assignor import Plan
from heuristics.shipped.java.columns import fill, handed_out
from heuristics.shipped.java.jvm import failure, loader

if TYPE_CHECKING:
    from groups import Claims, Group


@dataclass(frozen=True)
class Classes:
    """Kafka's classes, and ours that calls them.

    Attributes
    ----------
    artifact, version : Maven coordinates within ``org.apache.kafka``
    source : name of our class
    """

    artifact: str
    version: str
    source: str


class JavaGroup:
    """A group as our Java class holds it.

    Parameters
    ----------
    owned : what the members have, as the assignor is to see it
    assignor : full name of Kafka's class

    Raises
    ------
    Refused
        Where a number does not fit into the 32 bits that Kafka has for it.
    Failed
        Where Kafka's classes do not take the group.
    """

    def __init__(self, group: Group, owned: Claims, classes: Classes, assignor: str) -> None:
        loaded = loader(classes.artifact, classes.version, classes.source)
        import jpype

        self._group = group
        self._columns: Any = jpype.JClass("assay.Columns", loader=loaded)()
        fill(self._columns, group, owned)
        held = jpype.JClass(f"assay.{classes.source}", loader=loaded)
        try:
            self._held: Any = held(assignor, self._columns)
        except jpype.JException as error:
            raise failure(error) from None

    def plan(self) -> Plan:
        """Let the assignor make one assignment.

        Raises
        ------
        Failed
            Where it throws.
        """
        if not self._group.members:
            # Nobody leads such a group, and nobody asks the broker for it.
            return Plan(Assignment(self._group, self._group.owner), seconds=0.0)
        (seconds,) = self.timed(1)
        return Plan(handed_out(self._columns, self._group), seconds=seconds)

    def timed(self, runs: int) -> list[float]:
        """Return the seconds inside the assignor of each of so many calls.

        Raises
        ------
        Failed
            Where it throws.
        """
        import jpype

        try:
            return [int(nanoseconds) / 1e9 for nanoseconds in self._held.timed(runs)]
        except jpype.JException as error:
            raise failure(error) from None
