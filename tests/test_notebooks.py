"""Each notebook is a question, a figure and an answer; `make check` runs all of them."""

import ast
import json
from pathlib import Path

import pytest

import assay

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
OURS = {"assay", "benchmarks", "compare", "groups", "heuristics", "live", "optimal", "studies"}


def cells(path, kind):
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == kind]


def imports(path):
    """(module, name) of all that the cells import."""
    for node in ast.walk(ast.parse("\n".join(cells(path, "code")))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module, alias.name) for alias in node.names)


def test_they_are_numbered_without_a_gap():
    assert [int(path.name[:2]) for path in NOTEBOOKS] == list(range(1, len(NOTEBOOKS) + 1))
    assert len(NOTEBOOKS) >= 11


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_output_is_committed(path):
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_of_ours_only_the_documented_names_are_imported(path):
    ours = [(module, name) for module, name in imports(path) if module.split(".")[0] in OURS]
    assert ours
    assert {module for module, _ in ours} == {"assay"}
    assert {name for _, name in ours} <= {*assay.__all__, "figures"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_a_question_a_figure_and_an_answer(path):
    title, *texts = cells(path, "markdown")
    assert title.splitlines()[0].startswith("# ")
    assert title.splitlines()[0].endswith("?")
    assert texts[-1].startswith("## The answer\n")
    code = cells(path, "code")
    assert any("figures." in cell for cell in code)
    assert "assert " in code[-1]
