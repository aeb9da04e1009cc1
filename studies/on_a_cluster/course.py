"""Course: the consumers of an experiment, their order of start, and their settings.

``courses.toml`` has all of them.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from msgspec import Struct, convert


class Joining(Struct, frozen=True):
    """Members that join one after the other; the effect of the last join is measured.

    Attributes
    ----------
    topics : number of partitions of each topic
    reads : topics of each member, in the order in which members join
    racks : the rack of each broker; empty: one broker without a rack
    placed : by topic, the racks of each partition's replicas
    rack_of : racks of members
    """

    topics: dict[str, int]
    reads: dict[str, list[str]]
    racks: list[str] = []
    placed: dict[str, list[list[str]]] = {}
    rack_of: dict[str, str] = {}


class Course(Struct, frozen=True, kw_only=True):
    """A group that is played with one assignor.

    Attributes
    ----------
    name : name of the course
    told : description in a line
    kind : kind of all consumers, as in `broker.Consumer.start`
    assignor : the client's name of it
    group : name of the group, among `GROUPS`
    static : whether each member has a ``group.instance.id``
    restart_seconds : time after which a consumer whose poll does not return is killed and started
        again; None: never
    quiet_seconds : how long the group must be stable until the course ends
    limit_seconds : time after which the course ends in any case
    says_who_holds : whether to print what a member holds whenever that changes
    """

    name: str
    told: str
    kind: str
    assignor: str
    group: str = "five"
    static: bool = False
    restart_seconds: float | None = None
    quiet_seconds: float = 15.0
    limit_seconds: float = 300.0
    says_who_holds: bool = False

    @property
    def joining(self) -> Joining:
        """The members of the group."""
        return GROUPS[self.group]


_SAID = tomllib.loads(Path(__file__).with_name("courses.toml").read_text("utf-8"))
GROUPS = convert(_SAID["groups"], dict[str, Joining])
COURSES = convert(_SAID["courses"], list[Course])
# Settings by kind of consumer, and those of the broker.
DEFAULTS: dict[str, dict[str, Any]] = _SAID["defaults"]
