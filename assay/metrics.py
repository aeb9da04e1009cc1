"""Metrics: Prometheus metrics of ``assay watch``, made from the rows that tables show."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.registry import Collector

from compare.lag.behind import total_lag, waiting_in, without_reader
from compare.sentences import on_the_way_sentence
from compare.verdict import SHOWN
from groups.errors import BadInput, Failure
from groups.importers.seen import rebalancing
from groups.tiers import values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from compare.judged import Judged
    from compare.overview import Glance
    from groups.group import Group
    from live.watch import Look

EVERY_INTERFACE = "0.0.0.0"
_ADDRESS = re.compile(r"(?:\[(?P<v6>[0-9a-fA-F:.]+)\]|(?P<host>[^:\s]*)):(?P<port>[0-9]{1,5})")


@dataclass(frozen=True)
class Gauge:
    """A gauge with a value for each group.

    Attributes
    ----------
    says : its help text
    value : its value for a group; None: the group has no series
    """

    name: str
    says: str
    value: Callable[[Judged, Glance], int | None]


def _balance(judged: Judged) -> int | None:
    comparable = judged.best is not None and judged.now.is_valid
    return values(judged.now, ("balance",))[0] if comparable else None


def _best(judged: Judged) -> tuple[int | None, int | None]:
    """Return the balance of the best assignment, and whether it is proved."""
    terms = () if judged.reference is None else judged.reference.terms
    found = ((one.value, int(one.value == one.bound)) for one in terms if one.name == "balance")
    return next(found, (None, None))


def _unread(group: Group) -> int | None:
    """Return how many records wait where nobody reads; None if that is not known."""
    if not group.members:
        return waiting_in(group)[0]
    found = without_reader(group)
    return 0 if found is None else found.records


GAUGES = (
    Gauge("assay_group_members", "Members of the group.", lambda _, row: row.members),
    Gauge(
        "assay_group_idle_members",
        "Members that hold no partition, also those for whom there is none.",
        lambda judged, _: len(judged.now.idle),
    ),
    Gauge(
        "assay_group_partitions",
        "Partitions of topics that members read, or without members, of topics with commits.",
        lambda _, row: row.partitions,
    ),
    Gauge(
        "assay_group_partitions_without_owner",
        "Partitions that no member holds, of topics that a member reads.",
        lambda judged, _: sum(one.kind == "unassigned" for one in judged.now.violations),
    ),
    Gauge(
        "assay_group_rebalancing",
        "1 if partitions have still to be handed over to the broker's target (KIP-848), else 0.",
        lambda judged, _: int(bool(on_the_way_sentence(judged.group))),
    ),
    Gauge(
        "assay_group_balance",
        "Sum over all pairs of members of the difference of their partitions (KIP-54); 0 is even.",
        lambda judged, _: _balance(judged),
    ),
    Gauge(
        "assay_group_balance_best",
        "The same sum of the best assignment.",
        lambda judged, _: _best(judged)[0],
    ),
    Gauge(
        "assay_group_balance_best_proved",
        "1 if it is proved that no assignment has a smaller sum, else 0.",
        lambda judged, _: _best(judged)[1],
    ),
    Gauge(
        "assay_group_moves",
        "Partitions that move to the assignment that is advised; 0 if nothing is to be done.",
        lambda _, row: row.advised_moves,
    ),
    Gauge(
        "assay_group_lag_records",
        "Lag of all partitions that members read, together.",
        lambda judged, _: total_lag(judged.now),
    ),
    Gauge(
        "assay_group_unread_records",
        "Records after the commits of partitions that no member reads, as far as known.",
        lambda judged, _: _unread(judged.group),
    ),
    Gauge(
        "assay_group_peak_lag_records",
        "Lag of the member with most.",
        lambda _, row: row.peak,
    ),
    Gauge(
        "assay_group_peak_lag_after_moves_records",
        "Lag of the member with most after the moves that are advised.",
        lambda _, row: row.then,
    ),
    Gauge(
        "assay_group_peak_lag_least_records",
        "Least lag of the member with most that balanced loads can have, as far as known.",
        lambda _, row: row.lowest,
    ),
    Gauge(
        "assay_group_peak_lag_least_proved",
        "1 if it is proved that balanced loads cannot have less, else 0.",
        lambda _, row: None if row.lowest is None else int(row.lowest_proved),
    ),
)


class Metrics(Collector):
    """The metrics after the last capture of the cluster.

    A group that is gone has no series. A group that could not be captured or judged, as all groups
    while the cluster is away, has only the time of its last capture and its failures.
    """

    def __init__(self) -> None:
        self._looks = self._away = self._judgements = 0
        self._seconds = 0.0
        self._at: str | None = None
        self._failures: Counter[tuple[str, str]] = Counter()
        self._show({}, ())

    def collect(self) -> Iterator[Metric]:
        """Yield every metric; a metric without a known value has no series."""
        return iter(self._shown)

    # The registry needs the names for a scrape that asks for single metrics.
    describe = collect

    def missed(self, known: Mapping[str, Judged]) -> None:
        """Count a capture in which the cluster could not be asked.

        Parameters
        ----------
        known : each group as last judged, by name
        """
        self._looks += 1
        self._away += 1
        self._show(known, ())

    def found(
        self,
        look: Look,
        known: Mapping[str, Judged],
        rows: Sequence[tuple[Judged, Glance]],
        unjudged: Iterable[str],
        seconds: float,
    ) -> None:
        """Set the metrics to the result of a capture.

        Parameters
        ----------
        known : each group as last judged, by name
        rows : the groups judged now, each with its line of the table
        unjudged : names of captured groups that lack what the objective needs
        seconds : time that judging took
        """
        self._looks += 1
        self._judgements += 1
        self._seconds += seconds
        self._at = look.at
        now = [(one.group or "", _reason(one, look)) for one in look.found.failures]
        now += [(name, "judgement") for name in unjudged]
        self._failures.update(now)
        there = {"", *known, *(name for name, _ in now)}
        self._failures = Counter({at: n for at, n in self._failures.items() if at[0] in there})
        self._show(known, rows)

    def _show(self, known: Mapping[str, Judged], rows: Sequence[tuple[Judged, Glance]]) -> None:
        gauges = [GaugeMetricFamily(one.name, one.says, labels=["group"]) for one in GAUGES]
        verdict = GaugeMetricFamily(
            "assay_group_verdict",
            "1 for the verdict on the group, 0 for every other.",
            labels=["group", "verdict"],
        )
        for judged, row in rows:
            for gauge, family in zip(GAUGES, gauges, strict=True):
                if (value := gauge.value(judged, row)) is not None:
                    family.add_metric([row.name], value)
            for says in SHOWN:
                verdict.add_metric([row.name, says], says == judged.verdict.shown(judged.fall))
        captured = GaugeMetricFamily(
            "assay_group_captured_timestamp_seconds",
            "Time of the last capture in which the group was judged.",
            labels=["group"],
        )
        for name, judged in known.items():
            if judged.group.captured_at is not None:
                captured.add_metric([name], _seconds(judged.group.captured_at))
        failures = CounterMetricFamily(
            "assay_group_failures",
            "Captures in which the group was not judged, by reason.",
            labels=["group", "reason"],
        )
        for labels, count in self._failures.items():
            failures.add_metric(labels, count)
        self._shown = (
            *gauges,
            verdict,
            captured,
            failures,
            CounterMetricFamily("assay_captures", "Captures of the cluster.", self._looks),
            CounterMetricFamily(
                "assay_capture_failures",
                "Captures in which the cluster could not be asked.",
                self._away,
            ),
            GaugeMetricFamily(
                "assay_last_capture_timestamp_seconds",
                "Time of the last capture in which the cluster answered.",
                None if self._at is None else _seconds(self._at),
            ),
            SummaryMetricFamily(
                "assay_judgement_seconds",
                "How long it takes to judge all groups of a capture.",
                self._judgements,
                self._seconds,
            ),
        )


def _reason(failure: Failure, look: Look) -> str:
    if failure.group is None:
        # If every broker listed its groups, there is no group that matches.
        return "error" if look.found.is_partial else "state"
    if failure.reason == rebalancing(failure.group):
        return "rebalancing"
    return "state" if failure.not_to_be_had else "error"


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


@contextmanager
def serving(address: str, metrics: Metrics) -> Iterator[str]:
    """Serve metrics over HTTP in background threads; yields their URL.

    Parameters
    ----------
    address : ``HOST:PORT``, or ``:PORT`` for every interface; port 0: a free one

    Raises
    ------
    BadInput
        If the address is malformed, or cannot be listened on.
    """
    found = _ADDRESS.fullmatch(address)
    if found is None or int(found["port"]) >= 1 << 16:
        raise BadInput(f"metrics {address}: expected HOST:PORT or :PORT, as in :9400")
    host = found["v6"] or found["host"] or EVERY_INTERFACE
    registry = CollectorRegistry()
    registry.register(metrics)
    try:
        server, _ = start_http_server(int(found["port"]), host, registry)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", error)
        raise BadInput(f"metrics {address}: nothing can listen there: {why}") from None
    try:
        shown = f"[{host}]" if found["v6"] else host
        yield f"http://{shown}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()
