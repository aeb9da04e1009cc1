"""Figures leave as files, without a browser and without a network."""

import altair as alt
import pytest

from assay import figures

ROWS = [
    {"origin": "c0", "target": "c1", "partitions": 3},
    {"origin": "<script>", "target": "c1", "partitions": 1},
]


def test_an_svg_holds_the_names_and_numbers_and_looks_up_nothing():
    text = figures.svg(figures.moves(ROWS))
    assert text.startswith("<svg")
    assert "c1" in text
    assert "&lt;script&gt;" in text
    assert "<script" not in text
    assert "<image" not in text


def test_the_dark_look_differs_in_what_surrounds_the_marks():
    chart = figures.moves(ROWS)
    light, dark = figures.svg(chart), figures.svg(chart, dark=True)
    assert "#14181d" in dark
    assert "#14181d" not in light
    assert "#14181d" not in figures.svg(chart, dark=True, background="transparent")


def test_data_from_elsewhere_is_not_fetched():
    chart = alt.Chart("http://127.0.0.1:9/rows.json").mark_bar().encode(x="a:Q")
    with pytest.raises(ValueError, match="External data url not allowed"):
        figures.svg(chart)
