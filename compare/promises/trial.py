"""Trial: what an assignor makes of one group, and of its own result."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from groups import Assignment, BadInput, Group
from heuristics import assignor_named
from heuristics.assignor import Outcome, attempt
from optimal.solve import solve_many

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heuristics import AssignorFunction
    from heuristics.time_limit import TimeLimit
    from optimal.solution import Solution


@dataclass(frozen=True)
class Runner:
    """Runs one assignor on a group, under a time limit if it may hang.

    Attributes
    ----------
    is_guest : whether it is a client that joined a probe: its name is what it calls itself
    """

    assignor: str
    run: Callable[[Group], Outcome]
    is_guest: bool = False

    def __call__(self, group: Group) -> Outcome:
        """Return what becomes of the group."""
        return self.run(group)


@dataclass(frozen=True, eq=False)
class Trial:
    """What an assignor makes of one group, beside the optimum for balance > stickiness.

    Attributes
    ----------
    run : runs the assignor, under a time limit if it may hang
    optimum : the reference solution of the group; None where no promise needs it
    known : what it made of the group, and of its own result, where that is known already
    """

    run: Runner
    group: Group
    optimum: Solution | None
    known: tuple[Outcome, Outcome | None] | None = None

    @cached_property
    def outcome(self) -> Outcome:
        """What it makes of the group."""
        return self.run(self.group) if self.known is None else self.known[0]

    @cached_property
    def again(self) -> Outcome | None:
        """What it makes of its own result, where there is one.

        Every member claims what it was given, all in the next generation.
        """
        if self.known is not None:
            return self.known[1]
        plan = self.outcome.plan
        return None if plan is None else self.run(rejoined(self.group, plan.assignment))

    @cached_property
    def assignment(self) -> Assignment | None:
        """The result, if there is a valid one."""
        plan = self.outcome.plan
        return plan.assignment if plan is not None and plan.assignment.is_valid else None


def in_process(name: str) -> Runner:
    """Return a runner of an assignor as written, in this process: such an assignor always ends.

    Its loops stop when a state comes back. Any other assignor may hang and needs a time limit.

    Raises
    ------
    BadInput
        Where no assignor as written has that name.
    """
    assignor = assignor_named(name)
    if assignor.kind != "written":
        raise BadInput(f"assignor: {name} is not as written, run it under a time limit")

    return Runner(assignor.name, lambda group: attempt(assignor.function, group))


def runner_of(assignor: str | AssignorFunction, limit: TimeLimit) -> Runner:
    """Return a runner of an assignor under a time limit, in a child process.

    Raises
    ------
    BadInput
        Where no assignor has that name, or a function cannot be imported there.
    """
    one = assignor_named(assignor)
    return Runner(one.name, lambda group: limit.plan(group, assignor), one.kind == "probed")


def trials(groups: Sequence[Group], assignor: str, limits: Sequence[TimeLimit]) -> list[Trial]:
    """Return a trial of an assignor on each group, run in batches, side by side under some limits.

    A group on which it hangs costs its own time, and those after it are asked of a new process.

    Raises
    ------
    BadInput
        Where no assignor has that name.
    """
    run = runner_of(assignor, limits[0])
    known = optima(groups)
    with ThreadPoolExecutor(len(limits)) as pool:

        def planned(some: Sequence[Group]) -> list[Outcome]:
            parts = [some[n :: len(limits)] for n in range(len(limits))]
            asked = [
                pool.submit(one.plan_many, p, run.assignor)
                for one, p in zip(limits, parts, strict=True)
            ]
            outcomes: list[Outcome | None] = [None] * len(some)
            for n, came in enumerate(asked):
                outcomes[n :: len(limits)] = came.result()
            return [outcome for outcome in outcomes if outcome is not None]

        first = planned(groups)
        places = [n for n, outcome in enumerate(first) if outcome.plan is not None]
        results = [rejoined(groups[n], plan.assignment) for n in places if (plan := first[n].plan)]
        again = dict(zip(places, planned(results), strict=True))
    return [
        Trial(run, group, optimum, (outcome, again.get(n)))
        for n, (group, optimum, outcome) in enumerate(zip(groups, known, first, strict=True))
    ]


def optima(groups: Sequence[Group]) -> list[Solution]:
    """Return the optimum of each group for balance > stickiness, all in one solve."""
    return [*solve_many(groups, "kip-54")]


def rejoined(group: Group, assignment: Assignment) -> Group:
    """Return the group in which every member claims what it was given, in the next generation."""
    return group.with_claims(*assignment.holdings, generation=group.next_generation)
