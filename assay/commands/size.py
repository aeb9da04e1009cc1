"""Size: how many members a group needs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay.commands.options import (
    DEFAULT_SECONDS,
    FILES,
    Asked,
    Format,
    GroupOptions,
    Like,
    OneOf,
    one_group,
    refuse_given,
    seconds_option,
    tell_how_it_stands,
    words_of,
)
from assay.commands.solve import in_ranges
from assay.streams import note_assumed, show, show_json
from assay.tables import with_like
from assay.terminal import Column, show_table, tell
from compare.lag.words import NAMED, hottest_alone, measured
from compare.remedy import assigning, best_of, by_lag, is_rule, none_makes, spoken
from compare.sentences import (
    NO_ASSIGNOR_EVENS_HOSTS,
    NONE_BY_LAG,
    spread,
    who_moves,
)
from compare.sizes.fit import Fit, FitRow, fit, parse_capacity
from compare.sizes.pods import Pods, pods, threads_of, why_no_pods
from compare.sizes.sizing import Aim, Size, Sizing, Target, drawn, parse_target, reached
from compare.sizes.sizing import size as sized
from groups.assignment import Assignment
from groups.errors import BadInput
from groups.extras import require_plots
from groups.group import Group
from groups.tiers import LAG_PEAKS, MOVES, in_words
from groups.wording import OF_CONSUMERS, Nouns, agreed, counted, duration, listed
from heuristics.catalogue import usual_assignors
from heuristics.time_limit import TimeLimit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


MOST_NUMBERS, MOST_PARTITIONS = 1000, 1_000_000
_ANY = {"format": "assay-group/1", "group": "any group"}
MOST_MEMBERS = 20
# Options that change what is asked, and the other options that each of them allows. Answers in
# pods with a target also allow the options of a target.
_OF_A_GROUP = ("--group", "--reads", "--rate")
TAKES = {
    "--partitions": ("--threads",),
    "--capacity": _OF_A_GROUP,
    "--threads": (*_OF_A_GROUP, "--host-by", "--target"),
    "--host-by": (*_OF_A_GROUP, "--target"),
}
# What the bounds of --capacity rest on, by kind of proof.
PROOFS = {
    "certificate": "two bounds that need no solver: docs/findings/elastic.md",
    "solver": "a solver's word that no less has to move",
}
IN_PODS, OF_A_TARGET = ("--threads", "--host-by"), ("--objective", "--figure")


def size(
    files: Annotated[list[str] | None, FILES] = None,
    *,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="TIER=N",
            help="what will do: peak_lag=400k (records on one member) or 50% of that now, "
            "peak_time=5m (to catch up), peak_load=8 (partitions on one), load_spread=1, "
            "balance=0",
        ),
    ] = None,
    capacity: Annotated[
        str | None,
        typer.Option(
            metavar="WEIGHT",
            help="the fewest members with at most so much weight each, as in 400k, and what moves",
        ),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(metavar="N", help="answer in pods that have so many members each")
    ] = None,
    host_by: Annotated[
        Literal["host", "client-id"] | None,
        typer.Option(
            help="answer in pods like those of now: members of one 'host', or of one client id up "
            "to its last number"
        ),
    ] = None,
    partitions: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=MOST_PARTITIONS,
            help="with --threads and without a file: of a group that reads so many",
        ),
    ] = None,
    members: Annotated[
        str | None, typer.Option(metavar="N-M", help="the numbers to look at, as in 1-40")
    ] = None,
    like: Like = None,
    objective: Annotated[
        str | None,
        typer.Option(help="what is best; left out: 'balance > peak_lag', without lags 'balance'"),
    ] = None,
    time_limit: Annotated[
        float, seconds_option("seconds for all numbers together")
    ] = DEFAULT_SECONDS,
    figure: Annotated[str | None, typer.Option(help="also draw it, as a .svg or a .png")] = None,
    group: OneOf = None,
    options: GroupOptions,
    format_: Format = "table",
) -> None:
    """Find how many members a group needs.

    The best assignment for each number of them: loads, peak lag, time to catch up.
    """
    given: dict[str, object] = {
        "--partitions": partitions,
        "--capacity": capacity,
        "--threads": threads,
        "--host-by": host_by,
        "--group": group,
        "--reads": options.reads,
        "--members": members,
        "--like": like,
        "--target": target,
        "--objective": objective,
        "--rate": options.rate,
        "--figure": figure,
    }
    if partitions is not None and (files or threads is None):
        raise BadInput("--partitions: with --threads N, and without a file")
    in_pods = _way(given) in IN_PODS
    if partitions is not None and threads is not None:
        topic = {"topics": {"t": partitions}, "members": {"m": {"subscription": ["t"]}}}
        _print_pods(pods(Group.from_dict({**_ANY, **topic}), threads), format_)
        return
    if not files:
        raise BadInput("a FILE is missing; or ask without one: --partitions 24 --threads 4")
    if figure is not None:
        require_plots()
        from compare import figures

        figures.require_suffix(figure)
    one = one_group(files, group, options)
    if capacity is not None:
        _size_to_fit(one, capacity, time_limit, format_)
        return

    wanted = None if target is None else parse_target(target, one)
    numbers: Sequence[int] | None = None if members is None else _numbers(members)
    if in_pods:
        found_pods = _pods(one, threads)
        if wanted is None:
            _print_pods(found_pods, format_, one)
            return
        threads, numbers = found_pods.threads, [row.members for row in found_pods.rows]
    found = sized(
        one, members=numbers, target=wanted, like=like, objective=objective, time_limit=time_limit
    )
    note_assumed(one.assumed)
    if format_ == "json":
        show_json(found.to_dict())
    else:
        alike = Asked(sources=files, group=one.name, options=options, time_limit=time_limit)
        tell_how_it_stands(one)
        makers = ""
        if found.change is not None:
            usual = usual_assignors([one])
            usual = [name for name in usual if not is_rule(name)]
            with TimeLimit(time_limit) as limit:
                makers = made_by(found, reached(found, usual, limit))
        _print_sizing(found, _command(found, alike), threads or 1, one.nouns, makers)
    if figure is not None:
        from compare import figures

        figures.save(drawn(found), figure)
        if format_ != "json":
            show(f"{found.group}: drawn in {figure}")


def _way(given: Mapping[str, object]) -> str | None:
    """Return the first given option of `TAKES`, or None; refuse options that it does not allow."""
    way = next((one for one in TAKES if given[one] is not None), None)
    if way is None:
        return None
    with_target = way in IN_PODS and given["--target"] is not None
    takes = (way, *TAKES[way], *(OF_A_TARGET if with_target else ()))
    refuse_given({one: given[one] for one in given if one not in takes}, f"not with {way}")
    return way


def _pods(group: Group, threads: int | None) -> Pods:
    """Return how even a group is in pods.

    Parameters
    ----------
    threads : of each pod; None: as many as its hosts have now
    """
    if threads is not None:
        return pods(group, threads)
    if why := why_no_pods(group):
        raise BadInput(f"{group.name}: {why}; say --threads N")
    return pods(group, threads_of(group)[0])


def _print_pods(found: Pods, format_: str, group: Group | None = None) -> None:
    """Print with how many pods threads are even, and a row for each number of pods.

    Parameters
    ----------
    group : the group as it is now; None if only a number of partitions was given
    """
    nouns = OF_CONSUMERS if group is None else group.nouns
    note_assumed(found.assumed)
    if format_ == "json":
        show_json(found.to_dict())
        return
    tell(
        f"{found.group}: {counted(found.partitions, nouns.partition)}, pods of "
        f"{counted(found.threads, 'thread')}. {found.even_sentence} With "
        f"{counted(found.enough, 'pod')} the busiest thread holds 1 {nouns.partition}; "
        "more pods do not lower that."
    )
    if group is not None:
        tell_how_it_stands(group)
        if said := _pods_now(group):
            tell(said)
    show_table(
        found.rows,
        Column("pods", lambda row: row.pods),
        Column("threads", lambda row: row.members),
        Column("per thread", lambda row: spread([row.least_load, row.most_load]), right=True),
        Column("per pod", lambda row: spread([row.least_pod, row.most_pod]), right=True),
        Column("idle threads", lambda row: row.idle),
        Column("threads even", lambda row: row.is_even),
        Column("pods even", lambda row: row.has_even_pods),
        Column("", lambda row: "now" if group is not None and row.pods == found.now else ""),
    )
    of_tasks = group is not None and group.of_streams
    if any(row.pods > 1 and row.has_even_pods and not row.is_even for row in found.rows):
        best = "pods even where threads are not: in the best assignment."
        tell(best if of_tasks else f"{best} {NO_ASSIGNOR_EVENS_HOSTS}")


def _pods_now(group: Group) -> str:
    """Return the present loads of hosts and members; empty if unknown or if there is one host."""
    places, now = group.places("host"), Assignment.current(group)
    if not len(now.holdings[0]) or (places.member < 0).any() or len(places.names) < 2:
        return ""
    held, nouns = places.loads(now.loads), group.nouns
    return (
        f"Now {len(held):,} {nouns.hosts} hold {spread(held)} each, "
        f"and {counted(len(now.loads), nouns.member)} {spread(now.loads)}."
    )


def _size_to_fit(group: Group, capacity: str, time_limit: float, format_: str) -> None:
    """Print the fewest members within a capacity, and the least moved weight for more members."""
    found = fit(group, parse_capacity(capacity), time_limit=time_limit)
    note_assumed(group.assumed)
    if format_ == "json":
        show_json(found.to_dict())
        return
    tell_how_it_stands(group)
    above = f", {found.above_now} of them above {found.capacity:,}" if found.above_now else ""
    tell(
        f"{found.group}: {counted(found.partitions, 'partition')} of weight {found.weight:,}, "
        f"{counted(found.members_now, 'member')} now{above}. {fewest_in_words(found)}"
    )
    show_table(
        found.rows,
        Column("members", lambda row: row.members),
        Column("moved weight", lambda row: row.moved_weight),
        Column("moves", lambda row: row.moves),
        Column("most weight", lambda row: row.most_weight),
        Column("proof", _proof_of_fit),
    )
    if found.rows[0].moved_weight:
        tell("each row: the least weight that has to move if there may be so many members")
    for kind in dict.fromkeys(row.proof for row in found.rows if row.proof != "none"):
        tell(f"{kind}: {PROOFS[kind]}")
    tell(f"With {counted(found.fewest, 'member')}:")
    show_table(
        found.assignment.items(),
        Column("member", lambda one: one[0]),
        Column("partitions", lambda one: in_ranges(one[1])),
        most=MOST_MEMBERS,
        more=": --format json",
    )


def fewest_in_words(found: Fit) -> str:
    """Return how many members are enough, and what is known of fewer."""
    members = counted(found.fewest, "member")
    if found.too_heavy:
        one = found.too_heavy == 1
        heavy = f"{counted(found.too_heavy, 'partition')} {agreed(found.too_heavy, 'are')} above"
        return (
            f"No number of members is enough: {heavy} {found.capacity:,} by "
            f"{'itself' if one else 'themselves'}, and whoever has {'it' if one else 'one'} falls "
            f"behind. With {members} nobody else does."
        )
    enough = f"{members} {agreed(found.fewest, 'are')} enough"
    if found.fewest > found.fewest_bound:
        return f"{enough}; at least {found.fewest_bound:,} are needed."
    return f"{enough}; fewer are not." if found.fewest > 1 else f"{enough}."


def _proof_of_fit(row: FitRow) -> str:
    if row.proof != "none":
        return row.proof
    bound = row.moved_weight_bound
    return "not proved" if bound is None else f"at least {bound:,}"


def _numbers(text: str) -> range:
    """Return the numbers of members of ``1-40`` or ``8``."""
    found = re.fullmatch(r"([0-9]{1,5})(?:-([0-9]{1,5}))?", text)
    if found is None:
        limit = ", each below 100,000" if re.fullmatch("[0-9]+(-[0-9]+)?", text) else ""
        raise BadInput(f"--members {text}: expected N or N-M, as in 1-40{limit}")
    least, most = int(found[1]), int(found[2] or found[1])
    if not 1 <= least <= most:
        raise BadInput(f"--members {text}: expected N-M with 1 <= N <= M")
    if most - least >= MOST_NUMBERS:
        raise BadInput(f"--members {text}: {most - least + 1:,} numbers, at most {MOST_NUMBERS:,}")
    return range(least, most + 1)


def _command(sizing: Sizing, asked: Asked) -> str:
    """Return the command that prints the moves of the change; if there is none, the best plan."""
    change = sizing.change
    if change is None:
        return asked.solve(in_words((*sizing.objective, MOVES)))
    limits = [f"{in_words((tier,))}={most}" for tier, most in change.at_most.items()]
    at_most = words_of({"--at-most": limits})
    return asked.command("solve", "--objective", in_words(change.objective), *at_most)


def _print_sizing(sizing: Sizing, solve: str, pod: int, nouns: Nouns, makers: str) -> None:
    """Print how many members are enough and why, then a row for each number of members.

    Parameters
    ----------
    solve, pod : as in `answer`
    makers : which assignor makes the moves; empty if nothing has to move
    """
    partitions, now = counted(sizing.partitions, "partition"), sizing.members_now
    said = f"{partitions}, {counted(now, 'member')} now. {answer(sizing, solve, pod)}".rstrip()
    tell(f"{sizing.group}: {nouns.said(said)}")
    if makers:
        tell(makers)
    more = f"of more than {sizing.partitions:,} members some hold none."
    tell(nouns.said(f"Each partition belongs to one member: {more}"))
    if sizing.hottest is not None:
        one = hottest_alone(sizing.hottest, nouns)
        lower = (
            "A faster consumer lowers that, and more partitions of the topic do for new records."
        )
        tell(nouns.said(f"{one}, however many members there are. {lower}"))
    tell(with_like(nouns.said(sizing.reads)))
    _print_rows(sizing, pod, nouns)


def made_by(sizing: Sizing, reached: Mapping[str, int | None]) -> str:
    """Return which assignor brings a group within a target; empty if none was tried.

    Parameters
    ----------
    reached : value that each assignor reaches; None for one without a valid assignment
    """
    target, change = sizing.target, sizing.change
    if target is None or change is None or not reached:
        return ""
    lag = target.aim in LAG_PEAKS
    own = by_lag(change.group) if lag else ""
    found = {name: (value,) for name, value in reached.items() if value is not None}
    best = best_of(found, change.group)
    if best is None:
        return none_makes(len(reached), own)
    comes = f"to {measured(target.aim, *found[best])}"
    if found[best] > (target.at_most,):
        return none_makes(len(reached), own, f"; {spoken(best)} comes nearest, {comes}")
    if lag:
        return who_moves(f"{NONE_BY_LAG}; {spoken(best)} comes {comes} by chance. {own}")
    return who_moves(f"let {assigning(best, change.group)}. It comes {comes}.")


def answer(sizing: Sizing, solve: str, pod: int) -> str:
    """Return how many members are enough for the target; without a target, when more gain nothing.

    Parameters
    ----------
    solve : the command that prints the moves that the present members have to make
    pod : how many members come and go together
    """
    said, fewer = _enough(sizing, pod), sizing.smallest_uneven
    if pod > 1 and sizing.smallest is not None:
        said += f" That is {counted(sizing.smallest // pod, 'pod')} of {pod:,}."
    beyond = _beyond_now(sizing)
    if beyond and sizing.target is None:
        as_many = next(row for row in sizing.rows if row.members == sizing.members_now)
        said += (
            f" As {counted(sizing.members_now, 'member')} "
            f"{agreed(sizing.members_now, 'are')} assigned now, the {beyond}; their best "
            f"assignment has {sizing.busiest(as_many):,}. {solve} prints it."
        )
    elif beyond:
        said += (
            f" The {counted(sizing.members_now, 'member')} of now "
            f"{agreed(sizing.members_now, 'need')} another assignment for that: as assigned, the "
            f"{beyond}. {_moves_needed(sizing, '. ')}{solve} prints "
            f"{'one' if sizing.change is None else 'who gives what to whom'}."
            f"{_moves_uneven(sizing, ', with --objective moves')}"
        )
    elif sizing.change is not None:
        more = counted(len(sizing.change.group.members) - sizing.members_now, "more member")
        if needed := _moves_needed(sizing, "."):
            said += f" With {more}, {needed}{_moves_uneven(sizing)}"
    if fewer is not None:
        tier = next(tier for tier in sizing.objective if tier in LAG_PEAKS)
        said += f" {fewer:,} would do if loads may be uneven: --objective {tier}."
    return said


def _if_lag_aware(sizing: Sizing) -> str:
    """Return the condition of a target of lag that needs moves; empty for other targets."""
    on_lag = sizing.target is not None and sizing.target.aim in LAG_PEAKS
    return " if the assignor looks at lag" if on_lag and sizing.change is not None else ""


def _beyond_now(sizing: Sizing) -> str:
    """Return what exceeds the target now, if the present number of members would be enough.

    Without a target: what the busiest has now, if it has less with the best assignment.
    """
    as_many = [row for row in sizing.rows if row.members == sizing.members_now]
    target, now = sizing.target, sizing.now
    if now is None:
        return ""
    if target is None:
        most = sizing.busiest(now)
        if not any(sizing.busiest(row) < most for row in as_many):
            return ""
        return f"busiest has {_measure(sizing, most)}"
    if now.meets is not False or not any(row.meets for row in as_many):
        return ""
    value, _ = now.of(target.aim)
    return "" if value is None else f"{NAMED[target.aim]} is {measured(target.aim, value)}"


def _moves_needed(sizing: Sizing, after: str) -> str:
    """Return how many moves reach a target, and how many it takes at least; empty if not known.

    Parameters
    ----------
    after : what follows
    """
    change = sizing.change
    if change is None or change.assignment is None:
        return ""
    moves = len(change.assignment.moved)
    said = f"{counted(moves, 'move')} {agreed(moves, 'are')} enough"
    least = next((term.bound or 1 for term in change.terms if term.name == MOVES), moves)
    if least < moves and change.at_most:
        said += f"; at least {least:,} {agreed(least, 'are')} needed"
    return f"{said}{after}"


def _moves_uneven(sizing: Sizing, option: str = "") -> str:
    """Return the sentence on how many moves reach a target if loads may be uneven, if fewer do.

    Parameters
    ----------
    option : the option that allows uneven loads
    """
    free = sizing.change_uneven
    if free is None or free.assignment is None:
        return ""
    moves = len(free.assignment.moved)
    said = f"{counted(moves, 'move')} {agreed(moves, 'are')} enough"
    return f" If loads may be uneven, {said}{option}."


def _enough(sizing: Sizing, pod: int) -> str:
    target, few, rows = sizing.target, sizing.smallest, sizing.rows
    if target is None:
        return _no_less(sizing)
    aim = _aim(target)
    if target.aim in LAG_PEAKS and sizing.objective[0] == "balance":
        aim += " with balanced loads"
    aim += _if_lag_aware(sizing)
    if few is None:
        first, last = rows[0].members, rows[-1].members
        if target.is_below(sizing.hottest):
            return f"No number of members is enough {_aim(target)}."
        none = "No number" if len(rows) > last - first else f"None of {len(rows)} numbers"
        known = "" if sizing.sure else "known to be "
        others = "" if first == pod and last >= sizing.partitions else "; others were not tried"
        values = [value for row in rows if (value := row.of(target.aim)[0]) is not None]
        least = f" The least found is {measured(target.aim, min(values))}." if values else ""
        return f"{none} from {first} to {last:,} is {known}enough {aim}{others}.{least}"
    enough = [row.members for row in rows if row.meets]
    if _comes_and_goes(sizing):
        members = f"{listed([*map(str, enough)])} member{'' if enough == [1] else 's'}"
        if not target.at_most:
            return f"Loads are even with {members}, and with no other number tried."
        are = "is" if enough == [1] else "are"
        return f"{members} {are} enough {aim}; no other number tried is."
    are = "member is" if few == 1 else "members are"
    said = f"{few:,} {are} enough {aim}"
    if few == rows[0].members:
        return f"{said}." if few == pod else f"{said}; fewer than {few:,} were not tried."
    if not sizing.sure:
        return f"{said}; that fewer are not is not proved."
    before = next(row for row in reversed(rows) if row.members < few)
    value, bound = before.of(target.aim)
    if bound is None:
        return f"{said}."
    exact = "" if value == bound else "at least "
    said = f"{said}; with {before.members:,} it is {exact}{measured(target.aim, bound)}"
    return f"{said}{_with_more(sizing, few, target.aim)}."


def _with_more(sizing: Sizing, few: int, aim: Aim) -> str:
    """Return what the next larger number of members gains; empty if it was not tried."""
    value = next((row.of(aim)[0] for row in sizing.rows if row.members == few), None)
    more = next((row for row in sizing.rows if row.members > few), None)
    then = None if more is None else more.of(aim)[0]
    if more is None or value is None or then is None:
        return ""
    if then >= value:
        return f", and {more.members:,} do not lower it"
    return f", and with {more.members:,} it is {measured(aim, then)}"


def _comes_and_goes(sizing: Sizing) -> bool:
    """Return whether some larger number is not enough, as loads are even only for divisors."""
    few = sizing.smallest
    return few is not None and any(r.members > few and r.meets is False for r in sizing.rows)


def _no_less(sizing: Sizing) -> str:
    """Return from which number of members on the busiest has the least, of all numbers tried."""
    least, last = min(map(sizing.busiest, sizing.rows)), sizing.rows[-1].members
    first = next(row.members for row in sizing.rows if sizing.busiest(row) == least)
    what = _measure(sizing, least)
    best = f"With {counted(first, 'member')} at their best assignment the busiest has {what}"
    one = sizing.hottest.records if sizing.by_lag and sizing.hottest is not None else 1
    if least == one:
        return f"{best}; more do not lower that."
    larger = "larger numbers were not tried"
    if first != last:
        larger = f"no larger number tried, up to {last:,}, lowers that"
    return f"{best}; {larger}."


def _measure(sizing: Sizing, most: int) -> str:
    """Return what the busiest member has, with its unit."""
    return f"{most:,} of lag" if sizing.by_lag else counted(most, "partition")


def _aim(target: Target) -> str:
    most = measured(target.aim, target.at_most)
    if target.aim == "peak_time":
        return f"to catch up within {most}"
    return f"for a {NAMED[target.aim]} of at most {most}"


def _print_rows(sizing: Sizing, pod: int, nouns: Nouns) -> None:
    lag = any(row.peak_lag is not None for row in sizing.rows)
    bounds = lag and any(row.peak_lag != row.peak_lag_bound for row in sizing.rows)
    times = any(row.peak_seconds is not None for row in sizing.rows)
    like: dict[int, int] = {}
    for row in sizing.rows:
        like.setdefault(sizing.busiest(row), row.members)
    show_table(
        sizing.rows,
        Column("pods", lambda row: row.members // pod, shown=pod > 1),
        Column(f"{nouns.member}s", lambda row: row.members),
        Column("loads", lambda row: spread([row.least_load, row.most_load]), right=True),
        Column("balance", lambda row: row.balance, gives_way=1),
        Column("peak lag", lambda row: row.peak_lag, shown=lag),
        Column("at least", _bound, right=True, shown=bounds),
        Column("catch-up", lambda row: row.peak_seconds, format_number=duration, shown=times),
        Column("", lambda row: _noted(row, like[sizing.busiest(row)], sizing)),
    )
    so_many = f"so many {nouns.member}s"
    more = "; what Kafka's assignors make may have more, as none looks at lag" if lag else ""
    tell(f"each row: the best assignment of {so_many}, {in_words(sizing.objective)}{more}")
    if bounds:
        tell("at least: where the lowest peak is not proved, no assignment has less")


def _bound(row: Size) -> str:
    known = row.peak_lag_bound is not None and row.peak_lag_bound != row.peak_lag
    return f"{row.peak_lag_bound:,}" if known else ""


def _noted(row: Size, like: int, sizing: Sizing) -> str:
    """Return the remark on a row.

    Parameters
    ----------
    like : the fewest members with which the busiest has as much
    """
    notes = []
    if row.members == sizing.members_now:
        beyond = _beyond_now(sizing)
        notes.append(f"as many as now ({beyond} as assigned)" if beyond else "as many as now")
    if row.members == sizing.smallest or (row.meets and _comes_and_goes(sizing)):
        notes.append(f"enough{_if_lag_aware(sizing)}")
    if row.idle:
        notes.append(f"{row.idle} idle")
    elif like < row.members:
        notes.append(f"no less than with {like}")
    return ", ".join(notes)
