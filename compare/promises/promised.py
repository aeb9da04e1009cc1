"""Promised: which promises an assignor makes, as far as that is known."""

from __future__ import annotations

from compare.promises.promise import PROMISES, promise_named

_OF_BALANCE = frozenset({"balanced", "optimal-balance", "optimal-moves"})
_DEALS_OUT = frozenset({"range", "roundrobin", "RoundRobinAssigner", "kip-169-lag"})


def is_promised(promise: str, assignor: str) -> bool:
    """Return whether an assignor makes a promise; one that nobody knows counts as making it.

    Those that deal out topic by topic or in turn, `range`, `roundrobin` (KafkaJS's is
    `RoundRobinAssigner`) and `kip-169-lag`, promise neither balance over all topics nor few moves.

    Parameters
    ----------
    assignor : as written, with client and version as shipped, or a function of the user's

    Raises
    ------
    BadInput
        Where no promise has the name.
    """
    kind = assignor.partition("@")[0].rpartition("/")[2]
    deals_out = kind in _DEALS_OUT and promise in _OF_BALANCE
    return promise_named(promise).asked_of(assignor) and not deals_out


def promises_of(assignor: str) -> tuple[str, ...]:
    """Return the promises that an assignor makes, in the order of `PROMISES`."""
    return tuple(name for name in PROMISES if is_promised(name, assignor))
