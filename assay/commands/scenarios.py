"""Scenarios: a group through a sequence of events."""

from __future__ import annotations

from contextlib import ExitStack
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay.commands.guests import Port, Probed, guest, require_probe
from assay.commands.options import (
    DEFAULT_SECONDS,
    Assignors,
    AssumeEqual,
    Format,
    GroupOptions,
    Objective,
    OneOf,
    Reads,
    TimeLimitOption,
    one_group,
)
from assay.signals import ending_on_signals
from assay.streams import note_assumed, show_json
from assay.terminal import Column, show_table, tell
from compare.scenarios.journey import Journey, JourneyStep, play, result_document
from compare.scenarios.rollout import COUNTS as COUNTED
from compare.scenarios.rollout import Rollout, Rule
from compare.scenarios.scenario import Scenario
from compare.scenarios.upgrade_paths import PLAIN, Variation, roll_out_by_rule, rollout_document
from compare.sentences import called
from groups.documents.texts import beginning, named, read_bytes
from groups.errors import BadInput
from groups.wording import counted, few
from heuristics import Assignor, available, matching
from heuristics.time_limit import TimeLimit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_OF_A_GROUP = "leave out --group, --reads, --rotate, --deploys, --scale-out, --scale-in, --rollout"
_WHAT_HAPPENS = (
    "Add --rotate nightly, --deploys, --scale-out or --scale-in; or, as in --from range --to "
    "cooperative-sticky, the assignor that it changes to"
)
COUNTS = ("change_hands", "rounds", "revoked", "stopped", "ownerless", "needless")
# What columns count, in a few words; in full in docs/reference/scenarios.md.
SAID = {
    "rounds": "rebalances until nobody has to join again",
    "revoked": "partitions that members clean up and give up",
    "stopped": "of these, those given up before the group joined, so that nobody read them",
    "ownerless": "partitions that a round leaves with nobody",
    "lost": "partitions that members learnt too late to be no longer theirs",
    "moves": "partitions that leave a member that stays",
    "change_hands": "also those of members that leave",
    "needless": "partitions that a listener cleans up and builds again although they stay",
    "barred": "members that must not commit until they have joined again",
    "without_plan": "rebalances for which the assignor made no assignment",
    "contested": "partitions for which two members could commit",
}
# What the rules are to a reader.
RULES = {Rule.STATIC: "clients of today", Rule.DYNAMIC: "proposal of KIP-726"}
RULE_SAID = {
    Rule.STATIC: "as clients of today do it: a member's protocol is fixed when it starts",
    Rule.DYNAMIC: "as KIP-726 proposes, which Kafka's Java client does not do up to 4.4.0: a "
    "member's protocol follows from the assignor that was chosen last",
}


@ending_on_signals("interrupted")
def scenario(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="assay-scenario/1 files, or a group as other commands take it; - for standard "
            "input",
        ),
    ],
    *,
    group: OneOf = None,
    rotate: Annotated[
        Literal["nightly"] | None,
        typer.Option(help="of a group: all members restart one after another, every night"),
    ] = None,
    days: Annotated[int, typer.Option(min=1, help="of --rotate: for how many days")] = 1,
    deploys: Annotated[
        int, typer.Option(min=0, help="of a group: all members restart so often")
    ] = 0,
    scale_out: Annotated[
        int, typer.Option(min=0, help="of a group: so many members join, after the restarts")
    ] = 0,
    scale_in: Annotated[
        int, typer.Option(min=0, help="of a group: so many members leave, in the end")
    ] = 0,
    start: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            metavar="ASSIGNORS",
            help="of a rollout: what members list at the start, as in sticky,range, or some of "
            "them, as in 'app-*=sticky,range'",
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(metavar="ASSIGNORS", help="of a rollout: what they list in the end"),
    ] = None,
    stays: Annotated[
        str | None,
        typer.Option(metavar="MEMBERS", help="of a rollout: who keeps the old list"),
    ] = None,
    rollout: Annotated[
        Literal["upgrade", "downgrade", "missed", "range-only"] | None,
        typer.Option(help="of a group: the rollout; upgrade with --from, --to or --stays"),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            metavar="MEMBERS", help="of a rollout: who restarts first, as in app-2,app-0"
        ),
    ] = None,
    misses: Annotated[
        str | None,
        typer.Option(metavar="MEMBER", help="of the rollout missed: who misses a rebalance"),
    ] = None,
    back: Annotated[
        bool, typer.Option("--back", help="of an upgrade or downgrade: and back again")
    ] = False,
    assignor: Assignors = None,
    objective: Objective = "kip-54",
    time_limit: TimeLimitOption = DEFAULT_SECONDS,
    reads: Reads = None,
    assume_equal: AssumeEqual = False,
    probe: Probed = False,
    port: Port = 0,
    format_: Format = "table",
) -> None:
    """Take a group through a week of restarts, or through the change of its assignor.

    For a group, --rotate, --deploys, --scale-out or --scale-in say what happens, or --from and
    --to the change of its assignor. Unknown subscriptions are taken as all topics. Events are
    played with each assignor and with the optimum, each from its own last assignment.
    """
    require_probe(port, probe=probe)
    names = matching(assignor) if assignor else () if probe else None
    variation = _variation(order, misses, stays, start or (), to, back=back)
    data = {file: read_bytes(file) for file in files}
    happens = {
        "restarts": deploys + (days if rotate else 0), "joins": scale_out, "leaves": scale_in,
    }  # fmt: skip
    if all(_is_scenario(read) for read in data.values()):
        if group or reads or rollout or any(happens.values()):
            raise BadInput(f"{named(files[0])}: says itself what happens: {_OF_A_GROUP}")
        asked = [Scenario.read(file, data=data[file], assume_equal=assume_equal) for file in files]
    else:
        alike = GroupOptions(reads=reads, assume_equal=True)
        captured = one_group(files, group, alike, standard_input=data.get("-"))
        name = rollout or ("upgrade" if variation else None)
        if any(happens.values()) and name is not None:
            raise BadInput(
                f"{captured.name}: --rotate, --deploys, --scale-out and --scale-in are played "
                "without a rollout: leave out --rollout, --order, --misses, --stays, --from, --to "
                "and --back"
            )
        if not any(happens.values()) and name is None:
            raise BadInput(f"{captured.name}: what happens to it? {_WHAT_HAPPENS}")
        there = len(captured.members) + scale_out
        if not there:
            raise BadInput(f"{captured.name}: no members: --scale-out N lets some join")
        if scale_in >= there:
            fewer = f"{counted(scale_in, 'member')}, expected fewer than the {there:,} there"
            raise BadInput(f"{captured.name}: --scale-in: {fewer}")
        asked = [Scenario.of_group(captured, **happens, rollout=name)]
    for one in asked:
        if one.rollout is not None and (assignor or probe):
            option = "--assignor" if assignor else "--probe"
            raise BadInput(f"{option}: rollout {one.rollout} chooses its assignors itself")
        if one.rollout is None and variation is not None:
            raise BadInput(
                f"{one.name}: has events and is no rollout: leave out --order, --misses, "
                "--stays, --from, --to and --back"
            )
    with ExitStack() as opened:
        joined = [opened.enter_context(guest(port=port, seconds=time_limit))] if probe else []
        for one in asked:
            note_assumed(one.group.assumed)
            if one.rollout is not None:
                _roll_out(one, variation, format_)
            else:
                who: list[str | Assignor] = [*(available() if names is None else names), *joined]
                steps = bool(assignor or probe) and not any(happens.values())
                _play(one, who, objective, time_limit, format_, steps=steps)


def _play(
    asked: Scenario,
    assignors: Sequence[str | Assignor],
    objective: str,
    time_limit: float | None,
    format_: str,
    *,
    steps: bool,
) -> None:

    with TimeLimit(time_limit or DEFAULT_SECONDS) as limit:
        journeys = play(asked, assignors, limit, objective)
    if format_ == "json":
        show_json(result_document(asked, journeys))
    else:
        _print_journeys(asked.name, journeys, steps=steps)


def _roll_out(asked: Scenario, variation: Variation | None, format_: str) -> None:

    rollouts = roll_out_by_rule(asked.group, asked.rollout or "", variation or PLAIN)
    if format_ == "json":
        show_json(rollout_document(asked.group, rollouts))
    else:
        _print_rollouts(rollouts)


def _variation(
    order: str | None,
    misses: str | None,
    stays: str | None,
    start: Sequence[str],
    to: str | None,
    *,
    back: bool,
) -> Variation | None:
    """Return what is chosen about a rollout; None where nothing is."""
    if not (order or misses or stays or start or to or back):
        return None
    of_all, of_some = None, {}
    for given in start:
        pattern, some, listed = given.rpartition("=")
        if some:
            of_some[pattern] = _listed(listed, f"--from {given}")
        elif of_all is not None:
            raise BadInput(f"--from {given}: given twice for all members")
        else:
            of_all = _listed(given, "--from")
    return Variation(
        () if order is None else _listed(order, "--order"),
        misses,
        () if stays is None else _listed(stays, "--stays"),
        of_all,
        of_some,
        None if to is None else _listed(to, "--to"),
        back,
    )


def _listed(text: str, place: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if not all(names):
        raise BadInput(f"{place}: {text!r}, expected names with a comma between them")
    return names


def _is_scenario(data: bytes) -> bool:
    return '"assay-scenario/' in beginning(data)


def _print_journeys(name: str, journeys: Sequence[Journey], *, steps: bool) -> None:
    """Print the steps of each journey, where they are asked for, then the sums of all."""
    tiers = journeys[0].objective
    tell(f"scenario {name}: {counted(len(journeys[0].steps), 'rebalance')}, {' > '.join(tiers)}")
    if happens := [step.event for step in journeys[0].steps[1:]]:
        tell(f"what happens: {few(happens)}")
    for journey in journeys if steps else ():
        _print_steps(journey)
    totals = [journey.total for journey in journeys]
    every = len(journeys[0].steps) - 1
    said = (
        f"sums over the {counted(every, 'rebalance')} after the start; tiers over those with a "
        "valid assignment"
    )
    if any(t["terms"][tier] < t["optimum"][tier] for t in totals for tier in tiers):
        said += "; below the number in brackets: an earlier tier is worse than it could be"
    _tell_extremes(journeys[1:])
    tell(said)
    # A sum over fewer rebalances is a smaller one: it says of how many it is.
    some = any(_scored(journey) < every for journey in journeys)
    show_table(
        journeys,
        Column("assignor", lambda one: one.assignor, whole=True),
        Column("at the start", lambda one: one.start["change_hands"]),
        Column("scored", lambda one: f"{_scored(one)} of {every}", right=True, shown=some),
        Column("not optimal", lambda one: one.total["not_optimal"] if _scored(one) else None),
        *(_sum_column(tier) for tier in tiers),
        *(_count_column(count) for count in COUNTS),
        Column("invalid", lambda one: one.total["invalid"]),
        Column("without plan", lambda one: one.total["without_plan"]),
    )
    tell("in brackets: the optimum from the same state")
    said = _said(("moves", *COUNTS, "without_plan"))
    tell(f"{said}; at the start: what changes hands in the first rebalance")


def _scored(journey: Journey) -> int:
    """Return after how many rebalances there is a valid assignment."""
    total = journey.total
    return len(journey.steps) - 1 - total["invalid"] - total["without_plan"]


def _sum_column(tier: str) -> Column[Journey]:
    """Return the column of a tier's sum, with the optimum's in brackets."""

    def summed(journey: Journey) -> tuple[str, str] | None:
        if not _scored(journey):
            return None
        total = journey.total
        return f"{total['terms'][tier]:,}", f" ({total['optimum'][tier]:,})"

    return Column(_head(tier), summed, right=True)


def _count_column(count: str) -> Column[Journey]:
    def summed(journey: Journey) -> object:
        by_name: Mapping[str, object] = journey.total
        return by_name[count]

    return Column(_head(count), summed)


def _tell_extremes(journeys: Sequence[Journey]) -> None:
    """Print with which assignors the fewest partitions change hands, and with which the most.

    Only those count that make a valid assignment each time. The fewest are those among the
    assignors that keep the first tier at its optimum.
    """
    tier = journeys[0].objective[0] if journeys else ""
    totals = {
        journey.assignor: total
        for journey in journeys
        if not (total := journey.total)["invalid"] and not total["without_plan"]
    }
    best = [name for name, t in totals.items() if t["terms"][tier] == t["optimum"][tier]]
    if not best:
        return
    hands = {name: total["change_hands"] for name, total in totals.items()}
    least, most = min(hands[name] for name in best), max(hands.values())
    fewest = _few([name for name in best if hands[name] == least])
    if most > least:
        also = _few([name for name, number in hands.items() if number == most])
        tell(_EXTREMES.format(called(tier), least, fewest, most, also))


_EXTREMES = (
    "fewest partitions change hands, of the assignors with the best {} each time: {} with {}; "
    "most of all: {} with {}"
)


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return ", ".join(names[:2]) + more


def _print_steps(journey: Journey) -> None:
    tell(journey.assignor)
    show_table(
        journey.steps,
        Column("event", lambda step: step.event),
        Column("members", lambda step: step.members),
        Column("partitions", lambda step: step.partitions),
        Column("valid", lambda step: step.row.valid if step.row.terms else step.row.status),
        *(_tier_column(tier, at) for at, tier in enumerate(journey.objective)),
        *(Column(_head(count), attrgetter(f"course.{count}")) for count in COUNTS),
    )
    for step in journey.steps:
        reason = step.row.why_not
        if reason is not None:
            tell(f"{step.event}: {reason}")


def _tier_column(tier: str, at: int) -> Column[JourneyStep]:
    """Return the column of a tier where it can be compared, with the optimum in brackets."""

    def beside_the_best(step: JourneyStep) -> tuple[str, str] | None:
        if step.row.terms is None or not step.row.valid:
            return None
        best = f"{step.best[at]:,}" if step.best else "?"
        return f"{step.row.terms[at].value:,}", f" ({best})"

    return Column(_head(tier), beside_the_best, right=True)


def _said(columns: Sequence[str]) -> str:
    return "; ".join(f"{_head(column)}: {SAID[column]}" for column in columns)


def _head(name: str) -> str:
    return called(name).replace("_", " ")


def _print_rollouts(rollouts: Sequence[Rollout]) -> None:
    """Print the answer, then each rule's rollout act by act, then the sums side by side."""
    tell(f"{rollouts[0].name}: {rollouts[0].answer}")
    tell(_said((*COUNTED, "barred", "contested")))
    for rollout in rollouts:
        tell(RULE_SAID[rollout.rule])
        show_table(
            rollout.steps,
            Column("what happens", lambda step: step.act),
            Column("assignor", lambda step: step.assignor, whole=True),
            Column("protocol", lambda step: step.protocol),
            *(Column(_head(count), attrgetter(count)) for count in COUNTED),
            Column("barred", lambda step: list(step.barred)),
            Column("contested", lambda step: list(step.contested) or "none"),
            Column("", lambda step: f"turned away: {step.refused}" if step.refused else ""),
        )
    tell("sums after the start")
    sums = (Column(RULES[one.rule], one.total.__getitem__) for one in rollouts)
    show_table(rollouts[0].total, Column("", _head), *sums)
