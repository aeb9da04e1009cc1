"""What a figure refuses to draw, and in which words."""

import re

import numpy as np
import pandas as pd
import pytest

from assay import BadInput, figures
from compare.figures.rows import NUMBER, checked


@pytest.mark.parametrize(
    "name",
    ["loads", "lag", "moves", "costs", "shares", "ecdf", "profile", "time_by_size", "trade_off",
     "sizes", "trend"],
)  # fmt: skip
def test_a_figure_of_no_rows_or_without_a_column_is_refused_by_its_name(name):
    draw = getattr(figures, name)
    for nothing in ([], pd.DataFrame()):
        with pytest.raises(BadInput, match=f"^{name}: no rows, there is nothing to draw$"):
            draw(nothing)
    with pytest.raises(BadInput, match=f"^{name}: no column '[a-z_]+', there are: nonsense$"):
        draw([{"nonsense": 1}])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"partitions": -1}, "row 1: partitions: -1, expected a number of 0 or more"),
        ({"partitions": "9"}, "row 1: partitions: '9', expected a number of 0 or more"),
        ({"partitions": True}, "row 1: partitions: True, expected a number of 0 or more"),
        ({"partitions": None}, "row 1: partitions: None, expected a number of 0 or more"),
        ({"partitions": float("inf")}, "row 1: partitions: inf, expected a number of 0 or more"),
        ({"origin": 7}, "row 1: origin: 7, expected a text"),
    ],
)
def test_a_value_of_another_kind_is_refused_with_its_row(row, message):
    good = {"origin": "a", "target": "b", "partitions": 1}
    with pytest.raises(BadInput, match=f"^moves: {message}$"):
        figures.moves([good, good | row])


@pytest.mark.parametrize(
    ("name", "row", "message"),
    [
        ("time_by_size", {"assignor": "range", "partitions": 10, "seconds": 0.0},
         "row 0: seconds: 0.0, expected a number of more than 0"),
        ("trend", {"captured_at": "yesterday", "group": "a", "value": 1},
         "row 0: captured_at: 'yesterday', expected a time as in 2026-"),
        ("trend", {"captured_at": "2026-11-20", "group": "a", "value": None},
         "no row has a value, there is nothing to draw"),
        ("profile", {"assignor": "a", "group": "g", "seconds": None},
         "no row has a value in 'seconds', there is"),
        ("costs", {"assignor": "a", "tier": "moves", "value": 1, "valid": 1},
         "row 0: valid: 1, expected true or false"),
    ],
)  # fmt: skip
def test_a_value_that_cannot_be_drawn_is_refused(name, row, message):
    with pytest.raises(BadInput, match=f"^{name}: {re.escape(message)}"):
        getattr(figures, name)([row])


def test_a_data_frame_and_records_draw_the_same():
    rows = [{"origin": "a", "target": "b", "partitions": 3}]
    assert figures.moves(pd.DataFrame(rows)).to_dict() == figures.moves(rows).to_dict()


def test_numbers_of_numpy_and_what_is_missing_are_read_as_python_has_them():
    frame = pd.DataFrame({"n": [1.5, np.nan], "m": pd.array([1, None], dtype="Int64")})
    number = NUMBER.or_none()
    assert checked("figure", frame, {"n": number, "m": number}) == [
        {"n": 1.5, "m": 1}, {"n": None, "m": None},
    ]  # fmt: skip
    rows = [{"n": np.int64(3)}, {"n": np.nan}]
    assert checked("figure", rows, {"n": number}) == [{"n": 3}, {"n": None}]
    column = {"n": NUMBER.unless_there(7)}
    assert checked("figure", rows[1:], column) == checked("figure", [{}], column) == [{"n": 7}]
