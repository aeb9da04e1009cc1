"""Watch: groups of a running cluster, captured at an interval."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.commands import cluster
from assay.commands.options import DEFAULT_SECONDS, Objective, TimeLimitOption
from assay.signals import ending_on_signals
from assay.streams import note, show
from compare.diff import Diff
from compare.judged import Judged, judge
from compare.lag.behind import of_unknown_lag
from compare.lag.peaks import lowest_peaks
from compare.overview import Glance, glance_of
from compare.sentences import not_valid, on_the_way_sentence
from compare.verdict import NOT_VALID, SHOWN
from groups.assignment_files import NamedAssignment
from groups.errors import BadInput
from groups.extras import require
from groups.tiers import Objective as Tiers
from groups.tiers import parse_objective
from groups.unknown import settled
from groups.wording import ON_THE_WAY, SECONDS_IN, counted, few, first_lines, rounded, whole_number
from live.watch import Look, Series, looks

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from assay.metrics import Metrics
    from groups.group import Group

_DAY = 86_400
MOST_GROUPS = 3
MOST_MEMBERS = 2


def watch(
    bootstrap_server: cluster.BootstrapServer,
    *,
    out: Annotated[
        str | None, typer.Option("-o", "--out", metavar="DIR", help="folder of the captures")
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="serve Prometheus metrics there, as in :9400 on every interface",
        ),
    ] = None,
    group: cluster.Patterns = None,
    every: Annotated[
        str, typer.Option(metavar="TIME", help="time between captures, as in 30s, 5m or 1h")
    ] = "30s",
    times: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="end after so many captures")
    ] = None,
    for_: Annotated[
        str | None, typer.Option("--for", metavar="TIME", help="end after this time, as in 8h")
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="keep the newest N captures; left out: all"),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="print no line for a capture in which nothing changed")
    ] = False,
    objective: Objective = "kip-54",
    time_limit: TimeLimitOption = DEFAULT_SECONDS,
    options: cluster.ConnectionOptions,
) -> None:
    """Capture groups of a running cluster at an interval, and say what changed.

    Each capture is a file in the folder, which assay run and assay report read, or metrics for
    Prometheus, or both. A cluster that is away is asked again. --times, --for or Ctrl-C ends it.
    """
    if out is None and metrics is None:
        raise BadInput("Missing option '-o', or --metrics")
    interval = _seconds("--every", every)
    seconds = None if for_ is None else _seconds("--for", for_)
    tiers = parse_objective(objective)
    connection = cluster.connection_to(bootstrap_server, options)
    series = _series(out, keep)
    kept = "" if series is None else ": what was captured is kept"
    with ending_on_signals(f"interrupted{kept}"), _served(metrics) as page:
        watched = Watched(tiers, time_limit, page, quiet=quiet)
        away, captured = False, 0
        for look in looks(
            connection, group or ["*"], every=interval, times=times, seconds=seconds
        ):
            if look.away is not None:
                if not away:
                    note(f"{look.at} {look.away}; asked again every {every}")
                away = True
                watched.missed_all()
                continue
            if away:
                note(f"{look.at} {connection.bootstrap} answers again")
                away = False
            # Written first, because judging may take long and be interrupted.
            if look.found.documents:
                captured += 1
                if series is not None:
                    size = series.add(look.at, look.found.documents)
                    if captured == 1:
                        note(_disk_use(size, interval, series))
            watched.take_in(look)
    if not captured:
        raise BadInput(f"{connection.bootstrap}: no group could be captured")
    if series is not None:
        # Spark refuses streams groups.
        streams = any(one.group.of_streams for one in watched.known.values())
        then = ["report", str(out)] if streams else ["run", str(out), "--out", "tables"]
        note(f"{counted(captured, 'capture')} in {out}; next: {shlex.join(['assay', *then])}")


def _series(out: str | None, keep: int | None) -> Series | None:
    """Return the series of captures in a folder, which is created; None if no folder is given."""
    if out is None and keep is not None:
        raise BadInput("--keep: it is about the folder of captures; add -o DIR")
    if out is None:
        return None
    series = Series(Path(out), keep)
    series.prepare()
    return series


@contextmanager
def _served(address: str | None) -> Iterator[Metrics | None]:
    """Serve metrics at an address, if one is given."""
    if address is None:
        yield None
        return
    require("prometheus_client", extra="clients")
    from assay.metrics import Metrics, serving

    page = Metrics()
    with serving(address, page) as url:
        note(f"metrics at {url}")
        yield page


@dataclass
class Watched:
    """The groups of a watch as last judged, for the terminal and for Prometheus.

    Attributes
    ----------
    page : the metrics; None if none are served
    known : groups as last judged, by name
    missed : names of groups that the last look could not capture or judge
    """

    tiers: Tiers
    time_limit: float
    page: Metrics | None
    quiet: bool
    known: dict[str, Judged] = field(default_factory=dict)
    missed: set[str] = field(default_factory=set)

    def missed_all(self) -> None:
        """Handle a look at a cluster that did not answer."""
        if self.page is not None:
            self.page.missed(self.known)

    def take_in(self, look: Look) -> None:
        """Judge the groups of a look, and print what changed."""
        failing = {one.group or one.reason: one for one in look.found.failures}
        for name in sorted(failing.keys() - self.missed):
            note(f"{look.at} {failing[name]}")
        started = time.perf_counter()
        groups = [settled(one.group()) for one in look.found.documents]
        judged, unjudged = _judged(groups, self.tiers, self.time_limit)
        rows = [] if self.page is None else _rows(judged, self.tiers)
        seconds = time.perf_counter() - started
        for name in sorted(unjudged.keys() - self.missed):
            note(f"{look.at} {unjudged[name]}")
        # A group that is not listed may be at a broker that does not answer.
        unlisted = self.known if look.found.is_partial else ()
        failed = {*failing, *unlisted} - {one.name for one in groups}
        news = news_line(self.known, judged, failed, unjudged, self.missed)
        self.missed = {*failed, *unjudged}
        self.known = {name: one for name, one in self.known.items() if name in self.missed}
        self.known |= {one.group.name: one for one in judged}
        if self.page is not None:
            self.page.found(look, self.known, rows, unjudged, seconds)
        if not self.quiet or news != no_change(judged):
            show(f"{look.at} {news}")


def _rows(judged: Sequence[Judged], tiers: Tiers) -> list[tuple[Judged, Glance]]:
    """Return judged groups, each with its line of the table of `assay score`."""
    peaks = lowest_peaks(judged, tiers)
    return [(one, glance_of(one, peak)) for one, peak in zip(judged, peaks, strict=True)]


def _judged(
    groups: Sequence[Group], tiers: Tiers, time_limit: float
) -> tuple[list[Judged], dict[str, BadInput]]:
    """Judge groups; the second value says, by name, why a group lacks what a tier needs."""
    try:
        return judge(groups, tiers, time_limit=time_limit), {}
    except BadInput:
        pass
    judged: list[Judged] = []
    unjudged: dict[str, BadInput] = {}
    for group in groups:
        try:
            judged += judge([group], tiers, time_limit=time_limit)
        except BadInput as error:
            unjudged[group.name] = error
    return judged, unjudged


def _seconds(option: str, text: str) -> int:
    seconds = whole_number(text, SECONDS_IN) or 0
    if not 0 < seconds < 1 << 31:
        raise BadInput(f"{option} {text}: expected a time as in 30s, 5m or 1h")
    return seconds


def _disk_use(size: int, interval: int, series: Series) -> str:
    """Return the disk use of one capture, and of all that are kept or of a day."""
    each = f"a capture takes {_bytes(size)} in {series.folder}"
    if series.keep is not None:
        return f"{each}: at most {_bytes(size * series.keep)} with --keep {series.keep:,}"
    return f"{each}: about {_bytes(size * _DAY // interval)} a day; --keep N bounds that"


def _bytes(number: int) -> str:
    return f"{rounded(number)}B" if number >= 10_000 else counted(number, "byte")


def news_line(
    before: Mapping[str, Judged],
    now: Sequence[Judged],
    failing: Collection[str] = (),
    unjudged: Collection[str] = (),
    missed: Collection[str] = (),
) -> str:
    """Return what changed in which groups; for the first capture, the number of each verdict.

    Parameters
    ----------
    before : groups as last judged, by name
    failing : names of groups that could not be captured now
    unjudged : names of groups that could not be judged now
    missed : names of groups that could not be captured or judged the last time
    """
    if not before:
        found = Counter(one.shown for one in now)
        counts = ", ".join(f"{found[shown]:,} {shown}" for shown in SHOWN if found[shown])
        if not now:
            lost = {*unjudged} - {*missed}
            return _lost("judged", lost) if lost else no_change(now)
        return f"{counted(len(now), 'group')}: {counts}{_on_the_way(now)}"
    news = [line for one in now if (line := _news(before.get(one.group.name), one))]
    gone = before.keys() - {one.group.name for one in now} - {*failing, *unjudged}
    news += [f"{name}: gone" for name in sorted(gone)]
    shown = first_lines(news, MOST_GROUPS, " changed")
    for what, names in (("captured", failing), ("judged", unjudged)):
        if lost := before.keys() & {*names} - {*missed}:
            shown.append(_lost(what, lost))
    return "; ".join(shown) or no_change(now)


def no_change(now: Sequence[Judged]) -> str:
    """Return the line of a capture in which no group changed."""
    said = f"no change in {counted(len(now), 'group')}"
    return f"{said}{_on_the_way(now)}" if now else "no group to judge"


def _on_the_way(now: Sequence[Judged]) -> str:
    """Return the end of a line that names the groups whose rebalance is under way, if any."""
    those = [one.group.name for one in now if on_the_way_sentence(one.group)]
    return f"; {ON_THE_WAY}: {few(those)}" if those else ""


def _lost(what: str, names: Collection[str]) -> str:
    return f"not {what}: {few(sorted(names))}"


def _news(before: Judged | None, now: Judged) -> str | None:
    name, said = now.group.name, _verdict(now)
    if before is None:
        return f"{name}: new, {counted(len(now.group.members), 'member')}, {said}"
    diff = Diff(*(NamedAssignment.from_group(one.group, "") for one in (before, now)))
    changes = [
        f"{_members(names, group)} {what}"
        for names, group, what in (
            (diff.joined, now.group, "joined"),
            (diff.left, before.group, "left"),
        )
        if names
    ]
    if diff.moved:
        verb = "moving" if on_the_way_sentence(now.group) else "moved"
        changes.append(f"{counted(diff.moved, 'partition')} {verb}")
    # Of a group without members, a capture has only the topics with commits.
    both = before.group.members and now.group.members
    for numbers, what in ((diff.appeared, "new"), (diff.vanished, "gone")):
        if numbers and both:
            count = sum(map(len, numbers.values()))
            changes.append(f"{counted(count, 'partition')} {what} ({few([*numbers])})")
    if _what_is_told(now) != _what_is_told(before):
        changes.append(f"{said} (before: {_verdict(before)})")
    return f"{name}: {', '.join(changes)}" if changes else None


def _what_is_told(judged: Judged) -> str | tuple[object, ...]:
    """Return the verdict; of one that is not valid why, but not how many records wait."""
    return judged.now.violations if judged.verdict.says == NOT_VALID else _verdict(judged)


def _verdict(judged: Judged) -> str:
    if judged.verdict.says == NOT_VALID:
        return f"not valid, {not_valid(judged.now)}"
    moves = judged.to_move if judged.verdict.is_improvable else None
    said = judged.shown if moves is None else f"{judged.shown} by moving {moves:,}"
    if unknown := of_unknown_lag(judged.group):
        said += f", lag of {counted(unknown, judged.group.nouns.partition)} unknown"
    return f"{said}, {ON_THE_WAY}" if on_the_way_sentence(judged.group) else said


def _members(names: Sequence[str], group: Group) -> str:
    """Return members by client id where they have one; many are only counted."""
    clients = NamedAssignment.from_group(group, "").client_ids
    called = [clients.get(name, name) for name in names]
    if len(called) > MOST_MEMBERS:
        return counted(len(called), "member")
    return " and ".join(called)
