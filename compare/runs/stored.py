"""Stored tables: what a run left under its folder, each row once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.dataset as ds

from compare.runs.tables import TABLES
from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd


def read_table(folder: Path, name: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Return a table of a run's folder, each key once; empty where it is not there yet.

    Raises
    ------
    BadInput
        Where the folder cannot be read, or a file of the table is not Parquet with its columns.
    """
    schema = TABLES[name]
    names = list(columns or schema.names)
    try:
        files = sorted(str(p) for p in (folder / name).glob("*.parquet"))
    except OSError as error:
        raise BadInput(f"{folder}: cannot be read: {error.strerror}") from None
    if not files:
        table = schema.empty_table().select(names)
    else:
        try:
            table = ds.dataset(files, schema=schema, format="parquet").to_table(columns=names)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OSError) as error:
            reason = str(error).splitlines()[0]
            raise BadInput(f"{folder / name}: not a table of assay run: {reason}") from None
    rows = table.to_pandas()
    return rows.drop_duplicates("key", ignore_index=True) if "key" in names else rows
