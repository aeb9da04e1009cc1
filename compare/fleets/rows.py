"""Rows: what is known of the groups of a fleet, as Arrow columns of the tables of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from compare.fleets.fleet_scores import NOTHING
from groups.arrays import UNKNOWN
from optimal.solution import Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from compare.fleets.fleet_scores import FleetScores
    from groups.arrays import Bools, Int64
    from optimal.solutions import Solutions


def optimum_columns(solution: Solutions) -> dict[str, pa.Array]:
    """Return a value for each group of the columns of ``optima`` that the answers fill.

    These are `status`, `reason`, `stopped`, `method`, `seconds`, `terms`, `proof` and `loads`.
    A group without an answer has the status `failed` and a reason, and nothing else.
    """
    failed, reason = _reasons(solution.errors, len(solution))
    there = ~failed & (solution.status != str(Status.UNKNOWN))
    values = {"value": solution.value, "bound": solution.bound}
    missing = {"bound": solution.bound == UNKNOWN}
    return {
        "status": pa.array(np.where(failed, "failed", solution.status)),
        "reason": reason,
        "stopped": pa.array(solution.stopped, mask=failed),
        "method": pa.array(solution.method, mask=failed),
        "seconds": pa.array(solution.seconds, mask=failed),
        "terms": _terms(solution.objective, values, missing, there, ~failed),
        "proof": pa.array(solution.proof, mask=failed),
        "loads": _loads(solution, solution.loads, there),
    }


def score_columns(scores: FleetScores) -> dict[str, pa.Array]:
    """Return a value for each group of the columns of ``scores`` that an assignment fills.

    These are `assignor`, `status`, `reason`, `valid`, `balanced`, `terms` and `loads`, and
    `rounds`, `revoked` and `seconds` of an assignment that is there already. A group without a
    score has the status `failed` and a reason.
    """
    solution, groups = scores.solution, len(scores.solution)
    failed, reason = _reasons(scores.reasons, groups)
    values = {
        "value": scores.value,
        "excess": scores.excess,
        "excess_from": scores.low,
        "excess_to": scores.high,
    }
    missing = {name: values[name] == NOTHING for name in values if name != "value"}
    return {
        "assignor": pa.repeat(pa.scalar(scores.assignor), groups),
        "status": pa.array(np.where(failed, "failed", "scored")),
        "reason": reason,
        "valid": pa.array(scores.valid, mask=failed),
        "balanced": pa.array(scores.balanced, mask=failed | ~scores.valid),
        "terms": _terms(solution.objective, values, missing, ~failed, ~failed),
        "rounds": pa.array(np.ones(groups, np.int64)),
        "revoked": pa.array(np.zeros(groups, np.int64)),
        "seconds": pa.array(np.zeros(groups)),
        "loads": _loads(solution, scores.loads, ~failed),
    }


def _reasons(reasons: Mapping[int, object], groups: int) -> tuple[Bools, pa.Array]:
    """(groups,) whether there is a reason, and the reason."""
    said: list[str | None] = [None] * groups
    for at, reason in reasons.items():
        said[at] = str(reason)
    failed = np.zeros(groups, bool)
    failed[list(reasons)] = True
    return failed, pa.array(said, pa.string())


def _terms(
    objective: tuple[str, ...],
    values: Mapping[str, Int64],
    missing: Mapping[str, Bools],
    filled: Bools,
    there: Bools,
) -> pa.Array:
    """(groups,) a struct for each tier, with its name and some values, (groups, tiers) each.

    Parameters
    ----------
    missing : where a value may be null, whether it is
    filled, there : (groups,) bool; where not filled the list is empty, where not there null
    """
    tiers, groups = len(objective), int(filled.sum())
    numbers = np.tile(np.arange(tiers), groups)
    fields = {"name": pa.array(objective).take(pa.array(numbers))}
    for name, column in values.items():
        mask = missing[name][filled].ravel() if name in missing else None
        fields[name] = pa.array(column[filled].ravel(), mask=mask)
    structs = pa.StructArray.from_arrays(list(fields.values()), list(fields))
    return _lists(structs, np.where(filled, tiers, 0), there)


def _loads(solution: Solutions, loads: Int64, there: Bools) -> pa.Array:
    size = np.diff(solution.fleet.member_start)
    return _lists(pa.array(loads[np.repeat(there, size)]), np.where(there, size, 0), there)


def _lists(values: pa.Array, lengths: Int64, there: Bools) -> Any:
    ends = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), values, mask=pa.array(~there))
