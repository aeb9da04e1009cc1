"""Trial: the outcome of an assignor on one group, and on its own result."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
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
    is_guest : whether it is a client that joined a probe, which goes by the name that it gave
    """

    assignor: str
    run: Callable[[Group], Outcome]
    is_guest: bool = False

    def __call__(self, group: Group) -> Outcome:
        """Return the assignor's outcome on the group."""
        return self.run(group)


@dataclass(frozen=True, eq=False)
class Trial:
    """The trial of an assignor on one group, beside the optimum for balance > stickiness.

    Attributes
    ----------
    run : runs the assignor, under a time limit if it may hang
    optimum : the reference solution of the group; None if no promise needs it
    known : the two outcomes if they are known already; None: the assignor is called when needed
    """

    run: Runner
    group: Group
    optimum: Solution | None
    known: tuple[Outcome, Outcome | None] | None = None

    @cached_property
    def outcome(self) -> Outcome:
        """The assignor's outcome on the group."""
        return self.run(self.group) if self.known is None else self.known[0]

    @cached_property
    def second_outcome(self) -> Outcome | None:
        """The assignor's outcome on its own result; None if there is none.

        Every member then claims what it was given, all in the next generation.
        """
        if self.known is not None:
            return self.known[1]
        plan = self.outcome.plan
        return None if plan is None else self.run(rejoined(self.group, plan.assignment))

    @cached_property
    def assignment(self) -> Assignment | None:
        """The assignment, None unless it is valid."""
        plan = self.outcome.plan
        return plan.assignment if plan is not None and plan.assignment.is_valid else None


def in_process(name: str) -> Runner:
    """Return a runner of an assignor as written, in this process.

    Such an assignor always ends, as its loops stop when a state comes back. Any other may hang and
    needs a time limit.

    Raises
    ------
    BadInput
        If no assignor as written has this name.
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
        If no assignor has this name, it cannot be called here, or a child process cannot import
        the function.
    """
    one = assignor_named(assignor)
    # A client that joined and went away may join again.
    if one.kind != "probed" and (reason := one.missing()) is not None:
        raise BadInput(f"{one.name}: {reason}")
    return Runner(one.name, lambda group: limit.plan(group, assignor), one.kind == "probed")


def trials(groups: Sequence[Group], assignor: str, limits: Sequence[TimeLimit]) -> list[Trial]:
    """Return a trial of an assignor on each group, run in batches in parallel.

    If the assignor hangs on a group, its process is replaced, and the other groups go on.

    Parameters
    ----------
    limits : one for each process to run in parallel

    Raises
    ------
    BadInput
        If no assignor has this name.
    """
    run = runner_of(assignor, limits[0])
    known = optima(groups)
    with ThreadPoolExecutor(len(limits)) as pool:

        def outcomes_of(batch: Sequence[Group]) -> list[Outcome]:
            parts = [batch[n :: len(limits)] for n in range(len(limits))]
            made = pool.map(lambda one, part: one.plan_many(part, run.assignor), limits, parts)
            return [one for turn in zip_longest(*made) for one in turn if one is not None]

        first = outcomes_of(groups)
        places = [n for n, outcome in enumerate(first) if outcome.plan is not None]
        results = [rejoined(groups[n], plan.assignment) for n in places if (plan := first[n].plan)]
        second = dict(zip(places, outcomes_of(results), strict=True))
    return [
        Trial(run, group, optimum, (outcome, second.get(n)))
        for n, (group, optimum, outcome) in enumerate(zip(groups, known, first, strict=True))
    ]


def optima(groups: Sequence[Group]) -> list[Solution]:
    """Return the optimum of each group for balance > stickiness, all in one solve."""
    return [*solve_many(groups, "kip-54")]


def rejoined(group: Group, assignment: Assignment) -> Group:
    """Return the group in which every member claims what it was given, in the next generation."""
    return group.with_claims(*assignment.holdings, generation=group.next_generation)
