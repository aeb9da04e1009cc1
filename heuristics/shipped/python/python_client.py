"""PythonClient: a client library in Python, whose assignor classes are called in this process.

Members and leader do what they do in the client: each member is told what it was given last, says
what goes into JoinGroup, and that travels as bytes; the leader decodes it and assigns by the
cluster's metadata, made of a Metadata response. Only the topics that somebody subscribes to are in
there, as a leader asks for no others.

The clients list a member's topics in the order of a Python set, which is another one in every
process; here they are listed ascending.
"""

from __future__ import annotations

import logging
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

from groups import Assignment, BadInput, Failed
from groups.errors import in_one_line
from groups.extras import command_for
from heuristics.assignor import Plan
from heuristics.shipped.client import in_rounds
from heuristics.shipped.joining import joining

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from groups import Group
    from heuristics.shipped.joining import Joining


@dataclass(frozen=True)
class PythonClient:
    """A :class:`~heuristics.shipped.client.Client` that is a Python package.

    A process can load one version of a package: the one that is installed.

    Attributes
    ----------
    name : of the package, as users write it
    source : one line that says what is called, and how
    assignors : by the names that members list, the client's classes, as "module:class"
    logger : the one that all of the client's loggers are below
    tried : a version that is known to work, listed where none is installed
    joined : makes of an assignor's class and the members, as they join, the leader's assignor
        object and what it takes for its members
    cluster : makes the cluster's metadata of topic names and partition counts
    given : returns of a member's assignment the topics, each with its partition numbers
    """

    keeps_time: ClassVar[bool] = False
    name: str
    source: str
    assignors: Mapping[str, str]
    logger: str
    tried: str
    joined: Callable[[Any, Sequence[Joining]], tuple[Any, object]]
    cluster: Callable[[Iterable[tuple[str, int]]], object]
    given: Callable[[Any], Iterable[tuple[str, Iterable[int]]]]
    repeatable: bool = True

    def versions(self) -> tuple[str, ...]:
        """Return the version that is installed, or else one that is known to work."""
        return (installed(self.name) or self.tried,)

    def plan(self, group: Group, assignor: str, version: str) -> Plan:
        """Return the plan that the client's assignor makes of the group.

        A cooperative assignor is asked again until nobody must revoke; its last plan counts.

        Raises
        ------
        BadInput
            Where another version is installed, or none.
        Failed
            Where the client raises an exception, with its class and message.
        """
        self.fetch(version)
        with _silenced(self.logger):
            return in_rounds(group, assignor, partial(self._one_round, assignor))

    def missing(self, assignor: str, version: str) -> str | None:
        """Return why the assignor cannot be called here; None where it can."""
        return missing(self.name, version)

    def fetch(self, version: str) -> None:
        """Raise BadInput where that version is not the one installed: nothing fetches it."""
        reason = missing(self.name, version)
        if reason is not None:
            raise BadInput(reason)

    def _one_round(self, assignor: str, group: Group) -> Plan:
        module, _, name = self.assignors[assignor].partition(":")
        leader, members = self.joined(getattr(import_module(module), name), joining(group))
        cluster = self.cluster(_read_topics(group))
        started = perf_counter()
        try:
            made = leader.assign(cluster, members)
        except Exception as error:
            raise Failed(in_one_line(error)) from error
        seconds = perf_counter() - started
        index = {member: m for m, member in enumerate(group.members)}
        held = [
            (index[member], topic, int(number))
            for member, assignment in made.items()
            for topic, numbers in self.given(assignment)
            for number in numbers
        ]
        return Plan(Assignment.from_holdings(group, sorted(held)), seconds=seconds)


def installed(package: str) -> str | None:
    """Return the version of a package that is installed, None where it is not."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def missing(package: str, asked: str) -> str | None:
    """Return why that version of a package cannot be called here; None where it can."""
    here = installed(package)
    if here is None:
        return f"{package} is not installed: {command_for('clients')}"
    if here != asked:
        return f"{package} {here} is installed, not {asked}: pip install {package}=={asked}"
    return None


def _read_topics(group: Group) -> Iterator[tuple[str, int]]:
    """Return the name and partition count of each topic that exists and that somebody reads."""
    columns = (group.topics, group.partitions.tolist(), group.readers.tolist())
    for topic, count, readers in zip(*columns, strict=True):
        if readers:
            yield topic, count


@contextmanager
def _silenced(logger: str) -> Iterator[None]:
    """Keep what a package logs and warns of from the streams, for as long as this lasts."""
    top = logging.getLogger(logger)
    level = top.level
    top.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        top.setLevel(level)
