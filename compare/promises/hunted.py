"""Hunted: what a hunt came to, and in words: what was tried, and what is known already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from compare.promises.promised import is_promised
from compare.promises.shrink import Quarry
from compare.promises.told import sizes
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.promises.findings import Finding
    from compare.promises.promise import Judgement


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
    in_time : whether all groups were tried, and all that could be was removed, before the time
        was up
    drawn : of those tried, how many were drawn; the others are small ones
    all_small : whether all small groups were tried before the time was up
    shrunk : whether all that could be was removed before the time was up
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
    assignor: str, promise: str, came: Hunt, groups: int, known: Sequence[Finding]
) -> str:
    """Return one line on a hunt: it never says that a promise is kept.

    Parameters
    ----------
    groups : how many were to be drawn
    known : findings, of which those of this assignor and promise are named
    """
    tried = f"{counted(came.tried, 'group')} tried: {_which(came, groups)}"
    if came.tested < came.tried:
        tried += f"; {came.tested:,} put the promise to the test"
    if came.quarry is not None:
        said = f"{assignor} breaks {promise} on {came.broken:,} of {tried}"
    else:
        said = f"{assignor}: {promise} not broken on {tried}"
    unpromised = [] if is_promised(promise, assignor) else [f"{assignor} does not promise it"]
    return "; ".join([said, *unpromised, *_known(assignor, promise, came.quarry, known)])


def how_found(came: Hunt, groups: int, seed: int) -> str:
    """Return how a hunt found its group, for the finding: what was tried, and what then."""
    tried = f"{counted(came.tried, 'group')} tried: {_which(came, groups)}"
    of_seed = f"; the drawn ones are of seed {seed}" if came.drawn else ""
    until = "" if came.shrunk else " until the time was up"
    return (
        f"{tried}{of_seed}; the smallest that break the promise were shrunk{until}, and the "
        "smallest result kept"
    )


def not_again(finding: Finding, again: Judgement) -> str:
    """Return one line on a group that, called again, did not break the promise as before."""
    said = (f"{key} {value}" for key, value in again.measured.items() if value is not None)
    measured = ", ".join(said)
    called = f"called again on the group on which {finding.assignor} breaks {finding.promise}"
    if again.holds is False:
        return f"{called}: it happened again, but measured {measured}"
    return f"{called}: it did not happen again{f', {measured}' if measured else ''}"


def left_out(assignor: str, promises: Sequence[str]) -> str:
    """Return one line on the promises that were not hunted, as the assignor does not make them."""
    return (
        f"not hunted: {', '.join(promises)}, which {assignor} does not promise; "
        "name one to hunt it"
    )


def in_all(hunted: int, seconds: float, broken: int, cut_short: int) -> str:
    """Return one line on all hunts of a command."""
    said = f"{counted(hunted, 'promise')} hunted in {seconds:.0f} s, {broken} broken"
    if not cut_short:
        return said
    return f"{said}; the time was too short for {cut_short}, give it more seconds"


def _which(came: Hunt, groups: int) -> str:
    """Return which kinds of groups were tried, and whether the drawn ones were reached."""
    small = came.tried - came.drawn
    if not came.all_small:
        return f"{small:,} small, not all of them, and none drawn, as the time was up"
    said = f"all {small:,} small"
    if came.drawn:
        said += f" and {came.drawn:,}{'' if came.drawn == groups else f' of {groups:,}'} drawn"
    elif came.quarry is not None:
        return f"{said}, and none drawn, as small ones break it"
    else:
        said += " and none drawn"
    return said if came.drawn == groups else f"{said}, as the time was up"


def _known(
    assignor: str, promise: str, quarry: Quarry | None, known: Sequence[Finding]
) -> list[str]:
    """Return where findings tell of the same assignor and promise, its version or others."""
    name, _, version = assignor.partition("@")
    said = []
    for found in known:
        if found.promise != promise or found.assignor.partition("@")[0] != name:
            continue
        if version in found.unaffected:
            said.append(f"known of other versions: {found.id} ({', '.join(found.affected)})")
        elif found.assignor == assignor or version in found.affected:
            said.append(_known_already(found, quarry))
        else:
            said.append(f"known of {found.assignor}: {found.id}")
    return said


def _known_already(found: Finding, quarry: Quarry | None) -> str:
    """Return how a finding of the same version stands to what was hunted."""
    if quarry is None:
        return f"known to break on another group: {found.id}, {sizes(found.group)}"
    if Quarry(found.group, {}).size < quarry.size:
        return f"a smaller one is known: {found.id}, {sizes(found.group)}"
    return f"known already: {found.id}"
