"""Task findings: what the broker's assignor of streams tasks breaks, in which releases, how often.

``python -m studies.task_findings``, as in ``make streams-tasks``, fetches the releases of Kafka's
broker into a cache of its own, hunts small groups, plays weeks of applications, and writes
``docs/findings/streams-tasks.json``. It takes about 20 minutes. ``python -m studies.task_findings
programs FOLDER`` writes what it found as JUnit tests, a folder each.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import convert, to_builtins
from msgspec.structs import replace

from compare.promises.task_program import TESTED, task_program
from compare.promises.task_promises import TASK_PROMISES
from groups import Failed
from groups.documents.assay_streams import StreamsDocument
from groups.documents.json_files import make_folder
from heuristics.child import Lost
from heuristics.shipped.cache import cache_folder
from heuristics.shipped.java import jars
from heuristics.shipped.java.java_client import KAFKA_BROKER
from heuristics.shipped.task_assignor import OLDEST, TaskAssignor, TaskLimit
from studies.page import share, table
from studies.since_when.releases import releases_of
from studies.task_hunt import AGAIN, SHAPES, Rebalance, rebalances, topology
from studies.task_week import application, weeks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from compare.promises.program import Program

WRITTEN = Path("docs/findings/streams-tasks.json")
# One of each run of releases whose assignor answers alike.
HUNTED = ("4.1.2", "4.2.1", "4.2.2", "4.4.0")
SEED, APPLICATIONS, CALLS = 29, 100, 20
# Another cause than where there are standbys, and so another example.
WITHOUT_STANDBYS = "fewest-restores-without-standbys"
PROMISES = {
    **{name: one.text for name, one in TASK_PROMISES.items()},
    "stays": "assigned again where nothing has changed, every task stays",
    "repeatable": "the same group is given the same tasks each time",
    "order": "the order of the members in a group makes no difference",
    "settles": "assigned again and again where nothing has changed, all tasks stay in the end",
}


def hunted(limit: TaskLimit) -> dict[str, Any]:
    """Return how many small rebalances break each promise, and the smallest that does."""
    counts, smallest, most = Counter[str](), dict[str, Rebalance](), 0
    tested = Counter[str]()

    def count(one: Rebalance, name: str, holds: bool | None) -> None:
        tested[name] += holds is not None
        if holds is False:
            counts[name] += 1
            if name == "fewest-restores" and not one.before.standby_replicas:
                name = WITHOUT_STANDBYS
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
        repeated, turned = limit.plans(groups), limit.plans([*map(_turned, groups)])
        repeatable = all(a == one.after for a, one in zip(repeated, again.values(), strict=True))
        for one, same, other in zip(again.values(), repeated, turned, strict=True):
            count(one, "repeatable", same == one.after)
            # Where an answer is one of several, neither of these means anything.
            rounds = _rounds(one, again)
            count(one, "order", other == one.after if repeatable else None)
            count(one, "settles", rounds is not None if repeatable else None)
            most = max(most, rounds or 0)
    return {
        "broken": {name: [counts[name], tested[name]] for name in PROMISES},
        # Where nothing is repeatable, what an assignment comes to next is not known.
        "rounds": None if counts["repeatable"] else most,
        "smallest": {name: _told(one, name) for name, one in sorted(smallest.items())},
    }


def _size(one: Rebalance) -> tuple[object, ...]:
    tasks = [s.tasks for s in one.before.subtopologies.values()]
    said = (len(one.before.members) + sum(tasks), len(tasks), one.before.standby_replicas)
    return (*said, len(one.history), one.history)


def _told(one: Rebalance, name: str) -> dict[str, object]:
    judged = one.judged().get(name.removesuffix("-without-standbys"))
    measured = {} if judged is None else dict(judged.measured)
    groups = {"before": to_builtins(one.before), "after": to_builtins(one.after)}
    return {"history": one.history, "measured": measured, **groups}


def _rounds(one: Rebalance, again: Mapping[str, Rebalance]) -> int | None:
    """Return after how many assignments a group that does not change stays; None: never."""
    seen = [repr(one.before)]
    while (after := repr(again[seen[-1]].after)) != seen[-1]:
        if after in seen:
            return None
        seen.append(after)
    return len(seen) - 1


def weekly(limit: TaskLimit) -> list[dict[str, object]]:
    """Return how many rebalances of a week break each promise, by kind of application."""
    found: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    applications = [application(SEED, number) for number in range(APPLICATIONS)]
    for one, rebalance in weeks(applications, limit):
        kinds = {s.stateful for s in one.group.subtopologies.values()}
        kind = "mixed" if len(kinds) > 1 else ("stateful" if kinds == {True} else "stateless")
        if kind != "stateless":
            kind += f", {one.group.standby_replicas or 'no'} standby"
        for name, judgement in rebalance.judged().items():
            if judgement.holds is not None:
                said = dict(judgement.measured)
                # Of moves and restores: how many there were, and how many are enough.
                made = {k: v for k, v in said.items() if k in ("moves", "restores", "enough")}
                found[name, kind].update(Counter(tested=1, broken=not judgement.holds))
                found[name, kind].update({k: int(str(v)) for k, v in made.items()})
    return [{"promise": name, "kind": kind, **c} for (name, kind), c in sorted(found.items())]


def _turned(group: StreamsDocument) -> StreamsDocument:
    """Return the group with its members in the opposite order."""
    return replace(group, members=dict(reversed(group.members.items())))


def affected(example: Mapping[str, Any], name: str, limit: TaskLimit) -> bool:
    """Return whether an assignor breaks a promise on the group of an example."""
    before, seen = convert(example["before"], StreamsDocument), list[StreamsDocument | Lost]()
    if name == "repeatable":
        first, *others = limit.plans([before] * CALLS)
        return any(other != first for other in others)
    if name == "order":
        first, other = limit.plans([before, _turned(before)])
        return first != other
    while before not in seen:
        (after,) = limit.plans([before])
        if isinstance(after, Lost):
            raise Failed(after.reason)
        if name != "settles":
            judged = Rebalance(example["history"][-1], before, after).judged()
            return judged[name.removesuffix("-without-standbys")].holds is False
        seen.append(before)
        before = after
    return before != seen[-1]


def main() -> None:
    """Run the study and write what it found."""
    # Releases fetched here are not to be listed and scored elsewhere.
    os.environ["KAFKA_ASSAY_CACHE"] = str(cache_folder("releases"))
    hunts, played = {}, {}
    for version in HUNTED:
        KAFKA_BROKER.fetch(version)
        with TaskLimit(TaskAssignor(version)) as limit:
            hunts[version], played[version] = hunted(limit), weekly(limit)
    WRITTEN.write_text(json.dumps(assembled(hunts, played), indent=1) + "\n", "utf-8")


def assembled(
    hunts: Mapping[str, dict[str, Any]], played: Mapping[str, object]
) -> dict[str, object]:
    """Return all that was found: the smallest groups, of the newest release that breaks a promise.

    They are tried in every release.
    """
    released = [one.version for one in releases_of(KAFKA_BROKER.name)]
    versions = [v for v in released if jars.release(v) >= jars.release(OLDEST)]
    examples: dict[str, dict[str, Any]] = {}
    for version in HUNTED:
        examples |= hunts[version]["smallest"]
    examples = {name: one | {"affected": []} for name, one in examples.items()}
    for version in versions:
        KAFKA_BROKER.fetch(version)
        with TaskLimit(TaskAssignor(version)) as limit:
            for name, example in examples.items():
                example["affected"] += [version] * affected(example, name, limit)
    counts = {v: {key: hunts[v][key] for key in ("broken", "rounds")} for v in HUNTED}
    return {
        "versions": versions,
        "seed": SEED,
        "applications": APPLICATIONS,
        "hunted": counts,
        "weeks": played,
        "examples": examples,
    }


def page_of(made: Mapping[str, Any]) -> str:
    """Return the tables of the page, and the smallest group of each broken promise."""
    hunts, examples = made["hunted"], made["examples"]
    small = [
        [f"`{name}`", text, *(_cell(*hunts[v]["broken"][name]) for v in HUNTED)]
        for name, text in PROMISES.items()
    ]
    weeks_of: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for version in HUNTED:
        for one in made["weeks"][version]:
            weeks_of[one["promise"], one["kind"]].append((one["broken"], one["tested"]))
    played = [
        [f"`{name}`", kind, *(_cell(*counts) for counts in of)]
        for (name, kind), of in weeks_of.items()
        if any(broken for broken, _ in of)
    ]
    settled = [f"{hunts[v]['rounds']} ({v})" for v in HUNTED if hunts[v]["rounds"] is not None]
    shown = [name for name in (*PROMISES, WITHOUT_STANDBYS) if name in examples]
    return "\n\n".join(
        [
            "## Small groups",
            table(["promise", "what is kept", *HUNTED], small),
            "Assignments of a group that does not change, until no task moves any more, at most: "
            f"{', '.join(settled)}.",
            "## Weeks of applications",
            table(["promise", "tasks of the applications", *HUNTED], played),
            "## The smallest groups",
            *(_example(name, examples[name]) for name in shown),
        ]
    )


def _cell(broken: int, tested: int) -> str:
    if not tested:
        return "-"
    return f"{broken:,} of {tested:,}" + (f" ({share(broken, tested)})" if broken else "")


def _example(name: str, example: Mapping[str, Any]) -> str:
    before, after = (convert(example[key], StreamsDocument) for key in ("before", "after"))
    measured = [f"{key} {_said(value)}" for key, value in example["measured"].items()]
    lines = [f"  {member:4} {_row(before, member)}" for member in before.members]
    lines += ["given:", *(f"  {member:4} {_row(after, member)}" for member in after.members)]
    return "\n".join(
        [
            f"### `{name}`",
            "",
            f"{'; '.join([*example['history'], *measured])}.",
            f"Affected, on this group: {', '.join(example['affected'])}.",
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
    said = [
        f"{role} " + " ".join(f"{s}_{n}" for s, numbers in of.items() for n in numbers)
        for role, of in roles
        if of
    ]
    return ", ".join(said) or "nothing"


def programs(made: Mapping[str, Any]) -> list[Program]:
    """Return the examples as JUnit tests for the newest release, where one is for the promise."""
    return [
        task_program(
            name,
            convert(example["before"], StreamsDocument),
            version=HUNTED[-1],
            text=PROMISES[name],
            history=example["history"],
            measured=example["measured"],
        )
        for name, example in made["examples"].items()
        if name in TESTED and HUNTED[-1] in example["affected"]
    ]


def write_programs(folder: Path) -> None:
    """Write the programs, each into a folder of its own."""
    for program in programs(json.loads(WRITTEN.read_text("utf-8"))):
        place = folder / Path(program.file).stem
        make_folder(place)
        for name, text in program.files.items():
            (place / name).write_text(text, "utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["programs"] and len(sys.argv) == 3:
        write_programs(Path(sys.argv[2]))
    else:
        main()
