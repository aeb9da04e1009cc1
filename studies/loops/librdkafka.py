"""What librdkafka's assignor does until its process dies, from the library's own log."""

from __future__ import annotations

import re
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from groups import Failed
from groups.wording import counted
from heuristics.shipped.probe.probe import Probe
from studies.since_when.releases import library_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups import Group

MOVED = re.compile(r": (\S+) \[(\d+)\] reassigned to (\S+) \(from (\S+)\)")
SECONDS = 10.0
ASSERTED = re.compile(r"(\w+): Assertion `(.*)' failed")


class Moved(NamedTuple):
    """A logged move."""

    partition: str
    leaves: str
    to: str


def recorded(group: Group, assignor: str) -> tuple[list[Moved], tuple[str, str] | None]:
    """Return the logged moves, and the function and condition of a failed assertion, if any."""
    import confluent_kafka

    with Probe() as probe:
        asked = probe.offer(group, assignor)
        driven, _ = library_in(Path(confluent_kafka.__file__).parents[1])
        command = [*driven.command, probe.bootstrap, "g", assignor, "assignor"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as consumer:
            try:
                # It is expected to die; its log is read below.
                with suppress(Failed):
                    probe.wait(asked, SECONDS)
                    asked.result()
            finally:
                consumer.kill()
            said = consumer.communicate()[1]
    # The probe's names of topics have a prefix for each round.
    logged = MOVED.findall(said)
    named = {t: next(one for one in group.topics if t.endswith(f".{one}")) for t, *_ in logged}
    moves = [Moved(f"{named[t]}-{n}", leaves, to) for t, n, to, leaves in logged]
    failed = ASSERTED.search(said)
    return moves, (failed[1], failed[2]) if failed else None


def story(moves: Sequence[Moved], function: str, condition: str) -> list[str] | None:
    """Return sentences on why the assertion fails; None if it has another reason than this.

    The assertion compares the recorded destination of each moved partition with its holder. After
    the logged moves they differ for one partition only, which is back where it started.
    """
    start: dict[str, str] = {}
    noted: dict[str, str] = {}
    holder: dict[str, str] = {}
    for one in moves:
        begun = start.setdefault(one.partition, one.leaves)
        holder[one.partition] = one.to
        if one.to != begun:
            noted[one.partition] = one.to
    differ = [partition for partition in noted if noted[partition] != holder[partition]]
    if len(differ) != 1:
        return None
    (partition,) = differ
    return [
        f"After {counted(len(moves), 'move')} the library asserts `{condition}` in {function} and "
        "ends the process.",
        f"Of all partitions that moved, {partition} alone is not where it was noted to have gone: "
        f"it went from {start[partition]} to {noted[partition]} and came back to "
        f"{holder[partition]}.",
    ]
