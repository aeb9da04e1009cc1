"""Rebalance real consumers on a real broker, with the client's sticky assignor and with ours.

Both sides get the same members, topics and events, in turn; the table adds up all runs. Each run
has other subscriptions.
"""

from __future__ import annotations

import itertools
import random
import sys
import time
from contextlib import ExitStack, suppress
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.printed import heading, row
from broker import Broker, Consumer, ConsumerDied, NotSettled, settle
from groups import Assignment, Group, values
from optimal import solve

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Held = dict[str, list[int]]

SEED, RUNS, STILL, TIMEOUT = 16, 3, 1.0, 60.0
# After these times a killed consumer is declared dead; both clients have these settings.
CONFIG = {"session_timeout_ms": 3000, "heartbeat_interval_ms": 300}
# For each client: the kind of consumer, its own sticky assignor, and ours.
CLIENTS = {
    "kafka-python, cooperative":
        ("kafka-python", "cooperative-sticky", "live.kafka_python:OptimalAssignor"),
    "aiokafka": ("aiokafka", "sticky", "live.aiokafka:OptimalAssignor"),
    "kafka-python, eager":
        ("kafka-python", "sticky", "benchmarks.eager_assignor:EagerOptimalAssignor"),
}  # fmt: skip
TOPICS = {
    "equal": {"e0": 10, "e1": 7, "e2": 5, "e3": 3},
    "differing": {"d0": 12, "d1": 9, "d2": 4, "d3": 7, "d4": 5, "d5": 3, "d6": 2},
}
MEMBERS = 6
SIDES = ("own", "optimal")
EVENTS = ("start", "join", "leave", "kill")


class Rebalanced(NamedTuple):
    """The result of an event.

    Attributes
    ----------
    seconds : from the event until nothing changed any more
    balance, least_balance : sum of the differences of all pairs of loads, and its minimum
    moves, least_moves : partitions that went from one member to another, and the fewest with the
        best balance
    """

    seconds: float
    balance: int
    least_balance: int
    moves: int
    least_moves: int


def subscriptions(kind: str, run: int) -> dict[str, list[str]]:
    """Return what each member reads: all topics, or three of them."""
    topics, rng = sorted(TOPICS[kind]), random.Random(SEED + run)
    names = [f"c{number}" for number in range(MEMBERS)]
    if kind == "equal":
        return dict.fromkeys(names, topics)
    return {name: sorted(rng.sample(topics, 3)) for name in names}


def play(
    bootstrap: str, group: str, consumer: str, assignor: str, kind: str, run: int
) -> Iterator[Rebalanced]:
    """Yield the results of the events: members start, one joins, one leaves, one is killed."""
    reads = subscriptions(kind, run)
    alive: dict[str, Consumer] = {}
    held: Mapping[str, Held] = {}
    with ExitStack() as running:

        def start(*names: str) -> None:
            for name in names:
                one = Consumer.start(
                    consumer, bootstrap, group, reads[name],
                    client_id=name, assignor=assignor, config=CONFIG,
                )  # fmt: skip
                alive[name] = running.enter_context(one)

        *first, last = reads
        for event in EVENTS:
            began = time.monotonic()
            if event == "start":
                start(*first)
            elif event == "join":
                start(last)
            elif event == "leave":
                alive.pop(first[1]).stop()
            else:
                alive.pop(first[0]).kill()
            topics = {t: n for t, n in TOPICS[kind].items() if any(t in reads[m] for m in alive)}
            now = settle([*alive.values()], topics, STILL, TIMEOUT)
            seconds = time.monotonic() - began - STILL
            members = {m: {"subscription": reads[m], "owned": held.get(m, {})} for m in alive}
            asked = Group.from_dict(
                {"format": "assay-group/1", "group": "g", "topics": topics, "members": members}
            )
            held = dict(zip(alive, now, strict=True))
            best = solve(asked)
            balance, moves = values(Assignment.from_dict(asked, held), best.objective)
            yield Rebalanced(seconds, balance, best.terms[0].value, moves, best.terms[1].value)


def measure(bootstrap: str, runs: int) -> Iterator[tuple[tuple[str, str, str, str], Rebalanced]]:
    """Yield the result of each event, with its client, subscriptions, event and side.

    The two sides take turns. A run that does not settle ends there, and a line says why.
    """
    every = itertools.product(range(runs), CLIENTS, TOPICS, enumerate(SIDES, 1))
    for number, client, kind, (at, side) in every:
        consumer, assignor = CLIENTS[client][0], CLIENTS[client][at]
        group = f"{client}-{kind}-{side}-{number}".replace(", ", "-")
        try:
            events = play(bootstrap, group, consumer, assignor, kind, number)
            for event, one in zip(EVENTS, events, strict=True):
                yield (client, kind, event, side), one
        except (NotSettled, ConsumerDied) as error:
            sys.stderr.write(f"{group}: {error}\n")
        sys.stderr.write(f"{group} done\n")


def rebalances(runs: int) -> None:
    """Print a row for each client, group, event and side, after an interrupt of finished runs."""
    found: dict[tuple[str, str, str, str], list[Rebalanced]] = {}
    with Broker.start() as broker, suppress(KeyboardInterrupt):
        for kind in TOPICS:
            for topic, partitions in TOPICS[kind].items():
                broker.create_topic(topic, partitions)
        for key, one in measure(broker.bootstrap, runs):
            found.setdefault(key, []).append(one)
    heading(
        "client", "subscriptions", "event", "assignor", "runs", "moves", "fewest", "imbalance",
        "seconds",
    )  # fmt: skip
    for (client, kind, event, side), each in found.items():
        seconds = [one.seconds for one in each]
        row(
            client.replace(", ", " "), kind, event,
            "assay-optimal" if side == "optimal" else CLIENTS[client][1], len(each),
            sum(one.moves for one in each), sum(one.least_moves for one in each),
            f"+{sum(one.balance - one.least_balance for one in each)}",
            f"{median(seconds):.1f} ({min(seconds):.1f}-{max(seconds):.1f})",
        )  # fmt: skip
