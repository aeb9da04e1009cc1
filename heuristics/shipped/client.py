"""Client: software that people run, and the assignors in it that can be called."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from groups import Group
from heuristics.assignor import Assignor

if TYPE_CHECKING:
    from collections.abc import Callable

    from heuristics.assignor import Plan


@dataclass(frozen=True)
class Client:
    """A client library, or Kafka's broker, in whatever versions can be had.

    The functions take the name of the assignor and the version last; all can be pickled.

    Attributes
    ----------
    name : as users write it, "kafka-java"
    source : one line that says what is called, and how
    assignors : their names, as members list them
    versions : the versions to list, newest first; others may be asked for
    plan : makes the plan of a group: what the software makes of it, whatever that is. Raises
        Refused where it does not cover the group, Failed where it breaks down
    missing : says why an assignor of a version cannot be called here, with the command that
        changes this; None where it can. Loads nothing
    prepare : starts what `plan` needs in this process, and runs it warm
    fetch : brings what a version needs to this machine; raises BadInput where that cannot be done
    repeatable : whether it makes the same of a group each time; Go goes through maps at random
    """

    name: str
    source: str
    assignors: tuple[str, ...]
    versions: Callable[[], tuple[str, ...]]
    plan: Callable[[Group, str, str], Plan]
    missing: Callable[[str, str], str | None]
    prepare: Callable[[str, str], None]
    fetch: Callable[[str], None]
    repeatable: bool = True

    def assignor(self, name: str, version: str) -> Assignor:
        """Return one of its assignors, as one that can be scored."""
        return Assignor(
            f"{self.name}/{name}@{version}",
            "shipped",
            self.source,
            version,
            partial(_plan, self.plan, name, version),
            partial(self.missing, name, version),
            partial(self.prepare, name, version),
        )


def _plan(plan: Callable[[Group, str, str], Plan], name: str, version: str, group: Group) -> Plan:
    return plan(group, name, version)


def tiny() -> Group:
    """Return a group to run an assignor warm with."""
    return Group.from_arrays(
        group="tiny",
        topics=["t"],
        partitions=[3],
        members=["a", "b"],
        subscription_indptr=[0, 1, 2],
        subscription_topics=[0, 0],
        owner=[0, 0, -1],
    )
