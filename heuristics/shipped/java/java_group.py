"""JavaGroup: a group that stays in the JVM, with one of Kafka's assignors to call on it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from groups import Assignment
from heuristics.assignor import Plan
from heuristics.shipped.java.group_arrays import fill, handed_out
from heuristics.shipped.java.jvm import failure

if TYPE_CHECKING:
    from groups import Claims, Group


class JavaGroup:
    """A group as our Java class holds it.

    Parameters
    ----------
    owned : what the members have, as the assignor is to see it
    loaded : the Java class loader of Kafka's classes and ours
    caller : full name of our class
    assignor : full name of Kafka's class

    Raises
    ------
    Refused
        Where a number does not fit into the 32 bits that Kafka has for it.
    Failed
        Where Kafka's classes do not take the group.
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
        return Plan(handed_out(self._arrays, self._group), seconds=seconds)

    def timed(self, runs: int) -> list[float]:
        """Return the seconds inside the assignor of each of so many calls.

        The assignor does not change what it is given, and each call of a client's has a leader of
        its own; the first calls are not yet warm.

        Raises
        ------
        Failed
            Where it throws.
        """
        import jpype

        try:
            return [int(nanoseconds) / 1e9 for nanoseconds in self._caller.timed(runs)]
        except jpype.JException as error:
            raise failure(error) from None


@cache
def _class(name: str, loaded: object) -> Any:
    """Return a class of a loader: looking it up takes a while, and each group needs two."""
    import jpype

    return jpype.JClass(name, loader=loaded)
