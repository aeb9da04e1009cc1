"""Description: a finding in words: what is expected, what happens, and its group as a table."""

from __future__ import annotations

import re
from textwrap import wrap
from typing import TYPE_CHECKING

from compare.promises.promise import PROMISES
from groups.wording import counted, ranges

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from compare.promises.findings import Finding
    from groups import Group

_STOPS = "the assignor does not return. The leader of the group stops polling"
_NEVER = {
    "kafka-java": (
        f"{_STOPS}: its poll does not return, and its heartbeat thread waits for the lock that "
        "the assigning thread holds. After the session timeout (45 s by default) the group goes "
        "on without it"
    ),
    "aiokafka": (
        f"{_STOPS}: the assignor blocks the event loop, and the heartbeats with it. After the "
        "session timeout (10 s by default) the group goes on without it"
    ),
    "sarama": (
        "the assignor does not return. What that does to a group of sarama's consumers was not "
        "measured"
    ),
}
_MOST_CHARACTERS = 300
COLUMNS = 95
_BLAME = {
    "double": "{partition} goes to {member}, and to another member too",
    "unsubscribed": "{partition} goes to {member}, which does not read that topic",
    "unassigned": "{partition} goes to nobody",
    "no-such-partition": "{partition} goes to {member}, but there is no such partition",
}


def head(finding: Finding, what: str, command: str) -> Iterator[str]:
    """Yield the lines of the comment at the head of a program.

    Parameters
    ----------
    what : the assignor, its client and version
    command : one line that runs the program
    """
    found = "" if finding.found is None else f", found {finding.found.date}"
    versions = f"Affected on this group, of the versions tried: {', '.join(finding.affected)}"
    if finding.unaffected:
        versions += "; not affected on this group, but maybe on others: "
        versions += ", ".join(finding.unaffected)
    happened = happens(finding)
    yield from wrap(f"{what}: {sizes(finding.group)}", COLUMNS)
    yield ""
    yield from wrap(f"Expected: {PROMISES[finding.promise].text}.", COLUMNS)
    yield from wrap(f"Happens: {happened}.", COLUMNS, break_on_hyphens=False)
    yield from wrap(f"{versions}.", COLUMNS)
    for number, text in enumerate(finding.why):
        first, then = ("- ", "  ") if number else ("Why: ", "")
        yield from wrap(
            text, COLUMNS, initial_indent=first, subsequent_indent=then, break_on_hyphens=False
        )
    yield ""
    yield from table(finding.group)
    yield ""
    yield f"Run: {command}"
    fails = "It fails as long as this happens, and prints what was made and what is better."
    if finding.promise == "terminates":
        fails = (
            "It stops waiting after 5 seconds, prints where the assignor is then and a second "
            "later, and fails; once the promise is kept it passes."
        )
    yield from wrap(fails, COLUMNS)
    yield from wrap(f"Made by kafka-assay from the finding {finding.id}{found}.", COLUMNS)


def happens(finding: Finding) -> str:
    """Return what the assignor does on the group, as measured."""
    measured = finding.measured
    match finding.promise:
        case "terminates":
            client = finding.assignor.partition("/")[0]
            return _NEVER.get(client, "the assignor does not return")
        case "answers":
            words = " ".join(str(measured.get("reason")).split()).rstrip(".")
            if len(words) > _MOST_CHARACTERS:
                words = f"{words[: _MOST_CHARACTERS - 3]}..."
            return f"no assignment, but {words}"
        case "valid":
            named = measured.get("first")
            wrong = [_blamed(str(one)) for one in named] if isinstance(named, list) else []
            return "; ".join(wrong) or counted(_number(measured, "violations"), "violation")
        case "balanced":
            return f"loads of {_numbers(measured.get('loads'))}"
        case "optimal-balance":
            said = f"balance {measured['balance']}, the best is {measured['optimum']}"
            plan = None if finding.record is None else finding.record.plan
            if plan is None:
                return said
            loads = [sum(map(len, plan.get(m, {}).values())) for m in finding.group.members]
            return f"loads of {_numbers(loads)}, {said}"
        case "optimal-moves":
            moves = counted(_number(measured, "moves"), "partition")
            return f"{moves} moved, where {measured['optimum']} would do"
        case "idempotent":
            moved = counted(_number(measured, "moved"), "partition")
            return f"run again on its own result, it moves {moved}"
        case "settles":
            return (
                "the rounds of the cooperative protocol come back to where they were: the group "
                "rebalances for good"
            )
    return ", ".join(f"{key} {value}" for key, value in measured.items())


def sizes(group: Group) -> str:
    """Return the size of a group as ``3 members, 1 topic, 2 partitions``."""
    return ", ".join(
        counted(number, noun)
        for number, noun in (
            (len(group.members), "member"),
            (len(group.topics), "topic"),
            (group.n_partitions, "partition"),
        )
    )


def table(group: Group) -> list[str]:
    """Return a group as lines of text: what each member reads and owns, and which ones join."""
    topics = group.to_dict()["topics"]
    counts = [f"{t} {n if isinstance(n, int) else n['partitions']}" for t, n in topics.items()]
    rows = [("member", "reads", "owns", "")]
    members = group.to_dict()["members"]
    claimed = any(one["owned"] for one in members.values())
    several = len({one.get("generation") for one in members.values() if one["owned"]}) > 1
    for member, one in members.items():
        owned = " ".join(f"{t}:{ranges(numbers)}" for t, numbers in one["owned"].items())
        more = [f"in rack {one['rack']}"] if "rack" in one else []
        more += [f"instance {one['instance_id']}"] if "instance_id" in one else []
        if several and one["owned"]:
            more.append(f"in generation {one.get('generation', -1)}")
        holds = owned or ("joins" if claimed else "-")
        rows.append((member, " ".join(one["subscription"] or ["-"]), holds, ", ".join(more)))
    return [f"partitions: {', '.join(counts)}", *aligned(rows), *replicas(group)]


def aligned(rows: Sequence[Sequence[str]], between: str = "  ") -> list[str]:
    """Return a line for each row, with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ((c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows)
    return [between.join(cells).rstrip() for cells in padded]


def replicas(group: Group) -> list[str]:
    """Return a line for each topic that has racks of replicas."""
    lines = []
    for topic, details in group.to_dict()["topics"].items():
        racks = [] if isinstance(details, int) else details.get("racks", [])
        if any(racks):
            named = (f"{number} in {' '.join(of) or '-'}" for number, of in enumerate(racks))
            lines.append(f"replicas of {topic}: {', '.join(named)}")
    return lines


def _blamed(violation: str) -> str:
    found = re.fullmatch(r"(.+) with (.+): ([a-z-]+)", violation)
    if found is None or found[3] not in _BLAME:
        return violation
    return _BLAME[found[3]].format(partition=found[1], member=found[2])


def _numbers(loads: object) -> str:
    return ", ".join(map(str, loads)) if isinstance(loads, list) else str(loads)


def _number(measured: Mapping[str, object], key: str) -> int:
    value = measured.get(key)
    return value if isinstance(value, int) else 0
