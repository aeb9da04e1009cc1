"""Words: advice in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compare.advice.advice import least_gain, least_share
from compare.lag.words import hottest_alone
from compare.remedy import (
    assigning,
    assigns_now,
    best_of,
    is_ours,
    none_makes,
    spoken,
    steps_to_deploy,
    where_ours_runs,
    who_moves_for_lag,
)
from compare.scores import DEPENDS
from compare.sentences import (
    further,
    hosts_sentence,
    if_so,
    mover,
    not_valid,
    sentence,
    spread,
    start_consumers,
    who_moves,
)
from compare.verdict import EMPTY, NOBODY_READS
from groups.wording import agreed, bounded, counted, few, percent

if TYPE_CHECKING:
    from fractions import Fraction

    from compare.advice.advice import Advice, Change, Peak

# The name of each kind of change in lines that say that it gains nothing, and what follows a
# reason that is not proved.
NAMED = {
    "rebalance": ("moving partitions", " (that none has less is not proved)"),
    "isolate": ("uneven loads", " (that none has less is not proved)"),
    "subscription": ("one more topic for one member", "; others were not tried"),
    "assignor": ("another assignor", ""),
    "members": ("more members", " (that none does is not proved)"),
    "partitions": ("more partitions", "; others were not tried"),
}
NO_WAY_BACK = "so their order across the change is lost; partitions cannot be taken away again."
OF_OPTIMUM = "Its moves may differ from those of the optimum, which are:"


def headline(advice: Advice) -> str:
    """Return the sentence on what the busiest member has now, and the least that it can have."""
    name, best = advice.group, advice.best
    if not advice.members:
        if advice.judged.verdict.says == NOBODY_READS:
            return sentence(advice.judged)
        return f"{name}: no members, so there is nothing to change."
    if not advice.total:
        none = "nobody reads a partition" if advice.lower == "peak_load" else "there is no lag"
        return f"{name}: {none}, so there is nothing to lower."
    of = counted(advice.total, "partition" if advice.lower == "peak_load" else "record")
    has = "holds" if advice.lower == "peak_load" else "has"
    who = "1 member" if advice.members == 1 else f"the busiest of {advice.members:,} members"
    unit = of if advice.lower == "peak_load" else f"{of} of lag"
    given = f", if {advice.condition}" if advice.condition else ""
    if advice.now is None:
        if best is None:
            # Subscriptions are unknown, or the time was too short.
            members = counted(advice.members, "member")
            return f"{name}: {members} share {unit}; nothing assigned yet."
        least = f"{who} {has} {bounded(best.value, best.bound)} of {unit}"
        return f"{name}: nothing assigned yet. At the best {least}{given}."
    said = f"{name}: {who} {has} {advice.now:,} of {unit}"
    if advice.violation is not None:
        wrong = not_valid(advice.judged.now)
        return f"{said}{given}, but what members hold is not valid: {wrong}."
    if best is None:
        return f"{said}; the least was not found in time{given}."
    if best.bound == advice.now:
        return f"{said}. No assignment of the same members{_even(advice)} has less{given}."
    depends = ", depending on who reads what" if advice.question else ""
    least = bounded(best.value, best.bound)
    return f"{said}; at the best{_even(advice)} it {has} {least}{depends}{given}."


def to_find_out(advice: Advice) -> str:
    """Return the sentence with the question to answer first; empty if there is none."""
    if advice.question is None:
        return ""
    same = advice.question == advice.judged.verdict.question
    then = if_so(advice.judged) if same else "If so, the busiest member can have less."
    return f"Find out first: {advice.question} {then}"


def to_do(advice: Advice) -> list[Change]:
    """Return the changes without assignors that make moves which are already among them."""
    makers = [maker_of(change, advice) for change in advice.changes]
    return [change for change in advice.changes if change not in makers]


def maker_of(change: Change, advice: Advice) -> Change | None:
    """Return the advised assignor that makes the moves of a rebalance; None if there is none.

    None for lag, too: assignors lower it only by chance.
    """
    if change.kind != "rebalance" or change.mends or advice.lower != "peak_load":
        return None
    makes = (
        one
        for one in advice.changes
        if one.kind == "assignor" and (one.after.value, one.moves) <= _cost(change)
    )
    return next(makes, None)


def _cost(change: Change) -> tuple[int, int]:
    return change.after.value, change.moves


def what_to_do(change: Change, advice: Advice) -> str:
    """Return the sentence on what to change, and what the busiest member has then."""
    change = maker_of(change, advice) or change
    now = advice.members
    then = change.members or now
    moved = f"; {_moves(change.moves)}"
    if change.kind == "rebalance":
        by = mover(on_lag=advice.lower == "peak_lag")
        lead = f"Let {by} move {counted(change.moves, 'partition')}"
        if change.mends:
            lead = "Assign again what is not valid"
        else:
            moved = ""
    elif change.kind == "isolate":
        loads = spread(change.assignment.loads)
        lead, moved = "Let loads be uneven", f"; {_moves(change.moves)}, loads are then {loads}"
    elif change.kind == "assignor":
        who = assigning(change.assignor or "", change.assignment.group)
        lead = f"Let {who}{_assigned_by(advice)}"
    elif change.kind == "subscription":
        lead = f"Let {change.member} read {change.topic} too"
    elif change.kind == "members":
        lead = f"Add {_in_pods(then - now, advice)} ({now:,} -> {then:,})"
    elif change.kind == "fewer members":
        lead = f"{_in_pods(now - then, advice)} can leave ({now:,} -> {then:,})"
        held = "it held" if now - then == 1 else "they held"
        besides = f" Besides what {held}, {_moves(change.moves)}." if change.moves else ""
        return f"{lead}: the busiest one still holds {change.after.value:,}.{besides}"
    else:
        was, more = change.partitions_now or 0, change.partitions or 0
        lead = f"Give {change.topic} {counted(more - was, 'partition')} more ({was:,} -> {more:,})"
    return f"{lead}: {_peak_then(change, advice)}{moved}."


def _in_pods(members: int, advice: Advice) -> str:
    """Return ``2 members``, or ``1 pod of 2 members`` if they join and leave together."""
    if advice.pods is None:
        return counted(members, "member")
    each = advice.pods.threads
    return f"{counted(members // each, 'pod')} of {counted(each, 'member')}"


def proofs_of(change: Change) -> list[str]:
    """Return the kinds of proof of a gain; empty if the peak after it is not proved."""
    before, after = change.before, change.after
    if not after.proved or after.proof == "as it is":
        return []
    if before is None or before.proof == "as it is" or change.kind == "fewer members":
        return [after.proof]
    return [*dict.fromkeys((before.proof, after.proof))] if before.proved else []


def why(change: Change, advice: Advice) -> str:
    """Return the sentence on how the gain is known."""
    before, after, proofs = change.before, change.after, " and ".join(proofs_of(change))
    unit = "" if advice.lower == "peak_load" else " of lag"
    if change.kind == "assignor":
        return _trial_in_words(change, advice)
    if change.kind == "rebalance" and after.proof == "as it is" and advice.best is not None:
        return _beside_all_moves(advice.best)
    if before is None or before.proof == "as it is":
        even = "" if change.kind == "isolate" else _even(advice)
        if after.proved:
            return f"Proved ({proofs}): no assignment of the same members{even} has less."
        least = f"No assignment{even} has less than {after.bound:,}{unit}."
        return f"It can be had. {least}"
    if before.proved and after.proved:
        if change.kind == "fewer members":
            least = f"{after.value:,} is the least of {advice.members:,} members"
            return f"Proved ({proofs}): {least}, and of {change.members:,}."
        return (
            f"Proved ({proofs}): {rounded(before.amount)} is the least as it is, "
            f"{rounded(after.amount)} the least then."
        )
    least, most = rounded(change.at_least), rounded(change.at_most)
    return f"Proved: at least {least}{unit} less, at most {most}."


def depends(change: Change, advice: Advice, fewer_moves: str = "") -> list[str]:
    """Return sentences on what a gain assumes, and what the change takes besides moves.

    Parameters
    ----------
    fewer_moves : the command that shows what fewer moves bring; empty if there is none
    """
    said = []
    if change.not_reached:
        said.append(_not_reached(change, advice))
    if change.kind == "members":
        said.append(advice.new_members)
    if change.mends:
        said.append(
            "A rebalance makes it valid, such as by a restart of 1 member; who then has what, its "
            "assignor decides. Capture again first: it may be under way."
        )
    elif change.kind == "rebalance":
        said += _who_makes(change, advice, fewer_moves)
    if change.kind == "isolate":
        said.append("No assignor of Kafka's does that: it is the optimum of peak_lag > moves.")
    if change.kind == "fewer members":
        said.append(f"Who leaves makes no difference; fewest move if it is {few(change.leaves)}.")
    if change.kind == "assignor":
        said += steps_to_deploy(change)
    if change.kind == "subscription":
        said.append(
            f"Takes a restart of {change.member}, which must be able to process {change.topic}."
        )
    if change.kind == "partitions":
        said += [
            f"This holds for new records, if those of {change.topic} are spread evenly.",
            f"Keys go to other partitions from then on, {NO_WAY_BACK}",
        ]
    return said


def _who_makes(change: Change, advice: Advice, fewer_moves: str) -> list[str]:
    """Return sentences on who makes advised moves, and the command that shows fewer moves."""
    if advice.lower == "peak_lag":
        fewer = f"What fewer moves bring if loads may differ: {fewer_moves}."
        return [
            who_moves_for_lag(advice.judged.group),
            *([fewer] if change.moves > 1 and fewer_moves else []),
        ]
    if (maker := maker_of(change, advice)) is not None:
        moves = "as few moves as the optimum" if change.moves > 1 else "1 move, as the optimum"
        return [
            _trial_in_words(maker, advice, f"it gets there by {moves}"),
            *steps_to_deploy(maker),
            OF_OPTIMUM,
        ]
    return [*filter(None, [_by_whom(change, advice)])]


def _by_whom(change: Change, advice: Advice) -> str:
    """Return the sentence on an assignor that gets there by as few moves; empty if none tried."""
    group, least = change.assignment.group, _cost(change)
    as_good = {
        trial.assignor: (trial.peak, trial.moves)
        for trial in advice.assignors
        if trial.peak is not None and (trial.peak, trial.moves) <= least
    }
    if is_ours(group):
        return who_moves(where_ours_runs(group))
    if name := best_of(as_good, group):
        by = "by as few, maybe other, moves"
        return who_moves(f"let {assigning(name, group)}. It gets there {by}.")
    many = len(advice.assignors)
    return none_makes(many, where_ours_runs(group), " by as few moves") if many else ""


def _not_reached(change: Change, advice: Advice) -> str:
    """Return the sentence on assignors that leave more than a change allows or have no plan."""
    holds = "holds" if advice.lower == "peak_load" else "has"
    lead = f"the busiest one then {holds} "
    more: list[str] = []
    lost: list[str] = []
    for name, peak in change.not_reached:
        if peak is None:
            lost.append(spoken(name))
        else:
            more.append(f"with {spoken(name)} {'' if more else lead}{peak:,}")
    if lost:
        more.append(f"{few(lost)} {agreed(len(lost), 'make')} no valid plan")
    return f"Not every assignor gets there: {', '.join(more)}."


def _beside_all_moves(best: Peak) -> str:
    """Return the sentence on the peak that more moves reach."""
    if best.proved:
        return f"With more moves it is {best.value:,}, and with even loads no assignment has less."
    return (
        f"With more moves it is {best.value:,}; with even loads no assignment has less than "
        f"{best.bound:,}."
    )


def hot_partition(advice: Advice) -> str:
    """Return sentences on a partition with most of the lag, and how to spread new records."""
    if advice.hot is None:
        return ""
    alone = hottest_alone(advice.hot, advice.judged.group.nouns)
    return (
        f"{alone}. For new records, more partitions of {advice.hot.topic} spread it over more "
        f"members, unless it comes from one key. Keys then go to other partitions, {NO_WAY_BACK}"
    )


def hosts_and_pods(advice: Advice, command: str) -> list[str]:
    """Return sentences on uneven hosts, and on the gain of one more pod.

    Parameters
    ----------
    command : the command that prints the group's assignment with even hosts
    """
    said = []
    if (hosts := hosts_sentence(advice.judged, command)) is not None:
        said.append(hosts)
    if (pods := advice.pods) is not None:
        present = pods.members_now // pods.threads
        now, more = (
            spread([row.least_load, row.most_load])
            for row in map(pods.with_pods, (present, present + 1))
        )
        said.append(
            f"In pods of {pods.threads:,} members: at the best a member holds {now} with the "
            f"{present:,} pods of now and {more} with one more. {pods.even_sentence}"
        )
    return said


def gains_nothing(advice: Advice) -> list[str]:
    """Return a line for each kind of change that does not lower the peak, with the reason."""
    lines = []
    for one in advice.no_gain:
        name, unproved = NAMED[one.kind]
        known = "" if one.proved else unproved
        now = _assigned_by(advice) if one.kind == "assignor" else ""
        lines.append(f"{name}{now}: {one.because[0].lower()}{one.because[1:-1]}{known}")
    return lines


def conclusion(advice: Advice) -> str:
    """Return the sentence that nothing helps; empty if a change does."""
    if advice.best is None:
        return ""
    if advice.question is not None:
        sure = "is sure to lower it" if not advice.changes else "more is sure"
        return f"Nothing {sure} whoever reads what."
    if advice.changes or advice.now is None:
        return ""
    nothing = f"Nothing that was tried lowers {advice.lower}{_enough(advice)}"
    if all(one.proved for one in advice.no_gain):
        named = ", ".join(NAMED[one.kind][0] for one in advice.no_gain)
        given = f", if {advice.condition}" if advice.condition else ""
        lead = f"{nothing}, and that is proved{given}"
        return f"{lead}: {named}."
    return f"{nothing}."


def more_even(advice: Advice) -> str:
    """Return the clause that moves make loads more even, though not the peak lower; or nothing.

    Nothing if lag is to be lowered: `verdict_sentences` says it then.
    """
    if advice.more_even is None or advice.lower == "peak_lag":
        return ""
    return f"loads can be more even with {counted(advice.more_even, 'move')}, the greatest stays"


def in_short(advice: Advice) -> str:
    """Return the first change in a few words, or why there is none."""
    if advice.changes:
        return what_to_do(advice.changes[0], advice).partition(": the busiest")[0]
    if advice.question is not None:
        return advice.question
    if not advice.members:
        if advice.judged.verdict.says == NOBODY_READS:
            return start_consumers(advice.judged.verdict)
        return "no members"
    if not advice.total:
        return "nobody reads a partition" if advice.lower == "peak_load" else "no lag"
    if advice.now is None:
        return "nothing assigned yet"
    if advice.best is None:
        return "nothing was found in time"
    if said := more_even(advice):
        return said
    if advice.more_even is not None:
        moves = counted(advice.more_even, "move")
        return f"decided by lag; {moves} would make the partitions more even"
    proved = all(one.proved for one in advice.no_gain)
    nothing = "nothing lowers it" if proved else "nothing is known that lowers it"
    return f"{nothing}{_enough(advice)}"


def what_decides(advice: Advice) -> str:
    """Return the line on the number that is to be lowered."""
    if advice.lower == "peak_load":
        return "what decides: peak_load, the partitions of the busiest member"
    return (
        "what decides: peak_lag, the records of lag of the busiest member at this moment; a "
        f"change is advised if it lowers that by {least_share('peak_lag')} or more"
    )


def verdict_sentences(advice: Advice, by_load: str) -> str:
    """Return sentences with the verdict; empty if no member holds a partition.

    Parameters
    ----------
    by_load : the command that advises on the same group by its partitions
    """
    verdict = advice.judged.verdict
    if verdict.says in EMPTY:
        return ""
    given = f", if {verdict.condition}" if verdict.condition else ""
    idle, members = len(advice.judged.now.idle), counted(advice.members, "member")
    none = f" {idle:,} of {members} {agreed(idle, 'hold')} nothing." if idle else ""
    more = f" {question}" if (question := further(advice.judged)) else ""
    shown = f"{advice.judged.shown}{given}"
    if advice.lower == "peak_load":
        return f"Verdict of assay score (balance > moves): {shown}.{none}{more}"
    helps = f"; what helps there: {by_load}" if verdict.is_improvable else ""
    lead = f"This is about lag. Of partitions assay score says: {shown} (balance > moves){helps}"
    return f"{lead}.{none}{more}"


def not_advised(advice: Advice) -> list[str]:
    """Return a line on each assignor that cannot be advised; the one that assigns now is first."""
    said: list[str] = []
    for trial in advice.assignors:
        if trial.reason in (None, DEPENDS):
            continue
        why = trial.reason
        if trial.status == "timed-out":
            why += " on this group"
        name = spoken(trial.assignor)
        if assigns_now(trial.assignor, advice.judged.group):
            now = f"{advice.assigned_by} assigns this group now"
            said.insert(0, f"{now}, and {name} does not come to a valid plan: {why}.")
        else:
            said.append(f"Not advised: {name}: {why}.")
    return said


def _assigned_by(advice: Advice) -> str:
    return "" if advice.assigned_by is None else f" (now: {advice.assigned_by})"


def _enough(advice: Advice) -> str:
    """Return `` enough`` if a lower peak may not be worth its cost, else nothing."""
    best, now = advice.best, advice.now
    if best is None or now is None:
        return ""
    return " enough" if best.value < now or least_gain(now, advice.lower) > 1 else ""


def _even(advice: Advice) -> str:
    """Return the words that restrict a least peak of lag to assignments with even loads."""
    return "" if advice.lower == "peak_load" else " with loads as even as can be"


def _peak_then(change: Change, advice: Advice) -> str:
    before, after, lag = change.before, change.after, advice.lower == "peak_lag"
    who = "the busiest one then" if change.kind == "members" else "the busiest member then"
    if change.kind == "partitions" and before is not None:
        return (
            f"{who} reads what {rounded(after.amount)} partitions carry now, "
            f"instead of {rounded(before.amount)}"
        )
    value = f"{after.value:,}"
    if before is None:
        return f"{who} {'has' if lag else 'holds'} {value}{' of lag' if lag else ''}"
    least = "" if before.proved or change.kind in ("rebalance", "assignor") else "at least "
    instead = f"instead of {least}{before.bound:,}"
    if lag:
        less = percent(*change.share.as_integer_ratio())
        return f"{who} has {value} of lag {instead} ({less} less)"
    return f"{who} holds {value} {instead}"


def _trial_in_words(
    change: Change, advice: Advice, found: str = "that is the least there can be"
) -> str:
    (trial,) = [one for one in advice.assignors if one.assignor == change.assignor]
    best = advice.best
    least = f"Tried on this group: {found}"
    if best is None or not trial.least or not best.proved:
        least = "Tried on this group"
    if not trial.tried:
        return f"{least}."
    return (
        f"{least}. After one member had joined or left, the busiest had the least that it can "
        f"have in {trial.kept} of {trial.tried} tries."
    )


def rounded(number: Fraction) -> str:
    """Return a number with three digits or, if those are more, all before the point.

    Examples
    --------
    >>> from fractions import Fraction
    >>> [rounded(Fraction(n, 3)) for n in (1, 4, 6, 5000, 6000)]
    ['0.333', '1.33', '2', '1,667', '2,000']
    """
    if number.denominator == 1 or number >= 100:
        return f"{round(number):,}"
    return f"{float(number):.3g}"


def _moves(count: int) -> str:
    return f"{counted(count, 'partition')} {agreed(count, 'move')}" if count else "nothing moves"
