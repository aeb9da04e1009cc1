"""CSV: rows under their heads as text."""

from __future__ import annotations

import csv
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def as_csv(heads: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return rows under their heads as CSV; what is not there is empty."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(rows)
    return text.getvalue()
