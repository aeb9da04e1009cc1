"""Remedy: what makes the moves of a plan, and what it takes until another assignor does it."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING
from typing import Protocol as Interface

import numpy as np

from compare.lag.behind import peak_lag
from compare.scores import CURRENT, OPTIMUM, Score
from compare.sentences import NONE_BY_LAG, assigned_by, by_broker, who_moves
from compare.verdict import ALL_ALIKE, IMPROVABLE
from groups.tiers import LAG_PEAKS, MOVES
from groups.wording import agreed, counted, few
from heuristics.catalogue import AGREE_WITH_KAFKAS, WRITTEN, assignor_named, shipped_here
from heuristics.protocol import Protocol, supported_protocols

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from compare.advice.advice import Change
    from compare.judged import Judged
    from groups.assignment import Assignment
    from groups.group import Group
    from heuristics import AssignorFunction
    from heuristics.time_limit import TimeLimit

# Rolling restarts that a change of assignor takes at the most.
MOST_RESTARTS = 2
JAVA, BROKER, OURS = "kafka-java", "kafka-broker", "java-optimal"
# What members list of which the optimum's assignor for consumers assigns, in Java and Python.
IN_JOIN_GROUP = "assay-optimal"
ON_THE_WAY = "The moves are those of the last rebalance; each restart on the way may move more."
BY_REBALANCE = "takes a rebalance, such as by a restart of 1 member"
IN_CONSUMERS = "docs/how-to/run-the-optimal-assignor.md"
IN_BROKERS = "docs/how-to/run-the-optimal-assignor-on-a-broker.md"
BY_TASKS = "the assignor of tasks, at a rebalance."
NOT_HERE = "Kafka's sticky assignors are not here, and were not tried: assay fetch kafka-java."
BY_YOUR_OWN = "One of your own can: docs/how-to/test-my-assignor.md."
# Where the command of the reader is not known, as of the tables of a run.
ADVISE = "assay advise"
# Of a rule as a KIP writes it, what Kafka's class that comes near is called.
NEAR = {
    "kip-54-sticky": "sticky",
    "kip-54-fairest": "sticky",
    "kip-429-cooperative": "cooperative-sticky",
    "kip-615-constrained": "cooperative-sticky",
    "kip-615-amended": "cooperative-sticky",
}


class Commands(Interface):
    """The commands with which a reader goes on, for the groups that were asked for."""

    def about(self, group: str) -> Commands:
        """Return those for one of the groups."""

    def solve(self, objective: str) -> str:
        """Return the command that solves the group for an objective."""

    def advise(self, *, assumed: bool) -> str:
        """Return the one that says how the greatest load falls.

        Parameters
        ----------
        assumed : whether subscriptions that are not known are assumed equal
        """


def spoken(name: str) -> str:
    """Return what people call an assignor.

    Examples
    --------
    >>> [spoken(name) for name in ("kafka-java/sticky@4.4.0", "kafka-broker/uniform@4.4.0")]
    ['sticky 4.4.0', "the broker's uniform 4.4.0"]
    >>> spoken("librdkafka/range@2.13.0")
    'librdkafka/range@2.13.0'
    """
    client, _, rest = name.partition("/")
    if client not in (JAVA, BROKER, OURS):
        return name
    if client == OURS:
        return f"assay's {rest.partition('@')[0]}"
    whose = "the broker's " if client == BROKER else ""
    return f"{whose}{rest.replace('@', ' ')}"


def is_rule(name: str) -> bool:
    """Return whether an assignor is a rule as a text has it, which no client brings as such."""
    return name in WRITTEN and name not in AGREE_WITH_KAFKAS


def listed_as(name: str) -> str | None:
    """Return the name by which members list an assignor, or the broker has it; None: unknown."""
    if name in WRITTEN:
        return name if name in AGREE_WITH_KAFKAS else NEAR.get(name)
    client, slash, rest = name.partition("/")
    return rest.partition("@")[0] if slash and client else None


def is_ours(group: Group) -> bool:
    """Return whether the members end up with an assignor of ours, by what they list."""
    return assigned_by(group) == IN_JOIN_GROUP


def where_ours_runs(group: Group) -> str:
    """Return where an assignor runs that gives a group the best balance by the fewest moves."""
    if is_ours(group):
        return (
            f"{IN_JOIN_GROUP}, which assigns this group, makes them at the next rebalance, such as"
            " by a restart of 1 member."
        )
    if by_broker(group):
        return f"The optimum runs as an assignor of brokers: {IN_BROKERS}."
    return f"The optimum runs as an assignor of consumers in Java and Python: {IN_CONSUMERS}."


def is_brokers(name: str) -> bool:
    """Return whether an assignor is one that runs in the broker (KIP-848)."""
    return name.startswith((f"{BROKER}/", f"{OURS}/"))


def assigns_now(name: str, group: Group) -> bool:
    """Return whether an assignor has the name of the one that the members end up with."""
    if is_ours(group):
        return name.startswith(f"{OURS}/optimal@")
    now = assigned_by(group)
    return now is not None and listed_as(name) == now and is_brokers(name) == by_broker(group)


def rolling_restarts(name: str, group: Group) -> int | None:
    """Return how often each member is restarted at most until an assignor assigns; None: unknown.

    Source: KIP-429, "Compatibility, Deprecation, and Migration Plan"; KIP-848 for the broker's.
    """
    listed = listed_as(name)
    if assigns_now(name, group):
        return 0
    if listed is None:
        return None
    if is_brokers(name) or by_broker(group) or _all_list(listed, group):
        return 1
    now = assigned_by(group)
    return 1 if now is not None and _is_eager(now) and _is_eager(listed) else MOST_RESTARTS


def effort(name: str, group: Group) -> tuple[bool, int, bool]:
    """Order assignors that can be deployed by what it takes to change to them.

    Those of the group's own protocol come first, of these the one with the fewest restarts: none
    where it assigns now. Then those that do not revoke everything at each rebalance.
    """
    restarts = rolling_restarts(name, group)
    return (
        is_brokers(name) != by_broker(group),
        MOST_RESTARTS if restarts is None else restarts,
        not is_brokers(name) and "cooperative" not in name,
    )


def takes(change: Change) -> list[str]:
    """Return what an advised assignor takes until it assigns."""
    name, group = change.assignor or "", change.assignment.group
    listed, now = listed_as(name), assigned_by(group)
    members = counted(len(group.members), "member")
    if change.rolling_restarts == 0:
        return [f"It assigns already: {BY_REBALANCE}."]
    if listed is None:
        said = f"Takes its code in every consumer, and a restart of {members}, one by one."
    elif is_brokers(name):
        is_ours = name.startswith(f"{OURS}/")
        settings = [] if by_broker(group) else ["group.protocol=consumer"]
        # A classic group comes to the broker's first one, which is uniform by default.
        settings += [f"group.remote.assignor={listed}"] if by_broker(group) or is_ours else []
        jar = f" with our jar ({IN_BROKERS})" if is_ours else ""
        said = (
            f"Takes a restart of {members} with {' and '.join(settings)}, one by one: broker 4.0 "
            f"or later{jar} and a client that speaks KIP-848."
        )
    elif by_broker(group):
        said = f"Takes a restart of {members}, one by one, with group.protocol=classic."
    elif change.rolling_restarts == 1:
        how = "alone" if _all_list(listed, group) else f"listed before {now}"
        said = f"Takes a restart of {members}, one by one, with {listed} {how}."
    else:
        said = _two_rolling_restarts(listed, now, members)
    return [said, ON_THE_WAY, *_of_rule(name)]


def _two_rolling_restarts(listed: str, now: str | None, members: str) -> str:
    if now is not None:
        return (
            f"Takes two rolling restarts of {members}: in the first list {listed} before {now}, "
            f"in the second {listed} alone."
        )
    first = (
        f"Restart {members} one by one, with {listed} listed before the assignor of now, which "
        "kafka-consumer-groups --describe --state shows."
    )
    if _is_eager(listed):
        return (
            f"{first} From range, roundrobin or sticky that is enough; from any other, restart "
            f"them again with {listed} alone."
        )
    return (
        f"{first} Then restart them again with {listed} alone. If all list it already, as Kafka's "
        "Java consumer does by default, the second restart is enough."
    )


def _of_rule(name: str) -> list[str]:
    """Return the sentence that nobody can deploy a rule as written."""
    if not is_rule(name):
        return []
    near = NEAR.get(name)
    if near is None:
        return [f"{name} is a rule as written and no class: no client brings it."]
    return [
        f"{name} is a rule as written and no class. Kafka's {near} comes near, and may do "
        f"worse on this group or come to no plan: name {near} to try it."
    ]


def _is_eager(listed: str) -> bool:
    return max(supported_protocols(listed)) is Protocol.EAGER


def _all_list(listed: str, group: Group) -> bool:
    lists: Sequence[tuple[str, ...]] = [one.assignors or () for one in group.details]
    return len(lists) == len(group.members) > 0 and all(listed in one for one in lists)


def name_of(asked: str | AssignorFunction) -> str:
    """Return the name of an assignor that was asked for."""
    return asked if isinstance(asked, str) else assignor_named(asked).name


def assigned_of(
    group: Group, assignors: Sequence[str | AssignorFunction], limit: TimeLimit
) -> Iterator[tuple[str, Assignment | None]]:
    """(name, assignment) of each assignor on a group; None of one that makes no valid one."""
    for asked in assignors:
        plan = limit.plan(group, asked).plan
        yield (
            name_of(asked),
            plan.assignment if plan is not None and plan.assignment.is_valid else None,
        )


def tried_of(rows: Sequence[Score]) -> list[Score]:
    """Return the rows of assignors that made an assignment."""
    return [row for row in rows if row.assignor not in (CURRENT, OPTIMUM) and row.terms]


def best_of(values: Mapping[str, Sequence[int]], group: Group) -> str | None:
    """Return the assignor that comes to the least; of several, which takes least to change to.

    None of no assignor that can be deployed: rules as a text has them do not count.

    Parameters
    ----------
    values : what each comes to, in the order of tiers
    """
    names = [name for name in values if not is_rule(name)]
    return min(names, key=lambda name: (*values[name], effort(name, group)), default=None)


def none_makes(tried: int, own: str, how: str = "") -> str:
    """Return that none of so many assignors makes the moves, and what can instead.

    Parameters
    ----------
    own : what can; empty where that is not known
    how : what goes with the number of them
    """
    none = f"none of the {tried} assignors" if tried > 1 else "not the one assignor"
    return who_moves(f"{none} tried{how}. {own or BY_YOUR_OWN}")


def by_lag(group: Group) -> str:
    """Return what can move partitions for the sake of lag, where Kafka's assignors do not."""
    such = "such as assay's for Python consumers (classic protocol)"
    if by_broker(group):
        such = "such as a class of yours on the brokers"
    return (
        f"An assignor that looks at lag can, {such}, and so can consumers that take partitions by "
        "assign(): docs/how-to/plan-with-lag.md#who-makes-the-moves."
    )


def remedy(judged: Judged, rows: Sequence[Score], commands: Commands | None) -> str:
    """Return what makes the moves that a verdict names; empty where it names none.

    Parameters
    ----------
    rows : what was scored on the group, of assignors that were tried
    commands : about the group; None if those of the reader are not known
    """
    improvable = judged.verdict.says == IMPROVABLE
    if not improvable and judged.fall is None:
        return ""
    group, tried = judged.group, tried_of(rows)
    if group.of_streams:
        return who_moves(BY_TASKS)
    objective = () if judged.best is None else judged.best.objective
    on_lag = {*LAG_PEAKS} & {*objective}
    if not improvable or (not tried and on_lag):
        return who_moves(f"{NONE_BY_LAG}. {by_lag(group)}")
    own = by_lag(group) if on_lag else ""
    if objective == ("balance", MOVES):
        own = where_ours_runs(group)
        if is_ours(group):
            return who_moves(own)
    known = bool(group.subscription_known.all())
    # What no assignor does whoever reads what, none can be advised for without an assumption.
    advise = ADVISE if commands is None else commands.advise(assumed=not (tried or known))
    if not tried:
        given = "" if known else f", if {ALL_ALIKE}"
        return who_moves(f"an assignor; {advise} says which one{given}.")
    not_here = "" if shipped_here() else f" {NOT_HERE}"
    there = {row.assignor: row for row in tried if _gets_there(row)}
    name = best_of({n: [term.value for term in r.terms or ()] for n, r in there.items()}, group)
    if name is None:
        return f"{none_makes(len(tried), own)}{not_here}"
    best = there[name]
    moves = next((term for term in best.terms or () if term.name == MOVES), None)
    again = " again" if assigns_now(best.assignor, group) else ""
    if again:
        more = f"That {BY_REBALANCE}."
    elif best.assignor.startswith(f"{OURS}/"):
        more = where_ours_runs(group)
    else:
        fewer = own if moves is not None and moves.excess else ""
        more = f"{advise} says what it takes to change to it. {fewer}".rstrip()
    lead = f"let {spoken(best.assignor)} assign{again}. It gets there{_by_moves(best, judged)}."
    return who_moves(f"{lead} {more}{not_here}")


def _by_moves(best: Score, judged: Judged) -> str:
    """Return by how many moves an assignor gets there, and how much lag it leaves one member."""
    moves = next((term.value for term in best.terms or () if term.name == MOVES), None)
    by, those = "", "by the moves"
    if moves is not None:
        by = f" by moving {counted(moves, 'partition')}"
        those = "that" if moves == 1 else "those"
    then = None if judged.plan is None else peak_lag(judged.plan)
    if then is None:
        return by
    if best.peak_lag is None and not judged.group.subscription_known.all():
        return (
            f"{by}, but how much lag one member then has depends on {_what_is_open(judged.group)}"
        )
    if best.peak_lag is None or best.peak_lag <= then:
        return by
    return (
        f"{by}, but not {those} of the optimum: its moves leave the busiest member with "
        f"{best.peak_lag:,} records of lag, the optimum's with {then:,}"
    )


def _what_is_open(group: Group) -> str:
    """Return whose subscriptions are not known, of somebody who may have told some of them."""
    members = [group.members[m] for m in np.flatnonzero(~group.subscription_known)]
    if len(members) == len(group.members):
        return "who reads what"
    return f"what {few(members)} {agreed(len(members), 'read')}"


def _gets_there(row: Score) -> bool:
    """Return whether a row is as good as the optimum in all tiers before the moves."""
    before = takewhile(lambda term: term.name != MOVES, row.terms or ())
    return bool(row.valid) and all(term.excess == 0 for term in before)
