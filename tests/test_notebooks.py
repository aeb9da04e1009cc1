"""Each notebook is a question, a figure and an answer; `make check` runs all of them."""

import ast
import json
import subprocess
import sys
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


@pytest.mark.browser
def test_the_figures_of_an_exported_notebook_are_seen_without_a_network(chromium, tmp_path):
    pytest.importorskip("nbconvert", reason="Jupyter is not installed")
    notebook = FOLDER / "05_where_sticky_is_not_optimal.ipynb"
    call = ["-m", "nbconvert", "--execute", "--to", "html", "--output-dir", tmp_path, notebook]
    ran = subprocess.run([sys.executable, *call], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    page = context.new_page()
    page.goto((tmp_path / f"{notebook.stem}.html").as_uri(), wait_until="domcontentloaded")
    figures = page.locator(".jp-OutputArea-output img")
    sizes = figures.evaluate_all("all => all.map(one => [one.naturalWidth, one.naturalHeight])")
    assert len(sizes) == sum("figures." in cell for cell in cells(notebook, "code"))
    assert all(width > 200 and height > 100 for width, height in sizes)
    words = page.locator(".jp-OutputArea-output").all_inner_texts()
    assert not [text for text in words if "Error" in text or "http" in text]
    context.close()
