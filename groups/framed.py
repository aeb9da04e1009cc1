"""Framed: objects that are tables: pandas DataFrames, and HTML in notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, ClassVar

from groups.arrays import GREATEST
from groups.errors import BadInput
from groups.extras import require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import altair as alt
    import pandas as pd

# Rows that a notebook shows.
SHOWN = 60


class Framed:
    """An object that has rows, each with the same columns.

    Attributes
    ----------
    draw : draws the object; the module of figures sets it
    """

    draw: ClassVar[Callable[[Framed], alt.Chart] | None] = None

    def to_rows(self) -> Iterable[Mapping[str, object]]:
        """Return the rows: values by the names of columns, None if one is not known."""
        raise NotImplementedError

    def to_frame(self) -> pd.DataFrame:
        """Return the rows of `to_rows` as a DataFrame; columns of integers with gaps stay integer.

        Raises
        ------
        BadInput
            If pandas is not installed.
        """
        require("pandas", extra="plots")
        import pandas as pd

        frame = pd.DataFrame(list(self.to_rows()), dtype=object)
        for name in frame.columns:
            known = [value for value in frame[name] if value is not None]
            if {*map(type, known)} == {int} and max(map(abs, known)) <= GREATEST:
                frame[name] = frame[name].astype("int64" if len(known) == len(frame) else "Int64")
        return frame.infer_objects()

    def plot(self) -> alt.Chart:
        """Return the figure of a group, a solution, scores or a frontier.

        Raises
        ------
        BadInput
            If the figures are not loaded, or there is nothing to draw.
        """
        draw = type(self).draw
        if draw is None:
            raise BadInput("plot: load the figures first: from assay import figures")
        return draw(self)

    @property
    def in_a_line(self) -> str:
        """The line that a notebook shows above the table, possibly empty."""
        return ""

    def _repr_html_(self) -> str:
        """Return the table of `to_frame` as HTML; of many rows, the first and the last."""
        lead = f"<p>{escape(self.in_a_line)}</p>" if self.in_a_line else ""
        return f"{lead}{self.to_frame().to_html(index=False, max_rows=SHOWN)}"
