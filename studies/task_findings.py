"""Task findings: which promises Kafka's task assignors break, in which releases, how often.

``python -m studies streams-tasks`` fetches the releases of Kafka's broker and of Kafka Streams
into a separate cache, hunts small groups, plays weeks of applications, and writes
``docs/findings/streams-tasks.json``, and the smallest groups into ``corpus/task-findings.jsonl``.
It takes about 10 minutes on two cores.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compare.promises.task_program import (
    TASK_FINDINGS,
    TaskFinding,
    as_task_lines,
    read_task_findings,
)
from compare.promises.task_promises import TASK_PROMISES, Placement, restores
from groups.documents.assay_group import pairs
from groups.documents.assay_streams import StreamsDocument
from heuristics.shipped.cache import cache_folder
from heuristics.shipped.classic_task_assignor import MAX_WARMUP_REPLICAS
from heuristics.shipped.java import jars
from heuristics.shipped.task_assignor import (
    CLIENT_OF,
    HIGH_AVAILABILITY,
    ROOM,
    STICKY,
    TaskAssignor,
    TaskLimit,
    until_rest,
)
from studies.page import FOLDER, share, table
from studies.since_when.releases import releases_of
from studies.task_rebalances import (
    AGAIN,
    SHAPES,
    Rebalance,
    application,
    planned,
    rebalances,
    topology,
    weeks,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from heuristics.child import Lost

TALLIES = FOLDER / "streams-tasks.json"
# For the broker's assignor, one of each range of releases with the same answers.
HUNTED = {
    STICKY: ("4.1.2", "4.2.2", "4.4.0"),
    HIGH_AVAILABILITY: ("4.4.0",),
    "classic-sticky": ("4.4.0",),
}
NEWEST, TOLD = "4.4.0", ("broken", "rounds")
SEED, APPLICATIONS, CALLS, CORES = 29, 50, 20, 2
# With so many warm-ups, high availability settles in 2 rebalances instead of dozens, with the same
# result as by default. The second number: applications played with the default.
WARMUPS, WITH_THE_DEFAULT = 1000, 5
# Suffix of a promise's finding without standbys, which has another cause.
WITHOUT_STANDBYS = "-without-standbys"
PROMISES = {
    **{name: one.text for name, one in TASK_PROMISES.items()},
    "stays": "assigned again where nothing has changed, every task stays",
    "repeatable": "the same group is given the same tasks each time",
    "order": "the order of the members in a group makes no difference",
    "settles": "assigned again and again where nothing has changed, all tasks stay in the end",
}


class AtRest(TaskLimit):
    """High availability, called again as in probing rebalances, until no task moves.

    Attributes
    ----------
    rounds : greatest number of rebalances until nothing moved
    at_once : number of tasks that the first rebalance made active without their state
    """

    rounds = at_once = 0

    def plans(self, groups: Sequence[StreamsDocument]) -> list[StreamsDocument | Lost]:
        """Return the final state of each group."""
        courses = until_rest(super().plans, groups)
        self.rounds = max(self.rounds, *(len(course) - 1 for course in courses))
        for before, first in [(course[0], course[1]) for course in courses if len(course) > 1]:
            self.at_once += restores(Placement(before), Placement(first))
        return [course[-1] for course in courses]


def limit_of(version: str, kind: str, warmups: int = MAX_WARMUP_REPLICAS) -> TaskLimit:
    """Return the process of an assignor; high availability runs until no task moves."""
    assignor = TaskAssignor(version, kind, warmups)
    return AtRest(assignor) if kind == HIGH_AVAILABILITY else TaskLimit(assignor)


def hunted(limit: TaskLimit) -> dict[str, Any]:
    """Return how many small rebalances break each promise, and the smallest that does.

    The keys are those of the JSON, and "smallest": by promise, the smallest rebalance.
    """
    counts, tested = Counter[str](), Counter[str]()
    smallest, most = dict[str, Rebalance](), 0

    def count(one: Rebalance, name: str, holds: bool | None) -> None:
        tested[name] += holds is not None
        if holds is False:
            counts[name] += 1
            if name == "fewest-restores" and not one.before.standby_replicas:
                name += WITHOUT_STANDBYS
            if name not in smallest or _size(one) < _size(smallest[name]):
                smallest[name] = one

    for stateful, stateless, standbys, processes in SHAPES:
        again = dict[str, Rebalance]()
        for one in rebalances(topology(stateful, stateless, standbys), limit, processes):
            if one.event == AGAIN:
                again[repr(one.before)] = one
            for name, judgement in one.judged().items():
                count(one, name, judgement.holds)
        groups = [one.before for one in again.values()]
        repeated, turned = limit.plans(groups), limit.plans([*map(_reversed, groups)])
        repeatable = all(a == one.after for a, one in zip(repeated, again.values(), strict=True))
        for one, same, other in zip(again.values(), repeated, turned, strict=True):
            count(one, "repeatable", same == one.after)
            # If answers are not repeatable, neither of these means anything.
            rounds = _rounds(one, again)
            count(one, "order", other == one.after if repeatable else None)
            count(one, "settles", rounds is not None if repeatable else None)
            most = max(most, rounds or 0)
    return {
        "broken": {name: [counts[name], tested[name]] for name in PROMISES},
        # If answers are not repeatable, the number of rounds is not known.
        "rounds": None if counts["repeatable"] else most,
        "smallest": smallest,
    }


def _size(one: Rebalance) -> tuple[object, ...]:
    tasks = [s.tasks for s in one.before.subtopologies.values()]
    said = (len(one.before.members) + sum(tasks), len(tasks), one.before.standby_replicas)
    return (*said, len(one.history), one.history)


def _rounds(one: Rebalance, again: Mapping[str, Rebalance]) -> int | None:
    """Return after how many assignments an unchanged group has no more moves; None: never."""
    seen = [repr(one.before)]
    while (after := repr(again[seen[-1]].after)) != seen[-1]:
        if after in seen:
            return None
        seen.append(after)
    return len(seen) - 1


def weekly(limit: TaskLimit, many: int = APPLICATIONS) -> list[dict[str, object]]:
    """Return how many rebalances of a week break each promise, by kind of application."""
    found: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    applications = [application(SEED, number) for number in range(many)]
    for one, rebalance in weeks(applications, limit):
        kinds = {s.stateful for s in one.group.subtopologies.values()}
        kind = "mixed" if len(kinds) > 1 else ("stateful" if kinds == {True} else "stateless")
        if kind != "stateless":
            kind += f", {one.group.standby_replicas or 'no'} standby"
        for name, judgement in rebalance.judged().items():
            if judgement.holds is not None:
                measured = dict(judgement.measured)
                # Numbers of moves and restores, and how many would be enough.
                sums = {k: v for k, v in measured.items() if k in ("moves", "restores", "enough")}
                found[name, kind].update(Counter(tested=1, broken=not judgement.holds))
                found[name, kind].update({k: int(str(v)) for k, v in sums.items()})
    return [{"promise": name, "kind": kind, **c} for (name, kind), c in sorted(found.items())]


def _reversed(group: StreamsDocument) -> StreamsDocument:
    """Return the group with its members in the opposite order."""
    return replace(group, members=dict(reversed(group.members.items())))


def finding_of(name: str, one: Rebalance, kind: str) -> TaskFinding:
    """Return the smallest rebalance that breaks a promise as a finding, without its releases."""
    promise = name.removesuffix(WITHOUT_STANDBYS)
    judged = one.judged().get(promise)
    return TaskFinding(
        id=f"kafka-streams-{kind}-{name}",
        assignor=f"{ROOM}{kind}",
        promise=promise,
        promised=PROMISES[promise],
        history=one.history,
        measured={} if judged is None else dict(judged.measured),
        affected=[],
        before=one.before,
        after=one.after,
    )


def affected(finding: TaskFinding, limit: TaskLimit) -> bool:
    """Return whether an assignor breaks the promise on the group of a finding.

    It is called several times, and one break is enough, because the client's sticky assignor is
    not repeatable.
    """
    before, seen = finding.before, list[StreamsDocument]()
    if finding.promise == "repeatable":
        first, *others = limit.plans([before] * CALLS)
        return any(other != first for other in others)
    if finding.promise == "order":
        first, other = limit.plans([before, _reversed(before)])
        return first != other
    if finding.promise != "settles":
        plans = planned([before] * CALLS, limit)
        rebalances = (Rebalance(finding.history[-1], before, after) for after in plans)
        return any(one.judged()[finding.promise].holds is False for one in rebalances)
    while before not in seen:
        seen.append(before)
        (before,) = planned([before], limit)
    return before != seen[-1]


def _played(version: str, kind: str) -> tuple[dict[str, Any], dict[str, object]]:
    """Return an assignor's results on small groups, and on weeks of applications."""
    with limit_of(version, kind) as limit, limit_of(version, kind, WARMUPS) as of_week:
        hunt = hunted(limit)
        week: dict[str, object] = {"rows": weekly(of_week)}
        if isinstance(limit, AtRest) and isinstance(of_week, AtRest):
            hunt["rounds"], limit.rounds = limit.rounds, 0
            weekly(limit, WITH_THE_DEFAULT)
            week |= {"rounds": limit.rounds, "at_once": limit.at_once + of_week.at_once}
    return hunt, week


def run() -> None:
    """Run the study and write its results."""
    # A separate cache, so that these releases are not listed and scored elsewhere.
    os.environ["KAFKA_ASSAY_CACHE"] = str(cache_folder("releases"))
    asked = [(version, kind) for kind, versions in HUNTED.items() for version in versions]
    for version, kind in asked:
        CLIENT_OF[kind].fetch(version)
    with ProcessPoolExecutor(CORES, get_context("spawn")) as pool:
        came = dict(zip(asked, pool.map(_played, *zip(*asked, strict=True)), strict=True))
    made, findings = {}, list[TaskFinding]()
    for kind, versions in HUNTED.items():
        found = {version: came[version, kind] for version in versions}
        client = CLIENT_OF[kind]
        every, oldest = releases_of(client.name), jars.release(client.oldest)
        released = [one.version for one in every if jars.release(one.version) >= oldest]
        made[kind] = {
            "versions": released,
            "hunted": {v: {key: hunt[key] for key in TOLD} for v, (hunt, _) in found.items()},
            "weeks": {version: week for version, (_, week) in found.items()},
        }
        smallest = {name: o for hunt, _ in found.values() for name, o in hunt["smallest"].items()}
        some = [finding_of(name, one, kind) for name, one in sorted(smallest.items())]
        for version in released:
            client.fetch(version)
            with limit_of(version, kind) as limit:
                for one in some:
                    one.affected.extend([version] * affected(one, limit))
        findings += some
    told = {"seed": SEED, "applications": APPLICATIONS, "assignors": made}
    TALLIES.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    TASK_FINDINGS.write_text(as_task_lines(findings), "utf-8")


def page_of(made: Mapping[str, Any]) -> str:
    """Return the tables of the page, and the smallest group of each broken promise."""
    findings = read_task_findings()
    return "\n\n".join(
        _part(kind, found, [one for one in findings if one.assignor == f"{ROOM}{kind}"])
        for kind, found in made["assignors"].items()
    )


def _part(kind: str, found: Mapping[str, Any], findings: Iterable[TaskFinding]) -> str:
    hunts = found["hunted"]
    small = [
        [f"`{name}`", text, *(_cell(*hunt["broken"][name]) for hunt in hunts.values())]
        for name, text in PROMISES.items()
    ]
    weeks_of: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for week in found["weeks"].values():
        for one in week["rows"]:
            weeks_of[one["promise"], one["kind"]].append((one["broken"], one["tested"]))
    played = [
        [f"`{name}`", tasks, *(_cell(*counts) for counts in of)]
        for (name, tasks), of in weeks_of.items()
        if any(broken for broken, _ in of)
    ]
    settled = [f"{h['rounds']} ({v})" for v, h in hunts.items() if h["rounds"] is not None]
    again = "Assignments of a group that does not change, until no task moves any more, at most: "
    return "\n\n".join(
        [
            f"## Small groups of `{kind}`",
            table(["promise", "what is kept", *hunts], small),
            *([again + ", ".join(settled) + "."] if settled else []),
            f"## Weeks of applications with `{kind}`",
            table(["promise", "tasks of the applications", *found["weeks"]], played),
            f"## The smallest groups of `{kind}`",
            *map(_example, findings),
        ]
    )


def _cell(broken: int, tested: int) -> str:
    if not tested:
        return "-"
    return f"{broken:,} of {tested:,}" + (f" ({share(broken, tested)})" if broken else "")


def _example(finding: TaskFinding) -> str:
    before, after = finding.before, finding.after
    measured = [f"{key} {_said(value)}" for key, value in finding.measured.items()]
    lines = [f"  {member:4} {_row(before, member)}" for member in before.members]
    lines += ["given:", *(f"  {member:4} {_row(after, member)}" for member in after.members)]
    return "\n".join(
        [
            f"### `{finding.id.removeprefix('kafka-streams-')}`",
            "",
            f"{'; '.join([*finding.history, *measured])}.",
            f"Affected, on this group: {', '.join(finding.affected)}.",
            "",
            "```text",
            f"before, num.standby.replicas={before.standby_replicas}:",
            *lines,
            "```",
        ]
    )


def _said(value: object) -> str:
    if isinstance(value, dict):
        return _said([f"{key} {one}" for key, one in value.items()])
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _row(group: StreamsDocument, member: str) -> str:
    tasks = group.members[member].tasks
    roles = (("active", tasks.active), ("standby", tasks.standby))
    said = [f"{role} " + " ".join(f"{s}_{n}" for s, n in pairs(of)) for role, of in roles if of]
    return ", ".join(said) or "nothing"
