"""Families: where groups are from, a file of many or else a folder; a bounded number of them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_FAMILIES = 64
OTHERS = "other families"
_FILE_OF_MANY = r"[.](jsonl|ndjson|parquet)$"
_ROWS_AT_ONCE = 65_536


def found_in(sources: pa.Array) -> pa.Array:
    """Return the file of many groups, or the folder, that each group was first found in."""
    first = pc.list_element(pc.split_pattern(sources, ", ", max_splits=1), 0)
    above = pc.replace_substring_regex(first, "/?[^/]*$", "", max_replacements=1)
    above = pc.if_else(pc.equal(above, ""), ".", above)
    return pc.if_else(
        pc.match_substring_regex(first, _FILE_OF_MANY, ignore_case=True), first, above
    )


def families_of(sources: pa.Array, kept: Sequence[str]) -> pa.Array:
    """Return the families of groups: those that are kept, and one for all others."""
    found = found_in(sources)
    return pc.if_else(pc.is_in(found, value_set=pa.array(kept, pa.string())), found, OTHERS)


def kept_families(files: Sequence[str]) -> list[str]:
    """Return the families with the most groups, of the files of ``groups``."""
    counts: Counter[str] = Counter()
    for file in files:
        with pq.ParquetFile(file) as opened:
            for batch in opened.iter_batches(_ROWS_AT_ONCE, columns=["source"]):
                for one in pc.value_counts(found_in(batch.column(0))).to_pylist():
                    counts[one["values"]] += one["counts"]
    ordered = sorted(counts.items(), key=lambda item: (item[1], item[0]), reverse=True)
    return [family for family, _ in ordered[:MOST_FAMILIES]]
