"""Lag: the plan with the least lag on the busiest member, the group's lag, and settings."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Literal

from groups.errors import BadInput, Failed
from live.assignor.planned import optimum, reason_of, within

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from live.assignor.planned import Solver
    from live.assignor.rebalance import Plan, Rebalance
    from live.connection import Connection

    # (topic, partition number) -> records
    Lag = Mapping[tuple[str, int], int]


class Settings:
    """The settings of an assignor.

    Clients take a class and create the object, if any, themselves. So settings are attributes of
    the class; :meth:`with_` makes a class with other settings, and so does a subclass.

    Attributes
    ----------
    name : name of the assignor, the same in every client
    time_limit : seconds for the plan, in the leader. It sends no heartbeats meanwhile, so keep
        this well below the session timeout
    settable : names of the settings that users may choose
    loaded : modules that a plan needs, which are loaded when a consumer joins
    """

    name: ClassVar[str] = "assay-optimal"
    time_limit: ClassVar[float] = 2.0
    settable: ClassVar[tuple[str, ...]] = ("time_limit",)
    loaded: ClassVar[tuple[str, ...]] = (
        "groups.group",
        "heuristics.written.sticky_that_ends",
        "optimal.solve",
        "optimal.flow.algorithm",
        "optimal.solvers",
    )

    def __init_subclass__(cls) -> None:
        """Check the settings."""
        cls.check_settings()

    @classmethod
    def check_settings(cls) -> None:
        """Raise BadInput if a setting has a bad value."""
        limit = cls.time_limit
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not limit > 0:
            raise BadInput(f"{cls.__name__}: time_limit: {limit!r}, expected seconds above 0")

    @classmethod
    def with_(cls, **settings: object) -> type[Self]:
        """Return the class with other settings.

        Raises
        ------
        BadInput
            If there is no such setting, or its value is bad.

        Examples
        --------
        >>> from live.kafka_python import OptimalAssignor
        >>> OptimalAssignor.with_(time_limit=0.5).time_limit
        0.5
        """
        for name in settings.keys() - {*cls.settable}:
            known = ", ".join(cls.settable)
            raise BadInput(f"{cls.__name__}: no setting {name!r}, expected one of {known}")
        return type(cls.__name__, (cls,), {"__module__": cls.__module__, **settings})

    @classmethod
    def require_settings(cls) -> None:
        """Raise BadInput if a setting is missing."""

    @classmethod
    def solver(cls) -> Solver:
        """Return the function that makes the plan."""
        return partial(optimum, time_limit=cls.time_limit)


log = logging.getLogger(__name__)

OBJECTIVE = "balance > peak_lag > stickiness"
# While the last plan is not carried out yet, moves count before lag. Otherwise each round could
# prefer another plan as lags change, and the rebalances would never end.
FINISHING = "balance > stickiness > peak_lag"
# The solver's share of the remaining seconds; the rest is for checking and returning the plan.
SHARE = 0.8
RESETS = ("latest", "earliest")


class LagSettings(Settings):
    """The settings of an assignor that uses lag.

    Attributes
    ----------
    group_id : the id of the group, which clients do not tell their assignors
    connection : connection of the leader's own client to the cluster
    auto_offset_reset : ``latest`` or ``earliest``, as the consumers have it: without a commit, the
        lag of a partition is 0, or its whole log
    time_limit : seconds for the plan, in the leader; reading offsets may take half of them
    """

    name: ClassVar[str] = "assay-lag-aware"
    group_id: ClassVar[str | None] = None
    connection: ClassVar[Connection | None] = None
    auto_offset_reset: ClassVar[Literal["latest", "earliest"]] = "latest"
    settable: ClassVar[tuple[str, ...]] = (
        "group_id",
        "connection",
        "auto_offset_reset",
        "time_limit",
    )
    time_limit: ClassVar[float] = 4.0
    loaded: ClassVar[tuple[str, ...]] = (
        *Settings.loaded,
        "optimal.loads.exchange",
        "optimal.search",
        "optimal.cpsat",
        "live.connection",
        "kafka.admin",
    )

    @classmethod
    def check_settings(cls) -> None:
        """Raise BadInput if a setting has a bad value."""
        super().check_settings()
        if cls.auto_offset_reset not in RESETS:
            raise BadInput(
                f"{cls.__name__}: auto_offset_reset: {cls.auto_offset_reset!r}, expected "
                + " or ".join(RESETS)
            )
        if cls.connection is not None and not hasattr(cls.connection, "admin"):
            raise BadInput(f"{cls.__name__}: connection: expected a live.connection.Connection")

    @classmethod
    def require_settings(cls) -> None:
        """Raise BadInput if a setting is missing."""
        for name in ("group_id", "connection"):
            if getattr(cls, name) is None:
                raise BadInput(f"{cls.__name__}: no {name}: {cls.__name__}.with_({name}=...)")

    @classmethod
    def lag(cls, numbers: Mapping[str, Sequence[int]]) -> Lag:
        """Return the lag in records of each (topic, partition number).

        A subclass may take it from elsewhere, such as a monitor.

        Parameters
        ----------
        numbers : partition numbers of each topic

        Raises
        ------
        BadInput
            If the brokers cannot be asked.
        """
        from kafka import TopicPartition
        from kafka.admin import OffsetSpec

        assert cls.connection is not None
        every = [TopicPartition(topic, n) for topic, some in numbers.items() for n in some]
        with cls.connection.admin() as admin:
            committed = admin.list_group_offsets({cls.group_id: None})[cls.group_id]
            start = {p: one.offset for p, one in committed.items() if one.offset >= 0}
            missing = [p for p in every if p not in start]
            end = admin.list_partition_offsets(dict.fromkeys(every, OffsetSpec.LATEST))
            if cls.auto_offset_reset == "earliest" and missing:
                first = admin.list_partition_offsets(dict.fromkeys(missing, OffsetSpec.EARLIEST))
                start |= {p: one.offset for p, one in first.items()}
        return {
            (p.topic, p.partition): max(0, end[p].offset - start.get(p, end[p].offset))
            for p in every
        }

    @classmethod
    def solver(cls) -> Solver:
        """Return the function that makes the plan."""
        return partial(_least_lag, cls)


def _least_lag(settings: type[LagSettings], rebalance: Rebalance) -> Plan:
    """Return the plan with the least lag on the busiest member; without lags, `optimum`'s."""
    import numpy as np

    from optimal.solve import solve

    deadline = monotonic() + settings.time_limit
    try:
        lag = within(settings.time_limit / 2, partial(settings.lag, rebalance.numbers))
    except Exception as error:
        log.warning("lag is not known, loads alone are balanced (%s)", reason_of(error))
        return optimum(rebalance, time_limit=max(deadline - monotonic(), 0.0))
    objective = FINISHING if rebalance.is_unfinished else OBJECTIVE
    group = rebalance.group()
    column = [lag[topic, n] for topic in group.topics for n in rebalance.numbers[topic]]
    group = replace(group, lag_records=np.array(column, np.int64))
    left = max(deadline - monotonic(), 0.0) * SHARE
    assignment = solve(group, objective, time_limit=left).assignment
    if assignment is None:
        raise Failed(f"no answer within {settings.time_limit:g} s")
    return rebalance.plan_of(assignment)
