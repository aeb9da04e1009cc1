"""Any callable from a group to an assignment is an assignor."""

import importlib
import re
import sys
from functools import partial
from pathlib import Path

import pytest

from groups import BadInput, Failed
from heuristics import assign, assignor_named, catalogue, matching, plan
from heuristics.assignor import attempt
from heuristics.own import ENTRY_POINTS, installed, name_of, own_named, versioned
from heuristics.time_limit import TimeLimit

FOLDER = Path(__file__).with_name("assignors")


@pytest.fixture
def mine(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module("mine")


EVERYTHING = {"a": {"t": [0, 1, 2], "u": [0, 1]}, "b": {}}


@pytest.mark.parametrize("name", ["deal", "by_name", "in_rounds", "talk"])
def test_a_function_named_by_its_module_is_found_in_the_working_directory(
    here, limit, group, name
):
    outcome = limit.plan(group, f"mine:{name}")
    assert (outcome.status, outcome.reason) == ("planned", None)
    assert outcome.plan.assignment.to_dict() == EVERYTHING
    assert (outcome.plan.rounds, outcome.plan.revoked) == (
        (3, 2) if name == "in_rounds" else (1, 0)
    )
    assert "mine" not in sys.modules or sys.modules["mine"].__file__ == str(FOLDER / "mine.py")


def test_a_function_and_an_object_that_is_called_are_handed_over_as_they_are(mine, limit, group):
    assert limit.plan(group, mine.deal).plan.assignment.to_dict() == EVERYTHING
    assert assignor_named(mine.deal).name == "mine:deal"
    held = limit.plan(group, mine.Least(1)).plan.assignment.owner.tolist()
    assert held == [1] * 5
    assert assignor_named(mine.Least(1)).name == "mine:Least"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (
            "unknown_member",
            r"it returned no assignment of the group: assignment: 'nobody' is not .*",
        ),
        ("nothing", r"it returned None, expected an Assignment"),
        ("letters", r"it returned a dict that is not \{member: \{topic: \[partition\]\}\}"),
        ("of_another", r"it returned an assignment of another group, .*"),
        ("of_more_partitions", r"it returned an assignment of another group, .*"),
        ("astray", r"it returned the stray \(99, 't', 0\), expected \(member, topic, number\)"),
        ("astray_in_a_list", r"it returned the stray \[0, 't', 0\], expected .*"),
        ("in_half_rounds", r"it returned counts of \(1.5, 0, 0\), expected whole numbers .*"),
        (
            "too_short",
            r"InvalidAssignment: owner: 1 partition, but the group has 5 \(mine.py:\d+\)",
        ),
        ("divide", r"ZeroDivisionError: division by zero \(mine.py:\d+\)"),
        ("leave", r"SystemExit: gone \(mine.py:\d+\)"),
    ],
)
def test_what_returns_no_assignment_has_failed_and_one_line_says_why(here, group, name, reason):
    outcome = attempt(assignor_named(f"mine:{name}").function, group)
    assert outcome.status == "failed"
    assert re.fullmatch(reason, outcome.reason), outcome.reason


def test_a_failure_is_raised_where_one_assignment_is_asked_for(here, group):
    with pytest.raises(Failed, match=r"mine:nothing: it returned None, expected an Assignment"):
        plan(group, "mine:nothing")


def test_what_hands_out_too_much_is_an_assignment_that_is_not_valid(here, group):
    for name, kind in (("twice", "double"), ("beyond", "no-such-partition")):
        made = attempt(assignor_named(f"mine:{name}").function, group).plan.assignment
        assert kind in {violation.kind for violation in made.violations}


def test_what_refuses_a_group_is_refused(here, group):
    outcome = attempt(assignor_named("mine:refuse").function, group)
    assert (outcome.status, outcome.reason) == ("refused", "more than one topic")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mine:dael", r"assignor: mine:dael: there is no 'dael' in .*/mine\.py; nearest: deal, "),
        ("mine:NUMBER", r"mine:NUMBER is an int, not a function$"),
        ("mien:deal", r"there is no module mien in this folder, nor is one installed$"),
        ("mine.more:deal", r"there is no module mine.more in this folder, nor is one installed$"),
        ("broken:deal", r"broken cannot be imported: NameError: name 'x' is .* \(broken.py:1\)$"),
        ("mine:", r"assignor: 'mine:', expected module:function$"),
        (":deal", r"assignor: ':deal', expected module:function$"),
        ("mine:a b", r"assignor: 'mine:a b', expected module:function$"),
    ],
)
def test_what_cannot_be_imported_is_refused_in_one_line(monkeypatch, tmp_path, name, message):
    (tmp_path / "mine.py").write_text((FOLDER / "mine.py").read_text())
    (tmp_path / "broken.py").write_text("x")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match=message):
        matching([name])


def test_what_cannot_be_pickled_is_refused_in_one_line(mine, group):
    with pytest.raises(BadInput, match=r"mine:local.<locals>.inner cannot be pickled, .*top of a"):
        assign(group, mine.local())
    with pytest.raises(BadInput, match=r"assignor: int, expected a name or a callable"):
        assign(group, 3)
    inner = mine.deal
    assert assign(group, inner).to_dict() == EVERYTHING


def test_a_function_of_a_script_is_refused_in_one_line(monkeypatch, mine, group):
    monkeypatch.setattr(mine.deal, "__module__", "__main__")
    with pytest.raises(BadInput, match=r"__main__:deal cannot be imported by another process, "):
        assign(group, mine.deal)


def test_what_the_child_cannot_import_is_a_reason_and_no_death(monkeypatch, group, tmp_path):
    (tmp_path / "deleted_since.py").write_text("def deal(group):\n    return {}\n")
    monkeypatch.syspath_prepend(tmp_path)
    function = importlib.import_module("deleted_since").deal
    (tmp_path / "deleted_since.py").unlink()
    with TimeLimit(30) as limit:
        outcome = limit.plan(group, function)
    assert outcome.status == "failed"
    assert outcome.reason.startswith("the child process cannot import it: ModuleNotFoundError")


@pytest.fixture
def package(monkeypatch, tmp_path) -> Path:
    """An installed package with an assignor of a new name, and one of a shipped name."""
    info = tmp_path / "theirs-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.2\n")
    lines = [f"[{ENTRY_POINTS}]", "most-even = theirs:deal", "range = theirs:deal"]
    (info / "entry_points.txt").write_text("\n".join(lines))
    (tmp_path / "theirs.py").write_text((FOLDER / "mine.py").read_text())
    monkeypatch.syspath_prepend(tmp_path)
    catalogue.assignors.cache_clear()
    yield tmp_path
    catalogue.assignors.cache_clear()


def test_an_installed_package_brings_assignors_under_names_of_their_own(package, limit, group):
    found = assignor_named("most-even")
    assert (found.kind, found.source, found.version) == ("own", "theirs:deal", "1.2")
    assert {own.name for own in installed()} == {"most-even", "range"}
    assert limit.plan(group, "most-even").plan.assignment.to_dict() == EVERYTHING
    assert matching(["most-even"]) == ("most-even",)
    assert catalogue.assignors()["most-even"].missing() is None
    assert "most-even" in catalogue.available()
    with pytest.raises(BadInput, match=r"unknown name 'most-evn'; nearest: most-even"):
        matching(["most-evn"])


def test_a_name_of_this_project_stays_what_it_is(package):
    assert assignor_named("range").kind == "written"
    assert catalogue.assignors()["range"].kind == "written"


def test_a_package_that_names_no_function_leaves_the_others_as_they_are(package, limit, group):
    entries = package / "theirs-1.2.dist-info" / "entry_points.txt"
    entries.write_text(f"[{ENTRY_POINTS}]\nbroken = theirs\nmost-even = theirs:deal\n")
    catalogue.assignors.cache_clear()
    found = catalogue.assignors()
    assert found["broken"].missing() == "assignor: 'theirs', expected module:function"
    assert "broken" not in catalogue.available()
    assert "most-even" in catalogue.available()
    assert limit.plan(group, "broken").status == "unavailable"


def test_a_run_names_an_assignor_of_yours_with_a_digest_of_its_file(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "own_one.py"
    file.write_text("def deal(group):\n    return {}\n")
    first = versioned(own_named("own_one:deal"))
    assert re.fullmatch(r"own_one:deal@[0-9a-f]{12}", first)
    assert versioned(own_named(first)) == first
    file.write_text("def deal(group):\n    return {'a': {}}\n")
    assert versioned(own_named("own_one:deal")) != first
    assert own_named(first).source == "own_one:deal"


def test_a_run_needs_a_function_that_a_name_leads_to(mine):
    assert name_of(mine.deal) == "mine:deal"
    for nameless in (mine.Least(1), partial(mine.deal)):
        with pytest.raises(BadInput, match=r"^assignor: .* is not a function at the top of a mod"):
            name_of(nameless)
