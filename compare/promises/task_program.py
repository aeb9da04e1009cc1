"""Task program: a rebalance that breaks a task promise, as a JUnit test for maintainers."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from compare.promises.description import COLUMNS
from compare.promises.program import Program, camel, maven, templates
from compare.promises.record import ARTIFACTS
from groups import BadInput
from groups.documents.assay_streams import held

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from groups.documents.assay_group import Partitions
    from groups.documents.assay_streams import StreamsDocument

# Of the promises in `task_promises`, and "stays": that nothing moves where nothing changes.
TESTED = ("threads-even", "stateful-even", "standbys-even", "fewest-restores", "stays")


def task_program(
    promise: str,
    before: StreamsDocument,
    *,
    version: str,
    text: str,
    history: Sequence[str],
    measured: Mapping[str, object],
) -> Program:
    """Return a test that fails where the assignor breaks a promise on a group.

    Parameters
    ----------
    version : release of Kafka's broker, of 4.4 or later
    text : the promise, in one line
    history : the events that led to the group
    measured : what the promise's judge says; for restores ``enough``

    Raises
    ------
    BadInput
        Where there is no test for the promise.
    """
    if promise not in TESTED:
        raise BadInput(f"no program for the promise {promise}, only for {', '.join(TESTED)}")
    name = f"Sticky{camel(promise)}Test"
    build = maven(name.lower(), ARTIFACTS["kafka-broker"], version)
    head = [
        *wrap(f"StickyTaskAssignor of {ARTIFACTS['kafka-broker']} {version}", COLUMNS),
        "",
        *wrap(f"Expected: {text}.", COLUMNS),
        *wrap(f"The group came about so: {'; '.join(history)}.", COLUMNS),
        "",
        f"Run: {build.command}",
    ]
    members = {
        member: {
            "process": said.process,
            "active": _tasks(held(said).active),
            "standby": _tasks(held(said).standby),
        }
        for member, said in before.members.items()
    }
    rendered = (
        templates()
        .get_template("tasks")
        .render(
            head=head,
            name=name,
            promise=promise,
            standbys=before.standby_replicas,
            subtopologies=before.subtopologies,
            stateful=[s for s, one in before.subtopologies.items() if one.stateful],
            members=members,
            enough=measured.get("enough"),
        )
    )
    return Program(f"{name}.java", rendered, build)


def _tasks(of: Partitions) -> list[str]:
    return [f"{subtopology}_{number}" for subtopology, numbers in of.items() for number in numbers]
