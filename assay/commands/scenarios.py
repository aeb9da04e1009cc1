"""Scenarios: a group through a sequence of events."""

from __future__ import annotations

from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from assay.commands.guests import Guests
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
from assay.terminal import Column, show_moves, show_table, tell
from compare.members import ids_meant
from compare.scenarios.course import held_now
from compare.scenarios.journey import Journey, JourneyStep, play, result_document
from compare.scenarios.rollout import COUNTS as COUNTED
from compare.scenarios.rollout import Rollout, Rule
from compare.scenarios.scenario import Scenario
from compare.scenarios.upgrade_paths import PLAIN, Variation, roll_out_by_rule, rollout_document
from compare.scores import OPTIMUM
from compare.sentences import not_valid_sentence
from compare.verdict import ALL_ALIKE, taken_alike
from groups.assignment import Assignment
from groups.documents.texts import beginning, is_read_once, named, read_bytes
from groups.errors import BadInput
from groups.files import is_folder
from groups.tiers import called, in_words
from groups.wording import OF_CONSUMERS, counted, few, whole_number
from heuristics import Assignor, matching
from heuristics.catalogue import usual_assignors
from heuristics.time_limit import TimeLimit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from groups.group import Group

_OF_A_GROUP = "leave out --group, --reads, --rotate, --deploys, --scale-out, --scale-in, --rollout"
_WHAT_HAPPENS = (
    "Add --rotate nightly, --deploys, --scale-out or --scale-in; or, as in --from range --to "
    "cooperative-sticky, the assignor that it changes to"
)
OF_A_STEP = ("change_hands", "rounds", "revoked", "stopped", "ownerless", "needless")
COUNTS = (*OF_A_STEP, "invalid", "without_plan")
# What the columns count; docs/reference/scenarios.md says more.
SAID = {
    "rounds": "rebalances of the group (JoinGroup) until nobody has to join again",
    "revoked": "partitions that members clean up and give up",
    "stopped": "partitions revoked before the group joined, so that nobody read them meanwhile",
    "ownerless": "partitions that a round leaves with nobody",
    "lost": "partitions that members learnt too late to be no longer theirs",
    "moves": "partitions that leave a member that stays and reads them",
    "change_hands": "partitions that end with another member than before",
    "needless": "partitions revoked and given back to the same member",
    "barred": "members that must not commit until they have joined again",
    "invalid": "rebalances for which the assignor made an assignment that is not valid",
    "without_plan": "rebalances for which the assignor made no assignment",
    "contested": "partitions for which two members could commit",
}
# How the rules are called in the output.
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
        list[str] | None,
        typer.Option(
            metavar="N|MEMBER",
            help="of a group: so many members leave, in the end, or those named",
        ),
    ] = None,
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
    guests: Guests,
    format_: Format = "table",
) -> None:
    """Show what changes hands if members join, leave or restart, or change their assignor.

    For a group, --rotate, --deploys, --scale-out, --scale-in, or --from and --to say what happens.
    The first event meets the assignment as it is now, each later one what the optimum or the
    assignor made last. Unknown subscriptions are taken as all topics.
    """
    variation = _variation(order, misses, stays, start or (), to, back=back)
    # A folder holds groups, of which --group names one.
    data = {file: read_bytes(file) for file in files if group is None or not is_folder(file)}
    restarts, leaving = deploys + (days if rotate else 0), _leaving(scale_in or ())
    happens = bool(restarts or scale_out or leaving)
    if len(data) == len(files) and all(
        '"assay-scenario/' in beginning(one) for one in data.values()
    ):
        if group or reads or rollout or happens:
            raise BadInput(f"{named(files[0])}: says itself what happens: {_OF_A_GROUP}")
        asked = [Scenario.read(file, data=data[file], assume_equal=assume_equal) for file in files]
    else:
        alike = GroupOptions(reads=reads, assume_equal=True)
        read = [one for file, one in data.items() if is_read_once(file)]
        captured = one_group(
            files, group, alike, standard_input=read[0] if len(read) == 1 else None
        )
        rollout = rollout or ("upgrade" if variation else None)
        if happens and rollout is not None:
            raise BadInput(
                f"{captured.name}: --rotate, --deploys, --scale-out and --scale-in are played "
                "without a rollout: leave out --rollout, --order, --misses, --stays, --from, --to "
                "and --back"
            )
        if not happens and rollout is None:
            raise BadInput(f"{captured.name}: what happens to it? {_WHAT_HAPPENS}")
        left = _left(captured, leaving, joins=scale_out)
        asked = [
            Scenario.of_group(
                captured, restarts=restarts, joins=scale_out, leaves=left, rollout=rollout
            )
        ]
    for one in asked:
        if one.rollout is not None and (assignor or guests.probe):
            option = "--assignor" if assignor else "--probe"
            raise BadInput(f"{option}: rollout {one.rollout} chooses its assignors itself")
        if one.rollout is None and variation is not None:
            raise BadInput(
                f"{one.name}: has events and is no rollout: leave out --order, --misses, "
                "--stays, --from, --to and --back"
            )
    usual = () if guests.probe else usual_assignors([one.group for one in asked])
    names = matching(assignor) if assignor else usual
    with guests.joined(seconds=time_limit) as joined:
        who: list[str | Assignor] = [*names, *(one.assignor for one in joined)]
        for one in asked:
            note_assumed(one.group.assumed)
            if one.rollout is not None:
                _roll_out(one, variation, format_)
                continue
            with TimeLimit(time_limit) as limit:
                journeys = play(one, who, limit, objective)
            if format_ == "json":
                show_json(result_document(one, journeys))
                continue
            drawn = leaving if isinstance(leaving, int) else 0
            _tell_what_happens(one, journeys[0], drawn=drawn, restarts=bool(restarts))
            _print_journeys(journeys, named=bool(assignor or guests.probe), steps=not happens)


def _leaving(given: Sequence[str]) -> int | tuple[str, ...]:
    """Return how many members leave, or the names of those that do."""
    number = whole_number(given[0]) if len(given) == 1 else 0 if not given else None
    return tuple(given) if number is None else number


def _left(group: Group, leaving: int | tuple[str, ...], *, joins: int) -> int | tuple[str, ...]:
    """Return how many members leave, or their ids; refuse if none would stay."""
    there = len(group.members) + joins
    if not there:
        raise BadInput(f"{group.name}: no members: --scale-out N lets some join")
    if not isinstance(leaving, int):
        leaving = ids_meant(group, leaving, f"{group.name}: --scale-in")
    many = leaving if isinstance(leaving, int) else len(leaving)
    if many >= there:
        fewer = f"{counted(many, 'member')}, expected fewer than the {there:,} there"
        raise BadInput(f"{group.name}: --scale-in: {fewer}")
    return leaving


def _tell_of_static(group: Group, *, restarts: bool) -> None:
    """Print that a short restart of static members is not played.

    Parameters
    ----------
    restarts : whether members restart: members that are not static could be
    """
    named = any(details.instance_id is not None for details in group.details)
    if not (named or restarts):
        return
    member = "A static member" if named else "A member with a group.instance.id of its own"
    tell(
        f"{member} that comes back within session.timeout.ms keeps its partitions, and nothing is "
        "rebalanced (KIP-345). That is not played: here it leaves, and one joins."
    )


def _roll_out(asked: Scenario, variation: Variation | None, format_: str) -> None:
    rollouts = roll_out_by_rule(asked.group, asked.rollout or "", variation or PLAIN)
    if format_ == "json":
        show_json(rollout_document(asked.group, rollouts))
    else:
        _print_rollouts(rollouts, asked.group)


def _variation(
    order: str | None,
    misses: str | None,
    stays: str | None,
    start: Sequence[str],
    to: str | None,
    *,
    back: bool,
) -> Variation | None:
    """Return the options of a rollout; None if none is given."""
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


def _why_first_rebalance(group: Group) -> str:
    """Return why the scenario cannot begin with the present assignment; empty if it can."""
    if held_now(group) is not None:
        return ""
    why = (
        not_valid_sentence(Assignment.current(group)) or f"{group.name}: nobody holds a partition."
    )
    return f"{why} So a first rebalance is played, which no sum counts."


def _given(group: Group) -> str:
    """Return the condition of an answer that takes unknown subscriptions as all topics."""
    return f", if {ALL_ALIKE}" if taken_alike(group.assumed) else ""


def _tell_what_happens(asked: Scenario, optimum: Journey, *, drawn: int, restarts: bool) -> None:
    """Print how many rebalances are played, from which assignment, and what leads to them.

    Parameters
    ----------
    drawn : how many of the members that leave were not named
    restarts : whether members restart
    """
    why = _why_first_rebalance(asked.group)
    since = "" if why else " from the assignment as it is now"
    played = f"{counted(len(optimum.rebalances), 'rebalance')}{since}"
    given = _given(asked.group)
    tell(f"scenario {asked.name}: {played}, {in_words(optimum.objective)}{given}")
    if why:
        tell(why)
    happens = [step.event for step in optimum.rebalances]
    left = [f"{happens.pop()} (drawn by seed 1; --scale-in MEMBER names another)"] if drawn else []
    if said := [*([few(happens)] if happens else []), *left]:
        tell(f"what happens: {', then '.join(said)}")
    _tell_of_static(asked.group, restarts=restarts)


def _print_journeys(journeys: Sequence[Journey], *, named: bool, steps: bool) -> None:
    """Print the steps of the journeys, the sums of all, then the moves if there is one rebalance.

    Parameters
    ----------
    named : whether the user named the assignors; if not, only the optimum is shown in full
    steps : whether to print the steps of the named assignors
    """
    in_steps = journeys if named and steps else ()
    for journey in in_steps:
        _print_steps(journey)
    counts = _print_sums(journeys)
    if not named and len(journeys) > 1:
        tell("These are Kafka's; for others add --assignor NAME, 'written' or 'shipped'.")
    for journey in journeys[len(in_steps) :]:
        if why := next(filter(None, map(_why_not, journey.rebalances)), None):
            tell(f"{journey.assignor}: {why}")
    _tell_counts(counts)
    if len(journeys[0].rebalances) == 1:
        _print_moves(journeys if named else journeys[:1])
    else:
        tell("what changes hands in each rebalance: --format json")


def _why_not(step: JourneyStep) -> str | None:
    """Return why a step has no valid assignment; None if it has one."""
    return step.row.why_not and f"{step.event}: {step.row.why_not}"


def _print_sums(journeys: Sequence[Journey]) -> list[str]:
    """Print the sums of each journey over its rebalances; return what was counted."""
    tiers, every = journeys[0].objective, len(journeys[0].rebalances)
    sums: list[dict[str, Any]] = [{"assignor": one.assignor, **one.total} for one in journeys]
    for row in sums:
        row["scored"] = every - row["invalid"] - row["without_plan"]
    # A sum over fewer rebalances is smaller, so each row says over how many it is.
    some = any(row["scored"] < every for row in sums)
    # Columns of zeros are left out, except what the question is about.
    counts = [c for c in COUNTS if c == "change_hands" or any(row[c] for row in sums)]
    _tell_extremes([row for row in sums[1:] if row["scored"] == every], tiers[0])
    show_table(
        sums,
        Column("assignor", lambda row: row["assignor"], whole=True),
        Column("scored", lambda row: f"{row['scored']} of {every}", right=True, shown=some),
        Column("not optimal", lambda row: row["not_optimal"] if row["scored"] else None),
        *(_sum_column(tier) for tier in tiers),
        *(Column[dict[str, Any]](_head(count), itemgetter(count)) for count in counts),
    )
    if every != 1:
        tell(f"sums over the {every:,} rebalances")
    if some:
        tell("scored: rebalances with a valid assignment; not optimal and the tiers sum up these")
    below = any(row["terms"][tier] < row["optimum"][tier] for row in sums for tier in tiers)
    more = "; where that is more, an earlier tier is worse than it could be" if below else ""
    tell(f"in brackets: the optimum from the same state{more}")
    return [*(["moves"] if "stickiness" in tiers else []), *counts]


def _sum_column(tier: str) -> Column[dict[str, Any]]:
    """Return the column of a tier's sum, with the optimum's in brackets."""

    def summed(row: dict[str, Any]) -> tuple[str, str] | None:
        pair = f"{row['terms'][tier]:,}", f" ({row['optimum'][tier]:,})"
        return pair if row["scored"] else None

    return Column(_head(tier), summed, right=True)


def _tell_extremes(sums: Sequence[Mapping[str, Any]], tier: str) -> None:
    """Print with which assignors the fewest partitions change hands or are revoked, and the most.

    The fewest are taken among the assignors that keep the first tier at its optimum.

    Parameters
    ----------
    sums : rows of the assignors that make a valid assignment each time
    """
    best = [row for row in sums if row["terms"][tier] == row["optimum"][tier]]
    for count, verb in _EXTREMES.items() if best else ():
        least, most = (
            pick(row[count] for row in among) for pick, among in ((min, best), (max, sums))
        )
        if most > least:
            fewest, also = (
                few([row["assignor"] for row in among if row[count] == number])
                for among, number in ((best, least), (sums, most))
            )
            tell(
                f"Fewest partitions {verb}, of the assignors with the best {called(tier)} each "
                f"time: {least:,} with {fewest}. Most, of all: {most:,} with {also}."
            )


_EXTREMES = {"change_hands": "change hands", "revoked": "are revoked"}


def _print_moves(journeys: Sequence[Journey]) -> None:
    """Print the moves of the only rebalance; assignors with the same moves share one list."""
    alike: dict[str, list[Journey]] = {}
    for journey in journeys:
        (step,) = journey.rebalances
        if step.row.terms is not None:
            alike.setdefault(str(step.course.handed_over), []).append(journey)
    for same in alike.values():
        moves = same[0].rebalances[0].course.handed_over
        names = few([f"the {OPTIMUM}" if j.assignor == OPTIMUM else j.assignor for j in same])
        tell(
            f"what changes hands with {names}:" if moves else f"nothing changes hands with {names}"
        )
        show_moves(moves, OF_CONSUMERS)


def _print_steps(journey: Journey) -> None:
    tell(journey.assignor)
    show_table(
        journey.steps,
        Column("event", lambda step: step.event),
        Column("members", lambda step: step.members),
        Column("partitions", lambda step: step.partitions),
        Column("valid", lambda step: step.row.valid if step.row.terms else step.row.status),
        *(_tier_column(tier, at) for at, tier in enumerate(journey.objective)),
        *(Column(_head(count), attrgetter(f"course.{count}")) for count in OF_A_STEP),
    )
    for why in filter(None, map(_why_not, journey.steps)):
        tell(why)


def _tier_column(tier: str, at: int) -> Column[JourneyStep]:
    """Return the column of a tier, with the optimum in brackets; empty for invalid assignments."""

    def beside_the_best(step: JourneyStep) -> tuple[str, str] | None:
        if step.row.terms is None or not step.row.valid:
            return None
        best = f"{step.best[at]:,}" if step.best else "?"
        return f"{step.row.terms[at].value:,}", f" ({best})"

    return Column(_head(tier), beside_the_best, right=True)


def _tell_counts(columns: Sequence[str]) -> None:
    for column in columns:
        tell(f"{_head(column)}: {SAID[column]}")


def _head(name: str) -> str:
    return called(name).replace("_", " ")


def _print_rollouts(rollouts: Sequence[Rollout], group: Group) -> None:
    """Print the answer, then each rule's rollout act by act, then the sums side by side."""
    tell(f"{rollouts[0].name}{_given(group)}: {rollouts[0].answer}")
    tell(_why_first_rebalance(group) or "It begins with the assignment as it is now.")
    _tell_counts((*COUNTED, "barred", "contested"))
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
    tell("sums over all rows but the first")
    sums = (Column(RULES[one.rule], one.total.__getitem__) for one in rollouts)
    show_table(rollouts[0].total, Column("", _head), *sums)
