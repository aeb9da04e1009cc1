"""Figures: one per function, as Altair charts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.runs.latest_run import Run
    from compare.runs.summary import AssignorSummary

INK = {"optimal": "#1b7f5c", "balanced": "#8fc9b5", "valid": "#c9ced6"}
WHOSE = {"now": "#c9ced6", "assignor": "#d08b3e", "optimum": "#1b7f5c"}
WIDTH = 640
FEW = 12


def shares(summaries: Sequence[AssignorSummary]) -> alt.Chart:
    """Per assignor, the share of groups in which it is valid, balanced (KIP-54) and optimal."""
    rows = [
        {
            "assignor": one.assignor,
            "what": what,
            "share": getattr(one, what),
            "groups": one.scored,
        }
        for one in summaries
        for what in ("valid", "balanced", "optimal")
    ]
    order = ["valid", "balanced", "optimal"]
    height = alt.Step(36 if len(summaries) <= FEW else 18, **{"for": "position"})
    return (
        alt.Chart(pd.DataFrame(rows, columns=["assignor", "what", "share", "groups"]))
        .mark_bar()
        .encode(
            x=alt.X("share:Q", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])).title(
                "share of the groups scored"
            ),
            y=alt.Y("assignor:N", sort=[one.assignor for one in summaries]).title(None),
            yOffset=alt.YOffset("what:N", sort=order),
            color=alt.Color(
                "what:N", scale=alt.Scale(domain=order, range=[INK[what] for what in order])
            ).title(None),
            # Said, not inferred: where there are no rows, Altair warns that it cannot tell.
            tooltip=[
                "assignor:N",
                "what:N",
                alt.Tooltip("share:Q", format=".1%"),
                alt.Tooltip("groups:Q", title="groups scored"),
            ],
        )
        .properties(width=WIDTH, height=height)
    )


def excess(run: Run, tier: str) -> alt.Chart:
    """Distribution of each assignor's excess of one tier over the groups where it is known."""
    column = f"excess.{tier}"
    known = run.scores[run.scores[column].notna()]
    bins = pd.cut(
        known[column],
        [-1, 0, 1, 10, 100, 1000, float("inf")],
        labels=["0", "1", "2-10", "11-100", "101-1000", "over 1000"],
    )
    counts = (
        pd.DataFrame({"assignor": known["assignor"], "excess": bins.astype(str)})
        .value_counts()
        .reset_index(name="groups")
    )
    order = ["0", "1", "2-10", "11-100", "101-1000", "over 1000"]
    return (
        alt.Chart(counts)
        .mark_rect()
        .encode(
            x=alt.X("excess:O", scale=alt.Scale(domain=order), axis=alt.Axis(labelAngle=0)).title(
                f"{tier} above the optimum"
            ),
            y=alt.Y("assignor:N", sort=run.assignors).title(None),
            color=alt.Color("groups:Q", scale=alt.Scale(scheme="tealblues", type="symlog")),
            tooltip=["assignor:N", "excess:O", "groups:Q"],
        )
        .properties(width=WIDTH)
    )


def loads(
    rows: Sequence[dict[str, object]], groups: Sequence[str], others: Sequence[str]
) -> alt.Chart:
    """Loads per member of a chosen group: now, with a chosen assignor, and at the optimum.

    `rows` have group, member, now, optimum and a column per assignor.
    """
    chosen = alt.param(
        name="group_chosen",
        value=groups[0] if groups else "",
        bind=alt.binding_select(options=list(groups), name="group "),
    )
    other = alt.param(
        name="assignor_chosen",
        value=others[0] if others else "",
        bind=alt.binding_select(options=list(others), name="assignor "),
    )
    whose = list(WHOSE)
    return (
        alt.Chart(alt.InlineData(values=list(rows)))
        .transform_filter("datum.group == group_chosen")
        .transform_calculate(assignor="datum[assignor_chosen]")
        .transform_fold(whose, as_=["whose", "partitions"])
        .transform_filter("isValid(datum.partitions)")
        .mark_bar()
        .encode(
            x=alt.X("member:N", axis=alt.Axis(labelLimit=140)).title(None),
            xOffset=alt.XOffset("whose:N", sort=whose),
            y=alt.Y("partitions:Q", axis=alt.Axis(tickMinStep=1)),
            color=alt.Color(
                "whose:N", scale=alt.Scale(domain=whose, range=list(WHOSE.values()))
            ).title(None),
            tooltip=["member:N", "whose:N", "partitions:Q"],
        )
        .add_params(chosen, other)
        .properties(width=WIDTH)
    )
