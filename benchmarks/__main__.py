"""Prints a table of measurements: ``python -m benchmarks TABLE ...``, as the Makefile does."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import clients, exact, fleet, fleet_spark, jar, lag, rebalances

if TYPE_CHECKING:
    from collections.abc import Callable


class Table(NamedTuple):
    """A table of measurements.

    Attributes
    ----------
    prints : what the table shows, in a line
    run : measures and prints it; takes the options
    options : the defaults of its options: a number, or a text in the names of rows to print
    """

    prints: str
    run: Callable[..., None]
    options: dict[str, Any] = {}  # noqa: RUF012


ROWS: dict[str, Any] = {"only": ""}
TABLES = {
    "exact": Table("the exact solver alone, and other ways to the same optimum", exact.exact),
    "fleet": Table("each step from snapshots to solutions, in one process", fleet.fleet),
    "spark": Table(
        "runs on Spark and without, on Linux", fleet_spark.spark, {"groups": fleet_spark.GROUPS}
    ),
    "uniform": Table("the broker's uniform on the maintainers' grid", clients.uniform),
    "cooperative": Table("cooperative-sticky where subscriptions differ", clients.cooperative),
    "balancers": Table("franz-go's balancers", clients.balancers),
    "kip-615": Table("cooperative-sticky at the size of KIP-615, by release", clients.kip_615),
    "hosts": Table("the optimum with hosts", exact.hosts, {"seed": 1}),
    "jar": Table("the assignors of java/ beside Kafka's, in one JVM", jar.jar, {"runs": jar.RUNS}),
    "peaks": Table("what is proved of lag, a quarter of an hour", lag.peaks, {"seeds": 3, **ROWS}),
    "budgets": Table("the same within budgets", lag.budgets, {"seeds": 3, **ROWS}),
    "makespan": Table(
        "peak lag on the classes of P||Cmax, up to an hour",
        lag.makespan, {"instances": 3, **ROWS},
    ),
    "rebalances": Table(
        "real consumers on a real broker", rebalances.rebalances, {"runs": rebalances.RUNS}
    ),
}  # fmt: skip


def main() -> None:
    """Print the tables that are asked for."""
    parser = ArgumentParser(prog="python -m benchmarks", description="time and print a table")
    parsers = parser.add_subparsers(dest="name", required=True, metavar="TABLE")
    for name, table in TABLES.items():
        one = parsers.add_parser(name, help=table.prints, description=table.prints)
        for option, default in table.options.items():
            one.add_argument(f"--{option}", type=type(default), default=default)
    asked = vars(parser.parse_args())
    TABLES[asked.pop("name")].run(**asked)


if __name__ == "__main__":
    main()
