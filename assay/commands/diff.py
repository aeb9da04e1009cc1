"""Diff: who lost and gained what between two captures, plans or solutions of groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay.commands.import_ import note_each_assumed
from assay.commands.options import Format
from assay.streams import note, note_assumed, note_failures, show, show_json
from assay.terminal import Column, show_table, tell
from compare.diff import (
    KINDS,
    Change,
    Diff,
    diffs_of,
    loads,
    names_in,
    not_compared,
    one_sided,
    unassigned,
    with_several,
    worst_first,
)
from compare.sentences import records_waiting, spread
from groups.assignment_files import NamedAssignment, read_assignments
from groups.documents.assay_group import pairs
from groups.errors import BadInput
from groups.times import seconds_between
from groups.wording import (
    MOST_NAMED,
    TIME_OF,
    agreed,
    counted,
    duration,
    few,
    names_or_count,
    ranges,
    with_client,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compare.moves import Move

MOST_LINES = 12
MOST_GROUPS = 20
LONGEST = 40


def diff(
    before: Annotated[
        str,
        typer.Argument(metavar="A", help="a capture, a solution or a plan; - is standard input"),
    ],
    after: Annotated[str, typer.Argument(metavar="B", help="a later one of the same groups")],
    *,
    group: Annotated[str | None, typer.Option(metavar="NAME", help="one of the groups")] = None,
    by: Annotated[
        Literal["member", "client-id"],
        typer.Option(help="whom to compare; client-id survives a restart of the member"),
    ] = "member",
    format_: Format = "table",
) -> None:
    """Show who lost and gained what from A to B; of several groups, which got worse or better.

    Each is a snapshot, a solution, {member: {topic: [partition]}} or what other tools print.
    """
    if before == after == "-":
        raise BadInput("standard input: it can be A or B, not both")
    files = [read_assignments(path) for path in (before, after)]
    damaged = [failure for one in files for failure in one.damaged]
    only = [one.assignments[0].group for one in files if len(one.assignments) == 1]
    name = group or next(filter(None, only), None)
    several = name is None and all(names_in(one) for one in files)
    found = diffs_of(*files) if several else [Diff(*(one.of(name) for one in files))]
    if by == "client-id" and not several:
        found = [_by_client(found[0])]
    elif by == "client-id":
        found = worst_first(_by_client_or_member(diff) for diff in found)
    note_failures(damaged)
    _note_order(found)
    alone = [[] if group else not_compared(one, found) for one in files]
    if several:
        sides = (side for diff in found for side in (diff.before, diff.after))
        note_each_assumed((str(side.group), side.assumed) for side in sides)
    else:
        _note_assumed(found[0].before, found[0].after)
    if format_ == "json":
        for diff in found:
            show_json(diff.to_dict())
        for side in alone[0]:
            show_json(one_sided(before=side))
        for side in alone[1]:
            show_json(one_sided(after=side))
    elif several:
        show_diffs(found, *alone)
    else:
        show_diff(found[0])
        for line in _alone(*alone):
            tell(f"not compared, {line}")
    raise typer.Exit(2 if damaged else 0)


def _by_client(diff: Diff) -> Diff:
    return Diff(diff.before.by_client(), diff.after.by_client())


def _by_client_or_member(diff: Diff) -> Diff:
    try:
        return _by_client(diff)
    except BadInput as unfit:
        note(f"{diff.group}: compared by member; {unfit}")
        return diff


def _note_order(found: Sequence[Diff]) -> None:
    """Print that B is the earlier capture, if both say when they were made, not their files."""
    for diff in found:
        before, after = diff.before, diff.after
        times = before.captured_at, after.captured_at
        of_files = any(line.startswith(TIME_OF) for line in (*before.assumed, *after.assumed))
        if not of_files and (seconds_between(*times) or 0) < 0:
            note(
                f"{after.source} ({times[1]}) was captured before {before.source} ({times[0]}): "
                "put the earlier one first"
            )
            return


def _note_assumed(before: NamedAssignment, after: NamedAssignment) -> None:
    for side, other in ((before, after), (after, before)):
        own = [line for line in side.assumed if line not in other.assumed]
        note_assumed([f"{side.source}: {line}" for line in own])
    note_assumed([line for line in before.assumed if line in after.assumed])


def show_diff(diff: Diff) -> None:
    """Print a sentence, the members whose partitions changed, and the moves."""
    before, after = diff.before, diff.after
    name = "the group" if diff.group is None else diff.group
    if diff.is_empty:
        each = {pair for topics in after.held.values() for pair in pairs(topics)}
        held = counted(len(each), "partition")
        members = counted(len(after.held), "member")
        hold = agreed(len(after.held), "hold")
        tell(f"{name}: who holds what is the same in both. {members} {hold} {held}.")
        _tell_lag_and_worse(diff)
        _tell_without_one_owner(diff)
        return
    moved = f"{_lost(diff)}{counted(diff.moved, 'partition')} moved"
    for names, verb in ((diff.joined, "joined"), (diff.left, "left")):
        moved += f", {names_or_count(names, 'member', LONGEST)} {verb}" if names else ""
    then, now = spread(loads(before)), spread(loads(after))
    kept = f"loads stay {now}" if then == now else f"loads were {then} and are {now}"
    tell(f"{name}: {moved}; {kept}.")
    _tell_lag_and_worse(diff)
    for what, numbers in (("new", diff.appeared), ("gone", diff.vanished)):
        if numbers:
            tell(f"{what}: {_partitions(numbers)}")
    _tell_without_one_owner(diff)
    _show_members(diff.members)
    _show_moves(diff.moves)
    returned = _clients(before, diff.left) & _clients(after, diff.joined)
    if returned and not (before.shared_client_id or after.shared_client_id):
        what = counted(len(returned), "client id")
        tell(f"{what} of members that left came back with new members: see --by client-id")


def _lost(diff: Diff) -> str:
    """Return how many partitions lost their owner and the records that wait there; else empty."""
    lost = _count(diff.lost_owner or {})
    if not lost:
        return ""
    where = f", where {records_waiting(diff.waiting)}" if diff.waiting else ""
    return f"{counted(lost, 'partition')} lost {'its' if lost == 1 else 'their'} owner{where}; "


def _tell_lag_and_worse(diff: Diff) -> None:
    then, now = diff.before.peak_lag_records, diff.after.peak_lag_records
    if then is not None and now is not None and then != now:
        lost, found = diff.lost_owner, Diff(diff.after, diff.before).lost_owner
        left = " among the partitions that still have an owner" if lost else ""
        had = " among the partitions that had an owner" if found else ""
        tell(f"Most lag on one member: {then:,} records before{had}, {now:,} now{left}.")
    if said := stuck_sentence(diff):
        tell(said)
    if diff.worse:
        tell(f"Got worse: {diff.worse}.")
    if diff.better:
        tell(f"Got better: {diff.better}.")


def stuck_sentence(diff: Diff) -> str:
    """Return which members committed nothing in between, though records wait; else nothing."""
    if not diff.stuck:
        return ""
    ids = diff.after.client_ids
    named = [
        f"{with_client(one.member, ids.get(one.member))} ({records_waiting(one.waiting)}, "
        f"{one.arrived:,} of them new)"
        for one in diff.stuck
    ]
    seconds = seconds_between(diff.before.captured_at, diff.after.captured_at) or 0
    when = f"in the {duration(seconds)} between" if seconds > 0 else "between"
    return f"Committed nothing {when} the captures: {few(named)}."


def _tell_without_one_owner(diff: Diff) -> None:
    """Print the partitions without an owner or with several, before and after."""
    sides = diff.before, diff.after
    for with_whom, (then, now) in (
        ("nobody", [unassigned(side) or {} for side in sides]),
        ("several members", [with_several(side) for side in sides]),
    ):
        if then == now and now:
            tell(f"with {with_whom}, before and after: {_partitions(now)}")
            continue
        for when, numbers in (("before", then), ("after", now)):
            if numbers:
                tell(f"with {with_whom} {when}: {_partitions(numbers)}")


def show_diffs(
    diffs: Sequence[Diff], before: Sequence[NamedAssignment], after: Sequence[NamedAssignment]
) -> None:
    """Print which groups got worse or better, and a line for each changed group, worst first.

    Parameters
    ----------
    before, after : the groups that are only on one side
    """
    changed = [diff for diff in diffs if not diff.is_empty or any(diff.harm)]
    worse = [f"{diff.group} ({diff.worse})" for diff in changed if diff.worse]
    better = [f"{diff.group} ({diff.better})" for diff in changed if diff.better]
    neither = [str(diff.group) for diff in changed if not (diff.worse or diff.better)]
    parts = [f"{len(worse)} of {counted(len(diffs), 'group')} got worse{_named(worse)}"]
    parts += [f"{len(better)} got better{_named(better)}"]
    parts += [f"{len(neither)} changed otherwise{_named(neither)}"] if neither else []
    parts += [f"{len(diffs) - len(changed)} did not change", *_alone(before, after)]
    tell(f"{'; '.join(parts)}.")
    stuck = [diff for diff in diffs if diff.stuck]
    for diff in stuck[:MOST_NAMED]:
        said = stuck_sentence(diff)
        tell(f"{diff.group}: {said[0].lower()}{said[1:]}")
    if len(stuck) > MOST_NAMED:
        more = counted(len(stuck) - MOST_NAMED, "more group")
        tell(f"Members of {more} committed nothing either, though records wait.")
    if not changed:
        return
    show_table(
        changed,
        Column("group", lambda diff: diff.group, whole=True),
        Column("got", _got),
        Column("moved", lambda diff: diff.moved),
        Column("joined", lambda diff: len(diff.joined)),
        Column("left", lambda diff: len(diff.left)),
        Column("loads before", lambda diff: spread(loads(diff.before)), right=True),
        Column("after", lambda diff: spread(loads(diff.after)), right=True),
        Column("with nobody before", lambda diff: _unread(diff.before), right=True),
        Column("after", lambda diff: _unread(diff.after), right=True),
        Column("peak lag before", lambda diff: diff.before.peak_lag_records, right=True),
        Column("after", lambda diff: diff.after.peak_lag_records, right=True),
        most=MOST_GROUPS,
    )
    tell(f"worst first: {', then '.join(KINDS)}; one group in full: --group NAME")


def _named(names: Sequence[str]) -> str:
    return f": {few(names)}" if names else ""


def _got(diff: Diff) -> str | None:
    if diff.worse:
        return f"worse: {diff.worse}"
    return diff.better and f"better: {diff.better}"


def _alone(before: Sequence[NamedAssignment], after: Sequence[NamedAssignment]) -> list[str]:
    """Return the phrases that name the groups that are only on one side."""
    return [
        f"only {when}: {few([*dict.fromkeys(str(one.group) for one in alone)])}"
        for alone, when in ((before, "before"), (after, "after"))
        if alone
    ]


def _unread(side: NamedAssignment) -> int | None:
    numbers = unassigned(side)
    return None if numbers is None else _count(numbers)


def _clients(side: NamedAssignment, members: Sequence[str]) -> set[str]:
    return {side.client_ids[member] for member in members if member in side.client_ids}


def _partitions(numbers: Mapping[str, Sequence[int]]) -> str:
    """Return partitions as ``t0:0-3,7 t1:2``; a long list ends with the number left out."""
    shown: list[str] = []
    left = _count(numbers)
    for topic, listed in numbers.items():
        room = LONGEST - sum(map(len, shown)) - len(topic)
        runs = ranges(listed).split(",")
        while len(runs) > 1 and len(",".join(runs)) > room:
            runs.pop()
        if shown and len(",".join(runs)) > room:
            break
        shown.append(f"{topic}:{','.join(runs)}")
        left -= sum(_size(run) for run in runs)
    return " ".join(shown) + (f" and {left} more" if left else "")


def _size(run: str) -> int:
    first, _, last = run.partition("-")
    return int(last or first) - int(first) + 1


def _show_members(members: Sequence[Change]) -> None:
    changed = [c for c in members if c.lost or c.gained or None in (c.before, c.after)]
    if not changed:
        return
    changed.sort(key=lambda c: -_count(c.lost) - _count(c.gained))
    show("")
    show_table(
        changed,
        Column("member", lambda change: change.member),
        Column("before", lambda change: change.before, right=True),
        Column("after", lambda change: change.after, right=True),
        Column("lost", lambda change: _count(change.lost) or None, right=True),
        Column("gained", lambda change: _count(change.gained) or None, right=True),
        most=MOST_LINES,
    )


def _count(numbers: Mapping[str, Sequence[int]]) -> int:
    return sum(map(len, numbers.values()))


def _other_side(move: Move) -> str:
    return "another too" if move.shared else "nobody"


def _show_moves(moves: Sequence[Move]) -> None:
    if not moves:
        return
    show("")
    show_table(
        moves[:MOST_LINES],
        Column("from", lambda move: move.origin or _other_side(move)),
        Column("to", lambda move: move.target or _other_side(move)),
        Column("partitions", lambda move: move.count),
        Column("", lambda move: _partitions(move.partitions)),
    )
    if len(moves) > MOST_LINES:
        more = sum(move.count for move in moves[MOST_LINES:])
        show(f"and {counted(more, 'more partition')}")
