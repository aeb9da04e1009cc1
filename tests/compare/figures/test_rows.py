"""What a figure refuses to draw, and in which words."""

import numpy as np
import pandas as pd
import pytest

from assay import BadInput, figures
from compare.figures.rows import Rows


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


def test_times_of_no_duration_have_no_place_on_a_scale_of_powers_of_ten():
    row = {"assignor": "range", "partitions": 10, "seconds": 0.0}
    with pytest.raises(BadInput, match=r"row 0: seconds: 0\.0, expected a number of more than 0"):
        figures.time_by_size([row])


def test_a_time_that_is_none_is_refused():
    row = {"captured_at": "yesterday", "group": "a", "value": 1}
    with pytest.raises(BadInput, match="captured_at: 'yesterday', expected a time as in 2026-"):
        figures.trend([row])


def test_a_table_without_any_value_is_refused():
    with pytest.raises(BadInput, match="trend: no row has a value, there is nothing to draw"):
        figures.trend([{"captured_at": "2026-11-20", "group": "a", "value": None}])
    with pytest.raises(BadInput, match="profile: no row has a value in 'seconds', there is"):
        figures.profile([{"assignor": "a", "group": "g", "seconds": None}])


def test_a_data_frame_and_records_draw_the_same():
    rows = [{"origin": "a", "target": "b", "partitions": 3}]
    assert figures.moves(pd.DataFrame(rows)).to_dict() == figures.moves(rows).to_dict()


def test_numbers_of_numpy_and_what_is_missing_are_read_as_python_has_them():
    frame = pd.DataFrame({"n": [1.5, np.nan], "m": pd.array([1, None], dtype="Int64")})
    assert Rows("figure", frame).numbers_or_none("n") == [1.5, None]
    assert Rows("figure", frame).numbers_or_none("m") == [1, None]
    assert Rows("figure", [{"n": np.int64(3)}, {"n": np.nan}]).numbers_or_none("n") == [3, None]
    assert Rows("figure", frame).has("n")
    assert not Rows("figure", [{"n": np.nan}]).has("n")
