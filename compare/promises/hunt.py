"""Hunt: searches for the smallest group on which an assignor breaks a promise."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice
from math import inf
from shlex import quote
from time import monotonic
from typing import TYPE_CHECKING

from compare.promises.description import sizes
from compare.promises.findings import Finding
from compare.promises.promise import BATCH, PROMISES, Promise, is_promised, promise_named
from compare.promises.record import Found
from compare.promises.shrink import Quarry, shrink
from compare.promises.trial import Runner, in_process, runner_of
from compare.samples.drawn import drawn
from compare.samples.enumerated import equal, fresh, owned
from groups import BadInput
from groups.arguments import require_whole
from groups.seconds import seconds_of
from groups.wording import counted
from heuristics import Assignor, assignor_named
from heuristics.catalogue import the_one_matching
from heuristics.own import is_own, require_importable
from heuristics.time_limit import TimeLimit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from compare.promises.promise import Judgement
    from heuristics import AssignorFunction


@dataclass(frozen=True)
class Hunt:
    """The result of a hunt.

    Attributes
    ----------
    quarry : the smallest group found on which the promise breaks. Without any one of its members,
        topics, partitions, claims or subscriptions it would hold, if `shrunk`. None if no group
        was found
    tried : number of groups tried
    tested : number of these that test the promise
    broken : number of these that break it
    in_time : whether all groups were tried, and shrinking ended, before the time was up
    drawn : number of groups tried that were drawn; the others are small ones
    all_small : whether all small groups were tried before the time was up
    shrunk : whether shrinking ended before the time was up
    """

    quarry: Quarry | None
    tried: int
    tested: int
    broken: int
    in_time: bool
    drawn: int = 0
    all_small: bool = True
    shrunk: bool = True


def how_it_went(
    assignor: str, promise: str, hunted: Hunt, groups: int, known: Sequence[Finding]
) -> str:
    """Return one line on a hunt; it never says that a promise is kept.

    Parameters
    ----------
    groups : how many groups were to be drawn
    known : findings; the line names those of this assignor and promise
    """
    tried = f"{counted(hunted.tried, 'group')} tried: {_which(hunted, groups)}"
    if hunted.tested < hunted.tried:
        tried += f"; {hunted.tested:,} put the promise to the test"
    if hunted.quarry is not None:
        said = f"{assignor} breaks {promise} on {hunted.broken:,} of {tried}"
    else:
        said = f"{assignor}: {promise} not broken on {tried}"
    unpromised = [] if is_promised(promise, assignor) else [f"{assignor} does not promise it"]
    return "; ".join([said, *unpromised, *_known(assignor, promise, hunted.quarry, known)])


def how_found(hunted: Hunt, groups: int, seed: int) -> str:
    """Return the text for a finding on how its hunt found the group."""
    tried = f"{counted(hunted.tried, 'group')} tried: {_which(hunted, groups)}"
    of_seed = f"; the drawn ones are of seed {seed}" if hunted.drawn else ""
    until = "" if hunted.shrunk else " until the time was up"
    return (
        f"{tried}{of_seed}; the smallest that break the promise were shrunk{until}, and the "
        "smallest result kept"
    )


def not_reproduced(finding: Finding, again: Judgement) -> str:
    """Return one line on a second call that did not break the promise in the same way."""
    said = (f"{key} {value}" for key, value in again.measured.items() if value is not None)
    measured = ", ".join(said)
    called = f"called again on the group on which {finding.assignor} breaks {finding.promise}"
    if again.holds is False:
        return f"{called}: it happened again, but measured {measured}"
    return f"{called}: it did not happen again{f', {measured}' if measured else ''}"


def _which(hunted: Hunt, groups: int) -> str:
    """Return the words on which groups were tried: small ones and drawn ones."""
    small = hunted.tried - hunted.drawn
    up = f"as {'the' if hunted.quarry is None else 'half of its'} time was up"
    if not hunted.all_small:
        return f"{small:,} small, not all of them, and none drawn, {up}"
    said = f"all {small:,} small"
    if hunted.drawn:
        said += f" and {hunted.drawn:,}{'' if hunted.drawn == groups else f' of {groups:,}'} drawn"
    elif hunted.quarry is not None:
        return f"{said}, and none drawn, as small ones break it"
    else:
        said += " and none drawn"
    return said if hunted.drawn == groups else f"{said}, {up}"


def _known(
    assignor: str, promise: str, quarry: Quarry | None, known: Sequence[Finding]
) -> list[str]:
    """Return words on the findings on the same assignor and promise, of any version."""
    name, _, version = assignor.partition("@")
    said = []
    for found in known:
        if found.promise != promise or found.assignor.partition("@")[0] != name:
            continue
        if version in found.unaffected:
            said.append(f"known of other versions: {found.id} ({', '.join(found.affected)})")
        elif found.assignor != assignor and version not in found.affected:
            said.append(f"known of {found.assignor}: {found.id}")
        elif quarry is None:
            said.append(f"known to break on another group: {found.id}, {sizes(found.group)}")
        elif Quarry(found.group, {}).size < quarry.size:
            said.append(f"a smaller one is known: {found.id}, {sizes(found.group)}")
        else:
            said.append(f"known already: {found.id}")
    return said


MOST_SHRUNK = 12
SAID_EVERY_SECONDS = 5.0
CALL_SECONDS = 1.0
HUNT_SECONDS = 300.0
LEAST_SECONDS = 0.1


def hunt(
    assignor: str | AssignorFunction | Runner,
    promise: str | Promise,
    *,
    seed: int = 1,
    groups: int = 2000,
    seconds: float | None = None,
    exhaustive: bool = True,
    time_limit: float = CALL_SECONDS,
    say: Callable[[str], object] | None = None,
) -> Hunt:
    """Search for a group on which an assignor breaks a promise, and shrink it.

    First all groups of up to 2 topics x 3 members x 4 partitions are tried, and with equal
    subscriptions all of up to 4 members x 9 partitions. If the promise holds on all of them,
    groups are drawn by `compare.samples.drawn.drawn`. The smallest groups on which the
    promise breaks are shrunk, and the smallest result is kept. The same seed gives the same
    result, unless the time is up before.

    Parameters
    ----------
    assignor : the name of one as written; a function of yours, or its name as ``module:function``,
        which runs in a child process; or a `Runner` for any other
    promise : its name, or the promise itself
    groups : how many to draw
    seconds : for the whole hunt; once a group is found, no more are tried after half of them, so
        that time is left to shrink it. None: no limit
    exhaustive : whether to try all small groups first
    time_limit : seconds for each call of a function of yours
    say : is called every few seconds with a line on the number of groups tried

    Raises
    ------
    BadInput
        If no assignor as written, or no promise, has the name, a child process cannot import the
        function, or a number is below 0.

    Examples
    --------
    >>> from assay import hunt
    >>> found = hunt("range", "balanced", groups=100, exhaustive=False)
    >>> found.quarry.group.partitions.tolist(), found.quarry.measured
    ([1, 1], {'loads': [2, 0]})
    """
    require_whole("seed", seed)
    require_whole("groups", groups)
    if not isinstance(assignor, Runner) and (not isinstance(assignor, str) or is_own(assignor)):
        named = assignor_named(assignor)
        if named.kind == "own":
            require_importable([named])
        with TimeLimit(time_limit) as limit:
            run = runner_of(assignor, limit)
            return hunt(
                run, promise, seed=seed, groups=groups, seconds=seconds, exhaustive=exhaustive,
                say=say,
            )  # fmt: skip
    run = assignor if isinstance(assignor, Runner) else in_process(assignor)
    promise = promise_named(promise) if isinstance(promise, str) else promise
    seconds = seconds_of(seconds)
    left = inf if seconds is None else seconds
    started = said = monotonic()
    until, half = started + left, started + left / 2
    tried = tested = small = 0
    all_small = False
    broken: list[Quarry] = []
    in_time = True
    each = chain(fresh(2, 3, 4), owned(2, 3, 4), equal(4, 9)) if exhaustive else ()
    first = (small_one.group() for small_one in each)
    for stream in (first, islice(drawn(seed), groups)):
        while in_time and (batch := list(islice(stream, BATCH))):
            for group, judgement in promise.judge_each(run, batch, until=until):
                tried += 1
                tested += judgement.holds is not None
                if judgement.holds is False:
                    broken.append(Quarry(group, judgement.measured))
                now = monotonic()
                if say is not None and now - said > SAID_EVERY_SECONDS:
                    said = now
                    say(f"{promise.name}: {counted(tried, 'group')} tried, {len(broken)} break it")
                if broken and now > half:
                    break
            in_time = monotonic() < (half if broken else until)
        if stream is first:
            small, all_small = tried, exhaustive and in_time
        if broken:
            break
    broken.sort(key=lambda found: (found.size, found.text))
    best: Quarry | None = None
    for found in broken[:MOST_SHRUNK]:
        least = shrink(found, promise, run, until=until)
        best = least if best is None or least.is_smaller_than(best) else best
    shrunk = monotonic() < until
    drawn_too = tried - small
    return Hunt(best, tried, tested, len(broken), in_time and shrunk, drawn_too, all_small, shrunk)


def hunt_findings(
    assignor: str | Assignor,
    promises: Sequence[str] | None,
    limit: TimeLimit,
    *,
    seed: int,
    groups: int,
    seconds: float | None,
    say: Callable[[str], object],
    call_seconds: float | None = None,
    progress: Callable[[str], object] | None = None,
    known: Sequence[Finding] = (),
) -> Iterator[Finding]:
    """Hunt for each promise, and yield a finding for each that breaks.

    Parameters
    ----------
    promises : the names of those to hunt; None: all that the assignor makes
    seed, groups : as in :func:`hunt`, for each promise
    seconds : for all hunts together; each gets an equal share of the time left. None: 300
    say : is called with a line on each hunt, and on all together
    call_seconds : the time for each call in the command that reproduces a finding; None: not in it
    progress : is called every few seconds with the number of groups tried; None: `say` is
    known : findings; the lines name those of the same assignor and promise

    Raises
    ------
    BadInput
        If no assignor or promise has the name, the assignor cannot be called here, or a promise
        does not apply to it.
    """
    who = assignor if isinstance(assignor, Assignor) else the_one_matching(assignor)
    assignor = who.name
    asked = [promise_named(name) for name in promises or PROMISES]
    for promise in asked if promises else ():
        if not promise.asked_of(assignor):
            of = ", ".join(promise.of)
            raise BadInput(f"promise: {promise.name} is one of {of}, not of {assignor}")
    could = [promise for promise in asked if promise.asked_of(assignor)]
    asked = could if promises else [p for p in could if is_promised(p.name, assignor)]
    in_full = HUNT_SECONDS if seconds is None else seconds
    started, broken, cut_short = monotonic(), 0, 0
    for number, promise in enumerate(asked):
        left = max(started + in_full - monotonic(), 0)
        share = in_full if len(asked) == 1 else left / (len(asked) - number)
        run = (
            in_process(assignor)
            if who.kind == "written"
            else runner_of(who if who.kind == "probed" else assignor, limit)
        )
        hunted = hunt(run, promise, seed=seed, groups=groups, seconds=share, say=progress or say)
        cut_short += not hunted.in_time
        broken += hunted.quarry is not None
        say(how_it_went(assignor, promise.name, hunted, groups, known))
        if hunted.quarry is not None:
            found = Found.today(how_found(hunted, groups, seed))
            finding = Finding.of(
                assignor, promise.name, hunted.quarry.group, hunted.quarry.measured, found
            )
            named = f"{quote(assignor.rpartition('/')[2])} --probe" if run.is_guest else assignor
            command = (
                f"assay hunt {named} --promise {promise.name} --seed {seed} --groups {groups}"
            )
            if seconds is not None or not hunted.in_time:
                command += f" --seconds {max(round(share, 3), LEAST_SECONDS):.15g}"
            if call_seconds is not None:
                command += f" --time-limit {call_seconds:.15g}"
            finding = finding.recorded(run, command)
            if finding.record is not None and finding.record.again is not None:
                say(not_reproduced(finding, finding.record.again))
            yield finding
    omitted = [promise.name for promise in could if promise not in asked]
    if omitted:
        say(
            f"not hunted: {', '.join(omitted)}, which {assignor} does not promise; name one to "
            "hunt it"
        )
    if len(asked) > 1 or cut_short:
        took = f"{monotonic() - started:.0f} s (limit {in_full:g} s)"
        said = f"{counted(len(asked), 'promise')} hunted in {took}, {broken} broken"
        more = "more seconds may find more, or smaller groups"
        say(f"{said}; {cut_short} not to the end: {more}" if cut_short else said)
