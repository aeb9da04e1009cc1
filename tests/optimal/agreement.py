"""Agreement: one group solved by every method, and what they say held against each other."""

from __future__ import annotations

import json
from functools import partial
from hashlib import blake2b
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from groups.errors import BadInput, SolverContradiction
from groups.needs import require_data
from groups.tiers import parse_objective
from optimal.solve import METHODS, solve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from groups.group import Group
    from groups.tiers import Objective
    from optimal.solution import Solution


class Solver(Protocol):
    """A method that answers a group."""

    def __call__(
        self, group: Group, objective: Objective, *, time_limit: float | None
    ) -> Solution:
        """Solve the group for an objective, or say with BadInput that it cannot be."""
        ...


SOLVERS: Mapping[str, Solver] = {
    method: partial(solve, method=method) for method in METHODS if method != "auto"
}


def agree(
    group: Group,
    objective: str | Sequence[str] = "kip-54",
    *,
    methods: Mapping[str, Solver] = SOLVERS,
    time_limit: float | None = None,
    folder: str | Path,
) -> tuple[Solution, ...]:
    """Return the answer of every method that serves a group and an objective, if they agree.

    They agree where no answer is better than what another one proves to be the least: its values
    are, tier by tier, nowhere below the other's bounds before they are above one. Of two answers
    that are proved that leaves only equal values; one that the time limit left open must still
    have true bounds.

    Parameters
    ----------
    methods : what to ask, by name; a method that refuses with BadInput has no answer
    time_limit : seconds for each method
    folder : where a disagreement is written, made if need be

    Raises
    ------
    BadInput
        Where the objective is not known, the group lacks what it needs or no method serves it.
    SolverContradiction
        Where two methods disagree, or one is at odds with the checker or with itself. The
        message names an ``assay-group/1`` file with the group; a file beside it, ending in
        ``.answers.json``, holds the objective and what each method said.
    """
    tiers = parse_objective(objective)
    require_data(group, tiers)
    found: dict[str, Solution] = {}
    refused: dict[str, str] = {}
    broken: dict[str, str] = {}
    for name, method in methods.items():
        try:
            found[name] = method(group, tiers, time_limit=time_limit)
        except BadInput as error:
            refused[name] = str(error)
        except SolverContradiction as error:
            broken[name] = str(error)
    reasons = [f"{name}: {reason}" for name, reason in broken.items()]
    reasons += [
        f"{one} found {_shown(_values(answer))}, but {other} proves no less than "
        f"{_shown(_bounds(rival))}"
        for (one, answer), (other, rival) in permutations(found.items(), 2)
        if _is_below(_values(answer), _bounds(rival))
    ]
    if reasons:
        path = _written(group, tiers, found, {**refused, **broken}, Path(folder))
        raise SolverContradiction(f"{path}: {' > '.join(tiers)}: {'; '.join(reasons)}")
    if not found:
        raise BadInput("; ".join(refused.values()) or "methods: none named")
    return tuple(found.values())


def _values(solution: Solution) -> tuple[int, ...]:
    return tuple(term.value for term in solution.terms)


def _bounds(solution: Solution) -> tuple[int, ...]:
    """Return the bounds up to the first tier of which nothing is known."""
    bounds: list[int] = []
    for term in solution.terms:
        if term.bound is None:
            break
        bounds.append(term.bound)
    return tuple(bounds)


def _shown(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers))


def _is_below(values: tuple[int, ...], bounds: tuple[int, ...]) -> bool:
    return bool(values) and values[: len(bounds)] < bounds


def _written(
    group: Group,
    objective: Objective,
    found: Mapping[str, Solution],
    said: Mapping[str, str],
    folder: Path,
) -> Path:
    """Write the group and what was said of it; the same question gets the same names."""
    answers = {
        "group": group.name,
        "objective": list(objective),
        "answers": {
            **{name: solution.to_dict() for name, solution in found.items()},
            **{name: {"error": message} for name, message in said.items()},
        },
    }
    text = json.dumps(group.snapshot(), indent=1)
    asked = f"{' > '.join(objective)}\n{text}"
    digest = blake2b(asked.encode(), digest_size=6).hexdigest()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"contradiction-{digest}.json"
    path.write_text(text, encoding="utf-8")
    answered = json.dumps(answers, indent=1)
    path.with_suffix(".answers.json").write_text(answered, encoding="utf-8")
    return path
