"""What ``import assay`` hands out: complete, typed, of one version, and with examples that run."""

import doctest
import inspect
import re
import tomllib
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

import assay
import groups
from tests.assay.calling import assay as command

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
FUNCTIONS = [name for name in assay.__all__ if inspect.isfunction(getattr(assay, name))]
CLASSES = [name for name in assay.__all__ if inspect.isclass(getattr(assay, name))]
# Said for what they are made of: a tuple of names, an array of a kind of number, ...
ALIASES = {
    "Aim", "Any", "Bools", "Bound", "Callable", "Floats", "Fraction", "Int32", "Int64", "Iterator",
    "Kind", "LastEvent", "Literal", "Lower", "Mapping", "None", "Objective", "Path", "Says",
    "Sequence", "Subscriptions", "Syntax", "ViolationKind", "Words",
}  # fmt: skip


def nouns(annotation: object) -> set[str]:
    """The names of types in an annotation, which is text in all of our modules."""
    return set(re.findall(r"\b[A-Z]\w+", re.sub(r"'\w+'|\"\w+\"", "", str(annotation)))) - ALIASES


def test_all_that_is_named_is_there_in_order():
    assert assay.__all__ == sorted(assay.__all__)
    assert sorted([*FUNCTIONS, *CLASSES, "AssignorFunction", "Excess"]) == assay.__all__
    assert FUNCTIONS == [
        "advise", "assign", "check", "differing", "export", "frontier", "grid", "hunt", "judge",
        "play", "read_groups", "roll_out", "run", "score", "score_assignors", "size", "solve",
        "solve_fleet", "solve_many", "worth_moving",
    ]  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_a_function_takes_returns_and_raises_is_handed_out_too(name):
    function = getattr(assay, name)
    said = inspect.signature(function)
    after = function.__doc__.partition("Raises\n")[2].partition("Examples\n")[0]
    lines = re.findall(r"^ {4}([A-Z]\w+(?:, [A-Z]\w+)*)$", after, re.MULTILINE)
    raised = [error for line in lines for error in line.split(", ")]
    assert raised
    assert nouns(said.return_annotation) | set(raised) <= set(assay.__all__)


@pytest.mark.parametrize("name", [n for n in CLASSES if is_dataclass(getattr(assay, n))])
def test_what_an_answer_holds_is_handed_out_too(name):
    found = getattr(assay, name)
    public = [field for field in fields(found) if not field.name.startswith("_")]
    assert public
    if name not in ("Group", "Scenario", "Journey"):
        assert set().union(*(nouns(field.type) for field in public)) <= set(assay.__all__)


WITHOUT_SPARK = [name for name in FUNCTIONS if name != "run"]


@pytest.mark.parametrize("name", [*WITHOUT_SPARK, "Family"])
def test_the_example_of_each_function_runs(name):
    (found,) = doctest.DocTestFinder(recurse=False).find(getattr(assay, name), name, globs={})
    assert "Examples\n" in found.docstring
    assert len(found.examples) >= 2
    said: list[str] = []
    result = doctest.DocTestRunner().run(found, out=said.append)
    assert not result.failed, "".join(said)


def test_there_is_one_version():
    """pyproject.toml says it; the package, the command and the citation repeat it."""
    version = PROJECT["version"]
    assert assay.__version__ == version
    assert command("--version").stdout == f"assay {version}\n"
    cited = (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"^version: (.+)$", cited, re.M) == [version]


def test_every_package_says_that_it_is_typed():
    for package in ("assay", "compare", "groups", "heuristics", "optimal"):
        assert (ROOT / package / "py.typed").read_text() == ""


@pytest.mark.parametrize("door", [assay, groups])
def test_a_name_that_there_is_not_is_no_attribute(door):
    assert {*door.__all__} <= {*dir(door)}
    with pytest.raises(AttributeError, match=f"module '{door.__name__}' has no attribute 'slove'"):
        _ = door.slove
