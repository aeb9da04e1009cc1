"""Hunt: the smallest group on which an assignor breaks a promise."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice
from time import monotonic
from typing import TYPE_CHECKING

from compare.promises.findings import Finding
from compare.promises.promise import BATCH, PROMISES, Promise, promise_named
from compare.promises.shrink import Quarry, shrink
from compare.promises.trial import in_process, runner_of
from compare.samples.drawn import drawn
from compare.samples.enumerated import equal, fresh, owned
from groups import BadInput
from heuristics import assignor_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from compare.promises.trial import Runner
    from groups import Group
    from heuristics.time_limit import TimeLimit

MOST_SHRUNK = 12


@dataclass(frozen=True)
class Hunt:
    """What a hunt came to.

    Attributes
    ----------
    quarry : the smallest group found on which the promise breaks; without any one of its members,
        topics, partitions, claims or subscriptions it would hold. None where no group was found
    tried : groups that were tried
    tested : of those, how many put the promise to the test
    broken : of those, how many break it
    in_time : whether the hunt came to its end before the time was up
    """

    quarry: Quarry | None
    tried: int
    tested: int
    broken: int
    in_time: bool


def hunt(
    assignor: str | Runner,
    promise: str | Promise,
    *,
    seed: int = 1,
    groups: int = 2000,
    seconds: float | None = None,
    exhaustive: bool = True,
) -> Hunt:
    """Look for a group on which an assignor breaks a promise, and shrink what is found.

    First all groups of up to 2 topics x 3 members x 4 partitions are tried, and with equal
    subscriptions all of up to 4 members x 9 partitions. If the promise holds on all of them,
    groups are drawn by :func:`compare.samples.drawn.drawn`. The smallest groups on which the
    promise breaks are shrunk, and the smallest result is kept. The same seed gives the same
    answer, unless the time is up before.

    Parameters
    ----------
    assignor : the name of one as written, or what runs another, under a time limit if it may hang
    promise : its name, or the promise itself
    groups : how many to draw
    seconds : the trying stops after that, and so does the shrinking; None: no limit
    exhaustive : whether to try all small groups first

    Raises
    ------
    BadInput
        Where no assignor as written, or no promise, has the name.

    Examples
    --------
    >>> from assay import hunt
    >>> found = hunt("range", "balanced")
    >>> found.quarry.group.partitions.tolist(), found.quarry.measured
    ([1, 1], {'loads': [2, 0]})
    """
    run = in_process(assignor) if isinstance(assignor, str) else assignor
    promise = promise_named(promise) if isinstance(promise, str) else promise
    until = None if seconds is None else monotonic() + seconds
    tried = tested = 0
    broken: list[Quarry] = []
    in_time = True
    first = _every_small_group() if exhaustive else iter(())
    for stream in (first, islice(drawn(seed), groups)):
        while in_time and (batch := list(islice(stream, BATCH))):
            for group, judgement in promise.judge_each(run, batch, until=until):
                tried += 1
                tested += judgement.holds is not None
                if judgement.holds is False:
                    broken.append(Quarry(group, judgement.measured))
            in_time = until is None or monotonic() < until
        if broken:
            break
    broken.sort(key=lambda found: (found.size, found.text))
    until = None if seconds is None else monotonic() + seconds
    best: Quarry | None = None
    for found in broken[:MOST_SHRUNK]:
        least = shrink(found, promise, run, until=until)
        best = least if best is None or least.is_smaller_than(best) else best
    return Hunt(best, tried, tested, len(broken), in_time)


def _every_small_group() -> Iterator[Group]:
    each = chain(fresh(2, 3, 4), owned(2, 3, 4), equal(4, 9))
    return (small.group() for small in each)


def hunt_findings(
    assignor: str,
    promises: Sequence[str] | None,
    limit: TimeLimit,
    *,
    seed: int,
    groups: int,
    seconds: float,
    say: Callable[[str], object],
) -> Iterator[Finding]:
    """Hunt for each promise and return a finding for each that breaks.

    Parameters
    ----------
    promises : which to hunt, all that can be asked of the assignor where None
    seed, groups, seconds : as in :func:`hunt`, for each promise
    say : takes one line for people on how each hunt went

    Raises
    ------
    BadInput
        Where no assignor or promise has the name, or a promise cannot be asked of the assignor.
    """
    assignor = assignor_named(assignor).name
    asked = [promise_named(name) for name in promises or PROMISES]
    for promise in asked:
        if not promise.asked_of(assignor):
            if promises:
                of = ", ".join(promise.of)
                raise BadInput(f"promise: {promise.name} is one of {of}, not of {assignor}")
            continue
        run = runner_of(assignor, limit)
        came = hunt(run, promise, seed=seed, groups=groups, seconds=seconds)
        tested = f"{came.tested} of {came.tried} groups put it to the test"
        tested += "" if came.in_time else ", then the time was up"
        if came.quarry is None:
            say(f"{assignor} keeps {promise.name}: {tested}")
            continue
        say(f"{assignor} breaks {promise.name} on {came.broken}: {tested}")
        yield Finding.of(assignor, promise.name, came.quarry.group, came.quarry.measured)
