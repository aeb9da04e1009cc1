"""Why: the cycles in which clients' assignors loop, and the chains of moves that they miss.

``python -m studies why`` writes ``docs/findings/why.json``, an entry for each finding in
``corpus/findings.jsonl`` that it can explain, and the key ``why`` of those findings. Cycles are
recorded from the clients' own code, chains are computed.
"""

from __future__ import annotations

import json
import sys
import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from compare.promises.findings import Finding, read_findings
from compare.promises.trial import rejoined
from groups import Assignment, Group
from groups.wording import listed
from heuristics import assign, assignor_named
from heuristics.written.sticky_that_ends import from_its_holder, from_where_it_started
from optimal import solve
from studies.loops import java, librdkafka, rounds
from studies.loops.turns import cycle_of, recorded_in_python, story, turns_of
from studies.page import FOLDER, read, table
from studies.shipped_findings import FINDINGS, write_findings
from studies.tallies import small

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from studies.loops.turns import Turn

    Entry = Mapping[str, object]

ENDS = "sticky-that-ends"
RECORDERS: Mapping[str, Callable[[str, Group], list[Turn]]] = {
    "kafka-java": java.recorded,
    "aiokafka": recorded_in_python,
    "kafka-python": recorded_in_python,
}
# Sentences that are the same for all findings of a kind, or all on a client.
SAID: Mapping[str, Mapping[str, str]] = tomllib.loads(
    Path(__file__).with_name("why.toml").read_text("utf-8")
)


def caught(finding: Finding) -> Entry | None:
    """Return the cycle of a finding on which a client never ends; None if it cannot be recorded.

    Raises
    ------
    Failed
        If the debugger cannot attach to the client.
    """
    client = finding.assignor.partition("/")[0]
    if client not in RECORDERS or assignor_named(finding.assignor).missing() is not None:
        return None
    turns = RECORDERS[client](finding.assignor, finding.group)
    found = cycle_of(turns)
    if found is None:
        return None
    before, cycle = found
    ours = turns_of(finding.group, from_where_it_started)
    ending = turns_of(finding.group, from_its_holder)
    made = assign(finding.group, ENDS)
    return {
        "cycle": [turn.to_dict() for turn in cycle],
        "turns_before": before,
        "turns_recorded": len(turns),
        "recorded_by": SAID[client]["how"],
        "same_as_our_algorithm_with_that_rule": turns == ours,
        "rule": SAID["endless"]["rule"].format(where=SAID[client]["where"]),
        "case": story(turns, before, len(cycle)),
        "chain": None,
        "change": SAID["endless"]["change"].format(
            ends=ENDS, turns=len(ending), loads=", ".join(map(str, made.loads.tolist()))
        ),
        "assignor": ENDS,
    }


def missed(finding: Finding) -> Entry | None:
    """Return the moves that would give a finding's plan the best balance; None if none would."""
    plan = None if finding.record is None else finding.record.plan
    if plan is None:
        return None
    text = why_unseen(Assignment.from_dict(finding.group, plan))
    if text is None:
        return None
    return {"cycle": [], "rule": None, "chain": text, "change": None, "assignor": None}


def died(finding: Finding) -> Entry | None:
    """Return why librdkafka dies; None for other clients, or if it does not."""
    client, _, kind = finding.assignor.partition("/")
    if client != "librdkafka" or assignor_named(finding.assignor).missing() is not None:
        return None
    moves, failed = librdkafka.recorded(finding.group, kind.partition("@")[0])
    case = None if failed is None else librdkafka.story(moves, *failed)
    if case is None:
        return None
    return {
        "cycle": [],
        "moves": [one._asdict() for one in moves],
        "recorded_by": "the library's own log of its assignor",
        "rule": SAID["dies"]["rule"],
        "case": case,
        "chain": None,
        "change": SAID["dies"]["change"].format(ends=ENDS),
        "assignor": ENDS,
    }


def circles(finding: Finding) -> Entry | None:
    """Return the cycle of a cooperative client's rounds; None if it cannot be recorded."""
    if assignor_named(finding.assignor).missing() is not None:
        return None
    seen = rounds.rounds_of(finding.assignor, finding.group)
    found = rounds.circle_of(seen)
    if found is None:
        return None
    before, circle = found
    is_java = finding.assignor.startswith("kafka-java/")
    meant = java.withheld(finding.assignor, finding.group) if is_java else []
    bare = rounds.rounds_of(finding.assignor, replace(finding.group, racks=None))
    settles = rounds.circle_of(bare) is None
    return {
        "cycle": [{"owned": one.owned, "given": one.given} for one in circle],
        "rounds_before": before,
        "withheld_for": meant,
        "recorded_by": "calls of the client's own code, each with what the one before gave",
        "rule": SAID["circles"]["rule"],
        "case": rounds.story(circle, before, meant),
        "chain": None,
        "change": settled(finding.group),
        "rounds_without_racks": len(bare) if settles else None,
        "assignor": ENDS,
    }


def settled(group: Group) -> str:
    """Return the change that ends the rounds, with its result on this group and on small groups.

    Raises
    ------
    Failed
        If the rounds of the changed assignor never settle either.
    """
    loads, taken = rounds.settled_by(ENDS, group)
    said = ", ".join(map(str, loads))
    return SAID["circles"]["change"].format(
        ends=ENDS, taken=taken, loads=said, tried=_small_that_settle()
    )


@cache
def _small_that_settle() -> int:
    """Return on how many small groups the rounds of the changed assignor settle."""
    return sum(bool(rounds.settled_by(ENDS, each)) for each in small())


def why_unseen(assignment: Assignment) -> str | None:
    """Return the fewest moves to the best balance, in words; None if the balance is the best.

    They also say whether a single move improves the balance; if none does, a rule that looks at
    one partition at a time ends there.

    Raises
    ------
    InvalidAssignment
        If the assignment is not valid.
    """
    assignment.require_valid()
    group, best = assignment.group, solve(rejoined(assignment.group, assignment)).assignment
    assert best is not None
    moved = (assignment.owner != best.owner).nonzero()[0].tolist()
    if not moved:
        return None
    left = {p: (int(assignment.owner[p]), int(best.owner[p])) for p in moved}
    moves, through = list[str](), list[int]()
    while left:
        # Order the moves as a chain: if possible, a move leaves the member that the last one
        # reached.
        reached = {to for _, to in left.values()}
        next_one = [p for p, (leaves, _) in left.items() if through and leaves == through[-1]]
        first = [p for p, (leaves, _) in left.items() if leaves not in reached]
        partition = (next_one or first or [*left])[0]
        leaves, to = left.pop(partition)
        topic = group.topics[group.topic[partition]]
        who = group.members[leaves], group.members[to]
        moves.append(f"{topic}-{group.number[partition]} from {who[0]} to {who[1]}")
        through += [leaves, to]
    before, then = (
        ", ".join(f"{group.members[m]} {one.loads[m]}" for m in dict.fromkeys(through))
        for one in (assignment, best)
    )
    single = "A" if _a_single_move_improves(assignment) else "No"
    return f"{listed(moves)}: {before} become {then}. {single} single move improves the balance."


def _a_single_move_improves(assignment: Assignment) -> bool:
    group, loads = assignment.group, assignment.loads
    return any(
        (loads[group.subscribers(int(topic))] <= loads[holder] - 2).any()
        for topic, holder in zip(group.topic, assignment.owner, strict=True)
        if holder >= 0
    )


TOLD: Mapping[str, Callable[[Finding], Entry | None]] = {
    "terminates": caught,
    "answers": died,
    "settles": circles,
    "optimal-balance": missed,
}


def entries(findings: Iterable[Finding], before: Mapping[str, Entry]) -> dict[str, Entry]:
    """Return the entry of each finding, by id; one that cannot be run here keeps its entry."""
    found = {}
    for finding in findings:
        told = TOLD.get(finding.promise)
        entry = None if told is None else told(finding)
        # A finding whose group has changed has an empty `why`, so its old entry is dropped.
        entry = before.get(finding.id) if entry is None and finding.why else entry
        if entry is not None:
            found[finding.id] = entry
        elif told in (caught, circles):
            sys.stderr.write(f"{finding.id}: nothing recorded\n")
    return found


def case_of(entry: Mapping[str, object]) -> list[str]:
    """Return the sentences of an entry's case; empty if it has none."""
    case = entry.get("case")
    return case if isinstance(case, list) else []


def why_of(entry: Mapping[str, object]) -> tuple[str, ...]:
    """Return an entry's text for maintainers: the rule and its case, or the missed moves."""
    rule, chain = entry["rule"], entry["chain"]
    told = [*([str(rule)] if rule else []), *case_of(entry)]
    return (*told, f"The best balance takes {chain}") if chain else tuple(told)


def page_of(made: Mapping[str, Entry]) -> str:
    """Return the generated part of the page: each case and each chain once, with its findings."""
    cases: dict[str, list[str]] = {}
    chains: dict[str, list[str]] = {}
    for name, entry in made.items():
        if case_of(entry):
            without = ""
            if "rounds_without_racks" in entry:
                taken = entry["rounds_without_racks"]
                without = f"Without racks the same group settles after {taken} rounds. "
                if taken is None:
                    without = "Without racks it does not settle either. "
            case = f"{' '.join(case_of(entry))} {without}{entry['change']}"
            cases.setdefault(case, []).append(f"`{name}`")
        if entry["chain"]:
            chains.setdefault(str(entry["chain"]), []).append(f"`{name}`")
    lines = [f"- {', '.join(names)}: {case}" for case, names in cases.items()]
    rows = [(", ".join(names), chain) for chain, names in chains.items()]
    lines += ["", table(("finding", "moves that would make the balance the best"), rows)]
    return "\n".join(lines)


def run() -> None:
    """Record cycles and compute chains again."""
    findings = list(read_findings(FINDINGS))
    made = entries(findings, read(FOLDER / "why.json"))
    write_findings([replace(f, why=why_of(made[f.id]) if f.id in made else ()) for f in findings])
    text = json.dumps(made, ensure_ascii=False, indent=1) + "\n"
    (FOLDER / "why.json").write_text(text, encoding="utf-8")
