"""docs/reference/formats.md says of every column what the layout says."""

import re
from pathlib import Path

import pyarrow as pa
import pytest

from groups import BadInput
from groups.columnar.layout import LAYOUT, MAY_BE_NULL
from groups.columnar.rows import of_row
from tests.groups.columnar.test_rows import good

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "formats.md").read_text()
SECTION = re.search(r"^## Groups in Parquet\n(.*?)^## ", PAGE, re.M | re.S)[1]
ROWS = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|", SECTION, re.M)


def said(kind: pa.DataType) -> str:
    """A type as the page says it."""
    if pa.types.is_list(kind):
        return f"list of {said(kind.value_type)}"
    if pa.types.is_struct(kind):
        return "struct of " + ", ".join(f"`{one.name}` {said(one.type)}" for one in kind)
    return {"double": "float64"}.get(str(kind), str(kind))


def test_the_page_names_every_column_with_its_type():
    assert [(name, kind) for name, kind, _ in ROWS] == [(f.name, said(f.type)) for f in LAYOUT]


@pytest.mark.parametrize(("column", "null"), [(name, null) for name, _, null in ROWS])
def test_null_is_an_error_just_where_the_page_says_so(column, null):
    row = good() | {column: None}
    assert (null == "an error") == (column not in MAY_BE_NULL)
    if null == "an error":
        with pytest.raises(BadInput, match=f"^{column}: null$"):
            of_row(row)
    else:
        of_row(row)
