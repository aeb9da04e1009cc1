"""Plot: one figure of one group, as a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay.commands.options import (
    DEFAULT_SECONDS,
    Assignors,
    File,
    GroupOptions,
    OneOf,
    TimeLimitOption,
    group_in,
)
from assay.streams import note, note_assumed, show
from compare.judged import judge
from compare.scores import CURRENT, assignors_asked, score_assignors
from compare.sizes.sizing import drawn
from compare.sizes.sizing import size as sized
from groups.arrays import UNKNOWN
from groups.errors import BadInput
from groups.extras import require_plots
from groups.tiers import Objective as Tiers
from groups.tiers import parse_objective
from heuristics import matching
from heuristics.catalogue import usual_assignors
from heuristics.time_limit import TimeLimit
from optimal import frontier as best_points
from optimal import solve

if TYPE_CHECKING:
    import altair as alt

    from groups.assignment import Assignment
    from groups.group import Group
    from optimal.solution import Solution

Figure = Literal["loads", "moves", "lag", "frontier", "size", "assignors"]
DEFAULTS = {"lag": "balance > peak_lag"}
MOST_POINTS = 100


def plot(
    file: File,
    *,
    out: Annotated[str, typer.Option("-o", "--out", help="where to write, a .svg or a .png")],
    figure: Annotated[
        Figure,
        typer.Option(
            help="loads and lag: of each member; moves: from whom to whom; frontier: what each "
            "move buys; size: by the number of members; assignors: each beside the best"
        ),
    ] = "loads",
    group: OneOf = None,
    assignor: Assignors = None,
    objective: Annotated[
        str | None,
        typer.Option(
            help="what is best: a preset, or tiers; left out: kip-54, of lag 'balance > peak_lag'"
        ),
    ] = None,
    time_limit: TimeLimitOption = DEFAULT_SECONDS,
    options: GroupOptions,
    dark: Annotated[bool, typer.Option("--dark", help="for a dark background")] = False,
) -> None:
    """Write one figure of a group as SVG or PNG."""
    require_plots()
    from compare import figures

    figures.require_suffix(out)
    given, damaged = group_in([file], group, options)
    one = options.assumed(given)
    if not one.members:
        raise BadInput(f"{one.name}: no members, there is nothing to draw")
    if assignor and figure not in ("loads", "lag", "assignors"):
        raise BadInput(f"--assignor: the figure of {figure} shows none")
    tiers = parse_objective(objective or DEFAULTS.get(figure, "kip-54"))
    if figure == "frontier" and objective is not None:
        raise BadInput("--objective: the figure of frontier is of balance and moves")
    chart = getattr(_Drawn(one, tiers, time_limit, objective), figure)(assignor or [])
    figures.save(chart, out, dark=dark)
    note_assumed(one.assumed)
    show(f"{one.name}: {figure}, written to {out}")
    raise typer.Exit(2 if damaged else 0)


@dataclass(frozen=True)
class _Drawn:
    """One group's figures: a method for each, which takes the names of assignors to show."""

    group: Group
    tiers: Tiers
    seconds: float
    given: str | None

    def loads(self, names: list[str]) -> alt.Chart:
        from compare import figures

        best, lowest, _ = self._best()
        rows = figures.loads_table(self.group, best, self._assigned(names))
        return figures.loads(rows, floor=None if lowest is None else figures.loads_floor(lowest))

    def moves(self, _: list[str]) -> alt.Chart:
        from compare import figures

        best, _lowest, question = self._best()
        if best is None:
            why = question or "no best assignment was found"
            raise BadInput(f"{self.group.name}: which moves are best is not known: {why}")
        if not len(best.moved):
            raise BadInput(f"{self.group.name}: nothing has to move, there is nothing to draw")
        return figures.moves(figures.moves_table(best))

    def lag(self, names: list[str]) -> alt.Chart:
        from compare import figures

        lag = self.group.lag_records
        if lag is None:
            raise BadInput(f"{self.group.name}: its lag is not known, there is nothing to draw")
        if (lag == UNKNOWN).any():
            # The lowest peak depends on the unknown lags.
            return figures.lag(figures.lag_table(self.group, None, self._assigned(names)))
        best, lowest, _ = self._best()
        rows = figures.lag_table(self.group, best, self._assigned(names))
        if lowest is None or (floor := figures.lag_floor(lowest)) is None:
            return figures.lag(rows)
        return figures.lag(rows, floor=floor[0], among=floor[1])

    def frontier(self, _: list[str]) -> alt.Chart:
        from compare import figures

        self.group.require_subscriptions()
        tiers = ("balance", "stickiness")
        points = best_points(self.group, *tiers, time_limit=self.seconds, points=MOST_POINTS)
        return figures.trade_off(figures.trade_off_table(tiers, points))

    def size(self, _: list[str]) -> alt.Chart:
        return drawn(sized(self.group, objective=self.given, time_limit=self.seconds))

    def assignors(self, names: list[str]) -> alt.Chart:
        from compare import figures

        self.group.require_subscriptions()
        usual = usual_assignors([self.group])
        asked = [CURRENT, *(assignors_asked(names) if names else usual)]
        best = solve(self.group, self.tiers, time_limit=self.seconds)
        with TimeLimit(self.seconds) as limit:
            rows = score_assignors(self.group, best, list(dict.fromkeys(asked)), limit)
        return figures.costs(figures.costs_table(best, rows))

    def _best(self) -> tuple[Assignment | None, Solution | None, str | None]:
        """Return the best assignment, the solution that bounds it, and the open question.

        The bounds hold whoever reads what. The question is None unless the best assignment
        depends on who reads what.
        """
        (judged,) = judge([self.group], self.tiers, time_limit=self.seconds)
        if judged.verdict.question:
            return None, judged.lowest, judged.verdict.question
        if judged.best is None and self.group.subscription_known.all():
            fresh = solve(self.group, self.tiers, time_limit=self.seconds)
            return fresh.assignment, fresh, None
        return judged.target, judged.lowest, None

    def _assigned(self, names: list[str]) -> dict[str, Assignment]:
        if not names:
            return {}
        self.group.require_subscriptions()
        found = {}
        with TimeLimit(self.seconds) as limit:
            for name in matching(names):
                outcome = limit.plan(self.group, name)
                if outcome.plan is None:
                    note(f"{name}: {outcome.reason}")
                else:
                    found[name] = outcome.plan.assignment
        return found
