"""Figures leave as files, without a browser and without a network."""

import altair as alt
import pytest

from assay import BadInput, figures

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


@pytest.mark.parametrize(("name", "magic"), [("f.svg", b"<svg"), ("f.PNG", b"\x89PNG")])
def test_a_file_is_what_its_name_ends_in(tmp_path, name, magic):
    figures.save(figures.moves(ROWS), tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(magic)


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(BadInput, match=r"f\.pdf: expected a name that ends in \.svg or \.png$"):
        figures.save(figures.moves(ROWS), tmp_path / "f.pdf")


def test_a_file_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(BadInput, match=r"f\.svg: cannot be written: No such file"):
        figures.save(figures.moves(ROWS), tmp_path / "nowhere" / "f.svg")


def test_data_from_elsewhere_is_not_fetched():
    chart = alt.Chart("http://127.0.0.1:9/rows.json").mark_bar().encode(x="a:Q")
    with pytest.raises(ValueError, match="External data url not allowed"):
        figures.svg(chart)
