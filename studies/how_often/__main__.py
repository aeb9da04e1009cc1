"""``python -m studies.how_often``: play services, and make the records and the page anew."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from heuristics import matching
from heuristics.time_limit import TimeLimit
from studies.how_often.rate import (
    SEED,
    SHARES,
    append,
    file_of,
    page_of,
    parts_of,
    played,
    rows_of,
    services_in,
)
from studies.how_often.service import KINDS, service
from studies.how_often.week import SECONDS, SECONDS_AGAIN, weeks
from studies.page import as_read, write
from studies.shipped_findings import called_here

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from studies.how_often.rate import Played
    from studies.how_often.service import Kind

STUDIED = (
    "kafka-java/sticky@4.4.0", "kafka-java/cooperative-sticky@4.4.0",
    "kafka-java/sticky@3.9.2", "kafka-java/cooperative-sticky@3.9.2",
    "kafka-java/sticky@2.8.2", "kafka-java/cooperative-sticky@2.8.2",
    "kafka-broker/uniform@4.4.0", "kafka-java/range@4.4.0", "kafka-java/roundrobin@4.4.0",
    "kafka-python/sticky", "kafka-python/cooperative-sticky", "aiokafka/sticky",
    "librdkafka/cooperative-sticky", "sarama/sticky", "franz-go/sticky",
    "franz-go/cooperative-sticky", "kafkajs/RoundRobinAssigner", "sticky-that-ends",
)  # fmt: skip
TOGETHER = 100
SERVICES = 200
COUNTS = Path("out/how-often/seed-1")


def play(
    assignors: Sequence[str], services: int, folder: Path, *, only: Kind | None = None
) -> None:
    """Play services with each assignor, a hundred in turn, from where the files end.

    Parameters
    ----------
    folder : of the files, one for each assignor
    only : the kind of all services; None: they are mixed
    """
    started = perf_counter()
    with TimeLimit(SECONDS) as limit, TimeLimit(SECONDS_AGAIN) as patient:
        for first in range(0, services, TOGETHER):
            numbers = range(first, min(first + TOGETHER, services))
            for assignor in assignors:
                path = file_of(folder, assignor, only)
                path.parent.mkdir(parents=True, exist_ok=True)
                left = numbers[max(services_in(path) - first, 0) :]
                if not left:
                    continue
                drawn = [service(SEED, number, only) for number in left]
                append(path, weeks(drawn, assignor, limit, patient))
                seconds = perf_counter() - started
                sys.stderr.write(f"{assignor}: {left[-1] + 1} services, {seconds:.0f} s\n")


def weighable(
    found: Mapping[str, Mapping[str, Played]], shares: Mapping[str, float]
) -> dict[str, Mapping[str, Played]]:
    """Return whose services are of every kind that has a share; name the others on standard error.

    Parameters
    ----------
    found : what was played, by assignor and kind of service
    shares : of all services, by kind
    """
    kept = {}
    for assignor, kinds in found.items():
        lacks = [k for k, share in shares.items() if share > 0 and not len(kinds[k].rebalances)]
        if lacks:
            sys.stderr.write(f"{assignor}: left out, no services played: {', '.join(lacks)}\n")
        else:
            kept[assignor] = kinds
    return kept


def main() -> None:
    """Play what is asked for, then show what all files have."""
    parser = ArgumentParser(description="count what goes wrong on typical services")
    parser.add_argument("--out", type=Path, help="folder for the records, else print the tables")
    parser.add_argument("--services", type=int, default=SERVICES, help="0: only the tables")
    parser.add_argument("--only", choices=KINDS, help="play services of one kind")
    parser.add_argument("--assignor", action="append")
    for kind, share in SHARES.items():
        parser.add_argument(f"--{kind}", type=float, default=share, help="share of services")
    asked = parser.parse_args()
    names = matching(asked.assignor or STUDIED)
    if asked.services:
        play(called_here(names), asked.services, COUNTS, only=asked.only)
    shares = {kind: getattr(asked, kind.replace("-", "_")) for kind in SHARES}
    found = weighable(played(COUNTS), shares)
    if not found:
        parser.exit(2, f"{COUNTS}: no assignor has played services of all kinds with a share\n")
    rows, parts = rows_of(found, shares), parts_of(found, shares)
    if asked.out is None:
        sys.stdout.write(f"{page_of(as_read(rows), as_read(parts))}\n")
        return
    write(asked.out / "how-often.csv", rows)
    write(asked.out / "how-often-parts.csv", parts)


if __name__ == "__main__":
    main()
