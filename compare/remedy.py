"""Remedy: who can make the moves of a plan, and what it takes to deploy that assignor."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING
from typing import Protocol as Interface

import numpy as np

from compare.lag.behind import peak_lag
from compare.scores import CURRENT, OPTIMUM, Score
from compare.sentences import (
    AN_ASSIGNOR,
    BY_ASSIGNOR,
    LAG_AWARE,
    NONE_BY_LAG,
    by_rebalance,
    who_moves,
)
from compare.verdict import ALL_ALIKE
from groups.tiers import LAG_PEAKS, MOVES, OF_COUNTS, PEAKS
from groups.wording import agreed, counted, few
from heuristics.catalogue import (
    AGREE_WITH_KAFKAS,
    IN_BROKER,
    SHIPPED,
    WRITTEN,
    assignor_named,
    shipped_here,
)
from heuristics.protocol import Protocol, assigned_by, by_broker, supported_protocols

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compare.advice.advice import Change, Lower
    from compare.judged import Judged
    from groups.assignment import Assignment
    from groups.group import Group
    from heuristics import AssignorFunction
    from heuristics.time_limit import TimeLimit

# A change of assignor takes at most this many rolling restarts.
MOST_RESTARTS = 2
JAVA, BROKER, OURS = "kafka-java", "kafka-broker", "java-optimal"
# The name under which members list our assignor for consumers, in Java and Python.
IN_JOIN_GROUP = "assay-optimal"
ON_THE_WAY = "The moves are those of the last rebalance; each restart on the way may move more."
BY_REBALANCE = "takes a rebalance, such as by a restart of 1 member"
IN_CONSUMERS = "docs/how-to/run-the-optimal-assignor.md"
IN_BROKERS = "docs/how-to/run-the-optimal-assignor-on-a-broker.md"
OWN_OF_TASKS = "One of your own can in the classic protocol: task.assignor.class (KIP-924)."
NOT_HERE = "Kafka's own assignors are not here, and were not tried: assay fetch {}."
BY_YOUR_OWN = "One of your own can: docs/how-to/test-my-assignor.md."
# For readers whose own command is not known, as of the tables of a run.
ADVISE = "assay advise"
# The Kafka assignor that comes nearest to each rule as a KIP writes it.
NEAR = {
    "kip-54-sticky": "sticky",
    "kip-54-fairest": "sticky",
    "kip-429-cooperative": "cooperative-sticky",
    "kip-615-constrained": "cooperative-sticky",
    "kip-615-amended": "cooperative-sticky",
}


class Commands(Interface):
    """The commands that a reader can run next on the groups of a page or an output."""

    def about(self, group: str) -> Commands:
        """Return the commands for one of the groups."""

    def solve(self, objective: str) -> str:
        """Return the command that solves the group for an objective."""

    def advise(self, lower: Lower, *, assumed: bool) -> str:
        """Return the command that advises how to lower the greatest load, or lag.

        Parameters
        ----------
        assumed : whether unknown subscriptions are assumed equal
        """


def spoken(name: str) -> str:
    """Return the name of an assignor as people say it.

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
    """Return whether an assignor is a rule written from a KIP's text that no client ships."""
    return name in WRITTEN and name not in AGREE_WITH_KAFKAS


def listed_as(name: str) -> str | None:
    """Return the name of an assignor in members' lists or on the broker; None if unknown."""
    if name in WRITTEN:
        return name if name in AGREE_WITH_KAFKAS else NEAR.get(name)
    client, slash, rest = name.partition("/")
    return rest.partition("@")[0] if slash and client else None


def is_ours(group: Group) -> bool:
    """Return whether the members' lists make our assignor the one that assigns."""
    return assigned_by(group) == IN_JOIN_GROUP


def where_ours_runs(group: Group) -> str:
    """Return the sentence on where to run the assignor with the best balance by fewest moves."""
    if is_ours(group):
        return (
            f"{IN_JOIN_GROUP}, which assigns this group, makes them at the next rebalance, such as"
            " by a restart of 1 member."
        )
    if by_broker(group):
        return f"The optimum runs as an assignor of brokers: {IN_BROKERS}."
    return f"The optimum runs as an assignor of consumers in Java and Python: {IN_CONSUMERS}."


def is_brokers(name: str) -> bool:
    """Return whether an assignor runs in the broker (KIP-848)."""
    return name.startswith((f"{BROKER}/", f"{OURS}/"))


def of_other_protocol(names: Iterable[str], group: Group | None = None) -> str:
    """Return the sentence on which assignors need the protocol that the group does not use.

    Parameters
    ----------
    group : None: any group whose consumers assign

    Examples
    --------
    >>> of_other_protocol(["range", "kafka-broker/uniform@4.4.0"])
    "Only with group.protocol=consumer (KIP-848): the broker's uniform 4.4.0."
    """
    if group is not None and by_broker(group):
        protocol = "classic"
        found = [n for n in names if listed_as(n) and not (is_brokers(n) or is_rule(n))]
    else:
        protocol, found = "consumer (KIP-848)", [*filter(is_brokers, names)]
    told = few([*map(spoken, found)])
    return f"Only with group.protocol={protocol}: {told}." if found else ""


def assigns_now(name: str, group: Group) -> bool:
    """Return whether an assignor has the name of the one that assigns the group now."""
    if is_ours(group):
        return name.startswith(f"{OURS}/optimal@")
    now = assigned_by(group)
    return now is not None and listed_as(name) == now and is_brokers(name) == by_broker(group)


def assigning(name: str, group: Group) -> str:
    """Return ``sticky 4.4.0 assign``, to follow "let"; with ``again`` if it assigns now."""
    return f"{spoken(name)} assign{' again' if assigns_now(name, group) else ''}"


def rolling_restarts(name: str, group: Group) -> int | None:
    """Return how many restarts of each member deploying an assignor takes at most; None: unknown.

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
    """Return the key that sorts assignors by how hard they are to deploy.

    Assignors of the group's own protocol come first, then those with fewer restarts (none if it
    assigns now), then those that do not revoke everything at each rebalance.
    """
    restarts = rolling_restarts(name, group)
    return (
        is_brokers(name) != by_broker(group),
        MOST_RESTARTS if restarts is None else restarts,
        not is_brokers(name) and "cooperative" not in name,
    )


def steps_to_deploy(change: Change) -> list[str]:
    """Return sentences on how to deploy an advised assignor."""
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
        # A group from the classic protocol gets the broker's default assignor, which is uniform.
        settings += [f"group.remote.assignor={listed}"] if by_broker(group) or is_ours else []
        jar = f" with our jar ({IN_BROKERS})" if is_ours else ""
        of_classic = f"broker 4.0 or later{jar} and a client that speaks KIP-848"
        needs = of_classic if not by_broker(group) else f"brokers{jar}" if jar else ""
        said = f"Takes a restart of {members} with {' and '.join(settings)}, one by one"
        said += f": {needs}." if needs else "."
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
    """Return the sentence that a rule as written cannot be deployed; empty for others."""
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
    """Return the name of an assignor given by name or as a function."""
    return asked if isinstance(asked, str) else assignor_named(asked).name


def assignments_by(
    group: Group, assignors: Sequence[str | AssignorFunction], limit: TimeLimit
) -> Iterator[tuple[str, Assignment | None]]:
    """Yield (name, assignment) of each assignor on a group; None unless that is valid."""
    for asked in assignors:
        plan = limit.plan(group, asked).plan
        yield (
            name_of(asked),
            plan.assignment if plan is not None and plan.assignment.is_valid else None,
        )


def best_of(values: Mapping[str, Sequence[int]], group: Group) -> str | None:
    """Return the assignor with the least values; of several, the one that is easiest to deploy.

    None if none can be deployed: rules written from a KIP's text do not count.

    Parameters
    ----------
    values : the values of each assignor, in the order of tiers
    """
    names = [name for name in values if not is_rule(name)]
    return min(names, key=lambda name: (*values[name], effort(name, group)), default=None)


def none_makes(tried: int, own: str, how: str = "") -> str:
    """Return the sentence that no assignor tried makes the moves, and who can instead.

    Parameters
    ----------
    tried : how many assignors
    own : sentences on who can; empty if not known
    how : words to follow the number of assignors
    """
    none = f"none of the {tried} assignors" if tried > 1 else "not the one assignor"
    return who_moves(f"{none} tried{how}. {own or BY_YOUR_OWN}")


def by_lag(group: Group) -> str:
    """Return the sentence on who can move partitions for lag, as Kafka's assignors do not."""
    if group.of_streams:
        return OWN_OF_TASKS
    such = "such as assay's for Python consumers (classic protocol)"
    if by_broker(group):
        such = "such as a class of yours in the brokers' group.consumer.assignors"
    return (
        f"{LAG_AWARE.capitalize()} can, {such}, and so can consumers that take partitions by "
        "assign(): docs/how-to/plan-with-lag.md#who-makes-the-moves."
    )


def who_moves_for_lag(group: Group) -> str:
    """Return the sentence that no assignor of Kafka's makes moves for lag, and who can."""
    return who_moves(f"{NONE_BY_LAG}. {by_lag(group)}")


def _none_tried(group: Group, advise: str) -> str:
    """Return the sentence on who makes the moves if no assignor was scored.

    Parameters
    ----------
    advise : the command that says which one
    """
    # In a group of KIP-848 no rule as written stands in for Kafka's classes.
    if by_broker(group) and (not_here := _not_here(group)):
        return f"{who_moves(BY_ASSIGNOR)}.{not_here}"
    given = "" if group.subscription_known.all() else f", if {ALL_ALIKE}"
    return who_moves(f"{AN_ASSIGNOR}; {advise} says which one{given}.")


def _not_here(group: Group) -> str:
    """Return the sentence, after a space, that Kafka's classes are not here; empty if they are."""
    names, client = (IN_BROKER, BROKER) if by_broker(group) else (SHIPPED, JAVA)
    return "" if shipped_here(names) else f" {NOT_HERE.format(client)}"


def remedy(judged: Judged, rows: Sequence[Score], commands: Commands | None) -> str:
    """Return sentences on who makes the moves that a verdict names; empty if it names none.

    Parameters
    ----------
    rows : the scores on the group, of assignors that were tried
    commands : the reader's commands for the group; None if not known
    """
    improvable = judged.verdict.is_improvable
    if not improvable and judged.fall is None:
        return ""
    group = judged.group
    tried = [row for row in rows if row.assignor not in (CURRENT, OPTIMUM) and row.terms]
    objective = () if judged.best is None else judged.best.objective
    on_lag = {*LAG_PEAKS} & {*objective}
    if not improvable or (not tried and on_lag):
        return who_moves_for_lag(group)
    if group.of_streams:
        there = not tried or any(map(_gets_there, tried))
        return by_rebalance(group) if there else none_makes(len(tried), OWN_OF_TASKS)
    own = by_lag(group) if on_lag else ""
    if objective == ("balance", MOVES):
        own = where_ours_runs(group)
        if is_ours(group):
            return who_moves(own)
    known = bool(group.subscription_known.all())
    # If no assignor has a score whatever members read, advice needs an assumption.
    assumed = not (tried or known)

    def advise(lower: Lower) -> str:
        return ADVISE if commands is None else commands.advise(lower, assumed=assumed)

    if not tried:
        return _none_tried(group, advise("peak_load"))
    not_here = _not_here(group)
    at_optimum = {row.assignor: row for row in tried if _gets_there(row)}
    reached = {n: [term.value for term in row.terms or ()] for n, row in at_optimum.items()}
    name = best_of(reached, group)
    if name is None:
        return f"{none_makes(len(tried), own)}{not_here}"
    best = at_optimum[name]
    moves = next((term for term in best.terms or () if term.name == MOVES), None)
    if assigns_now(name, group):
        more = f"That {BY_REBALANCE}."
    elif best.assignor.startswith(f"{OURS}/"):
        more = where_ours_runs(group)
    else:
        fewer = own if moves is not None and moves.excess else ""
        # Advice is on loads and lag: of racks, topics and hosts it says nothing.
        on_loads = judged.verdict.tier in (None, "balance", *OF_COUNTS, *PEAKS)
        change = f"{advise('peak_load')} says what it takes to change to it" if on_loads else ""
        if change and _leaves_lag(best, judged):
            change += f", and {advise('peak_lag')} what helps against the lag"
        change = change and f"{change}. "
        more = f"{change}{fewer}".rstrip()
    lead = f"let {assigning(name, group)}. It gets there{_by_moves(best, judged)}."
    return who_moves(f"{lead} {more}".rstrip() + not_here)


def _leaves_lag(best: Score, judged: Judged) -> bool:
    """Return whether an assignor leaves one member with more lag than the optimum does."""
    then = None if judged.plan is None else peak_lag(judged.plan)
    return then is not None and best.peak_lag is not None and best.peak_lag > then


def _by_moves(best: Score, judged: Judged) -> str:
    """Return the clause on an assignor's moves, and on the lag that they leave one member."""
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
    if not _leaves_lag(best, judged):
        return by
    return (
        f"{by}, but not {those} of the optimum: its moves leave the busiest member with "
        f"{best.peak_lag:,} records of lag, the optimum's with {then:,}"
    )


def _what_is_open(group: Group) -> str:
    """Return the words for the members whose subscriptions are unknown."""
    members = [group.members[m] for m in np.flatnonzero(~group.subscription_known)]
    if len(members) == len(group.members):
        return "who reads what"
    return f"what {few(members)} {agreed(len(members), 'read')}"


def _gets_there(row: Score) -> bool:
    """Return whether a score is at the optimum in all tiers before the moves."""
    before = takewhile(lambda term: term.name != MOVES, row.terms or ())
    return bool(row.valid) and all(term.excess == 0 for term in before)
