"""What ``import assay`` hands out: complete, typed, of one version, and with examples that run."""

import doctest
import inspect
import json
import pickle
import re
import tomllib
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import assay
import groups
from compare.reasons import sure
from tests.assay.calling import assay as command
from tests.assay.calling import write
from tests.compare.conftest import snapshot

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
STREAMS = {
    "format": "assay-streams/1",
    "group": "app",
    "standby_replicas": 1,
    "subtopologies": {"0": {"tasks": 2, "stateful": True}},
    "members": {name: {"process": name, "tasks": {}} for name in "ab"},
}
FUNCTIONS = [name for name in assay.__all__ if inspect.isfunction(getattr(assay, name))]
CLASSES = [name for name in assay.__all__ if inspect.isclass(getattr(assay, name))]
# Aliases, which stand for types such as a tuple of names or an array of numbers.
ALIASES = {
    "Aim", "Any", "Bools", "Bound", "Callable", "Floats", "Fraction", "Int32", "Int64", "Iterator",
    "Kind", "LastEvent", "Literal", "Lower", "Mapping", "None", "Objective", "Path", "Says",
    "Sequence", "Subscriptions", "Syntax", "ViolationKind", "Words",
}  # fmt: skip


def nouns(annotation: object) -> set[str]:
    """Return the names of types in an annotation, which is a string in all modules."""
    return set(re.findall(r"\b[A-Z]\w+", re.sub(r"'\w+'|\"\w+\"", "", str(annotation)))) - ALIASES


def test_all_that_is_named_is_there_in_order():
    assert assay.__all__ == sorted(assay.__all__)
    assert sorted([*FUNCTIONS, *CLASSES, "AssignorFunction", "Excess"]) == assay.__all__


def test_what_a_function_returns_and_raises_and_what_an_answer_holds_is_handed_out_too():
    for name in FUNCTIONS:
        function = getattr(assay, name)
        said = inspect.signature(function)
        after = function.__doc__.partition("Raises\n")[2].partition("Examples\n")[0]
        lines = re.findall(r"^ {4}([A-Z]\w+(?:, [A-Z]\w+)*)$", after, re.MULTILINE)
        raised = [error for line in lines for error in line.split(", ")]
        assert raised, name
        assert nouns(said.return_annotation) | set(raised) <= set(assay.__all__), name
    for name in {name for name in CLASSES if is_dataclass(getattr(assay, name))}:
        public = [one for one in fields(getattr(assay, name)) if not one.name.startswith("_")]
        assert public, name
        if name not in ("Group", "Fleet", "Scenario", "Journey"):
            held = set().union(*(nouns(field.type) for field in public))
            assert held <= set(assay.__all__), name


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
    assert re.findall(r"^license: (.+)$", cited, re.M) == [PROJECT["license"]]
    assert re.search(r"^date-released: 20\d\d-\d\d-\d\d$", cited, re.M)


def test_there_is_one_oldest_python_and_one_range_of_releases_of_each_package():
    oldest = PROJECT["requires-python"].removeprefix(">=")
    make = (ROOT / "Makefile").read_text("utf-8")
    assert {*re.findall(r"--python-version (\S+)", make)} == {oldest}
    for text in (make, (ROOT / "README.md").read_text("utf-8")):
        assert re.findall(r"needs Python (\S+) or later", text) == [oldest]
    ranges: dict[str, set[str]] = {}
    for needs in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()):
        for one in needs:
            ranges.setdefault(re.match(r"[\w-]+", one)[0], set()).add(one)
    several = {name for name, found in ranges.items() if len(found) > 1}
    assert several <= {PROJECT["name"]}


@pytest.mark.parametrize("door", [assay, groups])
def test_a_name_that_there_is_not_is_no_attribute(door):
    assert {*assay.__all__} <= {*dir(assay)}
    assert all(hasattr(door, name) for name in dir(door))
    with pytest.raises(AttributeError, match=f"module '{door.__name__}' has no attribute 'slove'"):
        _ = door.slove


READING = {"subscription": ["t0"]}
DOCUMENT = snapshot(
    "orders",
    {"t0": {"partitions": 3, "lag": [3, 1, 1]}},
    {"c0": READING | {"owned": {"t0": [0, 1, 2]}}, "c1": READING},
)


@pytest.fixture(scope="module")
def values(tmp_path_factory):
    """Values that callers may pass, by a description."""
    one = assay.Group.from_dict(DOCUMENT)
    other = assay.Group.from_dict(DOCUMENT | {"group": "other"})
    lines = [group.to_dict() for group in (one, other)]
    path = write(tmp_path_factory.mktemp("api"), {"both.jsonl": lines}) / "both.jsonl"
    both = assay.read_groups(path)
    return {
        "a group": one,
        "groups": both,
        "groups of one": both[:1],
        "a list of one": [one],
        "a tuple of two": (one, other),
        "an empty list": [],
        "a set": {one},
        "a fleet": assay.Fleet.of([one, other]),
        "a fleet of one": assay.Fleet.one(one),
        "a name": "range",
        "a path as text": str(path),
        "a path": path,
        "a document": DOCUMENT,
        "groups by name": {"orders": one},
        "documents": [DOCUMENT],
        "paths": [path],
        "a frame": both.to_frame(),
        "a solution": assay.solve(one),
        "solutions": assay.solve_many([one, other]),
        "an assignment": assay.Assignment.current(one),
        "a verdict": assay.judge(one)[0],
        "a class": assay.Group,
        "bytes": b"orders",
        "a number": 2,
        "a share": 0.5,
        "yes": True,
        "nothing": None,
    }


def weighing(group):
    return replace(group, weight=np.ones(group.n_partitions, np.int64))


@pytest.fixture(scope="module")
def calls(values):
    """Valid arguments of each function with which it is quick."""
    group, solution = values["a group"], values["a solution"]
    with assay.TimeLimit(2) as limit:
        yield {
            "advise": {"group": group, "assignors": (), "time_limit": 0.1, "limit": limit},
            "assign": {"group": group, "name": "range"},
            "check": {"group": group, "solution": solution},
            "differing": {"members": (2,)},
            "export": {"group": group},
            "fit": {"group": weighing(group), "capacity": 2, "time_limit": 0.1},
            "pods": {"group": group, "threads": 2},
            "frontier": {"group": group, "first": "balance", "second": "stickiness"},
            "grid": {"members": (2,), "most_partitions": 4},
            "hunt": {
                "assignor": "range", "promise": "balanced", "seconds": 0.01, "groups": 1,
                "exhaustive": False,
            },
            "judge": {"groups": [group]},
            "play": {
                "scenario": assay.Scenario.of_group(group, restarts=1), "assignors": ["range"],
                "limit": limit,
            },
            "read_groups": {"paths": values["a path"]},
            "roll_out": {"group": group, "name": "upgrade"},
            "score": {
                "group": group, "assignment": values["an assignment"], "solution": solution,
            },
            "score_assignors": {
                "group": group, "solution": solution, "assignors": ["range"], "limit": limit,
            },
            "size": {"group": group, "members": [2], "time_limit": 0.1},
            "solve": {"group": group},
            "solve_fleet": {"fleet": values["a fleet"]},
            "solve_many": {"groups": [group]},
            "solve_streams": {"group": assay.Group.from_dict(STREAMS)},
            "what_if": {"group": group, "members": 3},
            "worth_moving": {"group": group, "falls_by": 0.1, "time_limit": 0.1},
        }  # fmt: skip


@pytest.mark.parametrize("name", WITHOUT_SPARK)
def test_every_function_takes_what_is_meant_or_names_what_to_pass(name, values, calls):
    function, right = getattr(assay, name), calls[name]
    drained = list if name in ("grid", "differing") else lambda answer: answer
    drained(function(**right))
    refused = 0
    for parameter in inspect.signature(function).parameters:
        for value in values.values():
            try:
                drained(function(**(right | {parameter: value})))
            except assay.AssayError:
                refused += 1
    assert refused > len(values) / 2


@pytest.mark.parametrize("parameter", ["source", "out", "assignors", "objective", "conf", "reset"])
def test_a_run_refuses_what_it_does_not_take_before_it_starts_spark(parameter, values, tmp_path):
    for what in ("a frame", "a number", "a solution", "a group"):
        asked = {"source": tmp_path, "out": tmp_path, parameter: values[what]}
        with pytest.raises(assay.BadInput, match=rf"^{parameter}: .*, expected "):
            assay.run(**asked)


def test_one_group_stands_for_several_and_several_are_not_one(values):
    one, both = values["a group"], values["groups"]
    assert assay.solve(iter([one])).group.name == "orders"
    for given in (one, [one], values["groups of one"], values["a fleet of one"]):
        assert [judged.group.name for judged in assay.judge(given)] == ["orders"]
        assert assay.solve(given).group.name == "orders"
    assert [one.group.name for one in assay.solve_many(values["a fleet"])] == ["orders", "other"]
    assert len(assay.solve_fleet(both)) == 2
    said = {
        "groups": r"^group: 2 groups \(orders, other\), expected one: call solve for each of",
        "an empty list": "^group: 0 groups, expected one$",
        "a path": r"^group: PosixPath, expected a Group: read_groups\(path\) has those of a file",
        "nothing": "^group: None, expected a Group: ",
    }
    for what, message in said.items():
        with pytest.raises(assay.BadInput, match=message):
            assay.solve(values[what])


def test_python_and_the_command_take_a_rebalance_under_way_as_it_will_end(tmp_path):
    owned = {"c0": {"t0": [0, 1, 2]}, "c1": {}}
    target = {"c0": {"t0": [0]}, "c1": {"t0": [1, 2]}}
    members = {
        m: {"subscription": ["t0"], "owned": owned[m], "target": target[m]} for m in ("c0", "c1")
    }
    path = write(tmp_path, {"moving.json": DOCUMENT | {"members": members}}) / "moving.json"
    group = assay.read_groups(path)["orders"]
    (judged,) = assay.judge(group)
    said = json.loads(command("score", path, "--assignor", "current", "--format", "json").stdout)
    current = assay.score_assignors(group, assay.solve(group), ["current"])[0]
    terms = [(term.name, term.value) for term in current.terms]
    assert terms == [("balance", 1), ("stickiness", 0)]
    assert [(term["name"], term["value"]) for term in said["scores"][0]["terms"]] == terms
    assert judged.now.loads.tolist() == [1, 2]
    assert [line for line in judged.group.assumed if "a rebalance is under way" in line]
    # Documents of a solution and an assignment are also of the group at the rebalance's end.
    best = assay.solve(group)
    again = assay.Solution.from_dict(group, best.to_dict())
    assert assay.check(group, again) == ()
    made = assay.Assignment.from_dict(group, best.assignment.to_dict())
    assert [term.value for term in assay.score(group, made, again).terms] == [1, 0]


def test_methods_take_what_functions_take_and_refuse_alike(values):
    """A collection of one is its group, and what does not fit is one line."""
    one, few = values["a group"], values["groups of one"]
    held = {"c0": {"t0": [0]}, "c1": {"t0": [1, 2]}}
    solution = values["a solution"]
    limit = assay.TimeLimit(5)
    made = {
        "Assignment.from_dict": lambda group: assay.Assignment.from_dict(group, held),
        "Assignment.current": assay.Assignment.current,
        "Solution.from_dict": lambda group: assay.Solution.from_dict(group, solution.to_dict()),
        "Scenario.of_group": lambda group: assay.Scenario.of_group(group, restarts=1),
        "TimeLimit.plan": lambda group: limit.plan(group, "range"),
    }
    with limit:
        for name, make in made.items():
            assert type(make(few)) is type(make(one)), name
            for wrong, said in (
                ("groups", f": call {name} for each"),
                ("a path", ", expected a "),
            ):
                with pytest.raises(assay.BadInput, match=f"^group: .*{said}"):
                    make(values[wrong])
    shown = assay.Group.from_dict(
        DOCUMENT | {"members": {"c0": {"owned": {"t0": [0, 1]}}, "c1": {"owned": {"t0": [2]}}}}
    )
    assert assay.Scenario.of_group(shown, restarts=1).group.subscription_known.all()
    for method, wrong in (("with_rate", "5"), ("with_unknown_lag", 0.5), ("with_reset", 5)):
        with pytest.raises(assay.BadInput, match=rf"^\w+: {wrong!r}, expected a "):
            getattr(one, method)(wrong)


def test_what_is_no_text_is_told_that_one_is_expected(values):
    group = values["a group"]
    for call, message in (
        (lambda: assay.Group.from_json(b"{}"), "text: bytes, expected a text"),
        (lambda: assay.frontier(group, ["balance"], "moves"), "first: list, expected a text"),
    ):
        with pytest.raises(assay.BadInput, match=f"^{message}$"):
            call()


@pytest.mark.parametrize("name", ["advise", "frontier", "judge", "size", "solve", "solve_many"])
def test_a_time_below_0_is_none(name, calls):
    for seconds in (-1, float("nan")):
        with pytest.raises(assay.BadInput, match=r"^time_limit: .*, expected seconds, 0 or"):
            getattr(assay, name)(**(calls[name] | {"time_limit": seconds}))
        with pytest.raises(assay.BadInput, match=r"^seconds: .*, expected seconds, 0 or"):
            assay.TimeLimit(seconds)


def test_nothing_that_could_be_read_is_no_empty_answer(tmp_path, values):
    (tmp_path / "cut.txt").write_text("GROUP TOPIC PARTITION\norders t0\n")
    found = assay.read_groups(tmp_path / "cut.txt")
    assert repr(found) == "Groups(0 groups, 1 failure)"
    for function in (assay.judge, assay.solve, assay.solve_many):
        with pytest.raises(assay.BadInput, match=r"cut\.txt"):
            function(found)
    with pytest.raises(IndexError, match=r"^no group 99: there are 2 groups$"):
        values["groups"][99]
    with pytest.raises(assay.BadInput, match=r"expected a path or several, not the text itself$"):
        assay.read_groups("GROUP TOPIC PARTITION\norders t0 0\n")
    half = [DOCUMENT, {"format": "assay-group/1", "group": "b"}]
    file = write(tmp_path, {"damaged.jsonl": half}) / "damaged.jsonl"
    with pytest.raises(assay.BadInput, match=r"1 group \(orders\) and 1 failure, expected one"):
        assay.solve(assay.read_groups(file))


def test_numbers_of_numpy_are_numbers_and_come_back_as_numbers_of_json(values):
    group, two = weighing(values["a group"]), np.int64(2)
    for found in (
        assay.fit(group, two),
        assay.pods(group, two),
        assay.size(group.with_unknown_lag(two), target={"peak_lag": two}, members=[two]),
        assay.solve(group, at_most={"stickiness": two}, time_limit=np.float32(1)),
        group.with_rate(two),
    ):
        assert json.loads(json.dumps(found.to_dict()))


def test_a_function_and_what_it_gives_are_pickled(values):
    assert pickle.loads(pickle.dumps(assay.solve)) is assay.solve
    assert inspect.signature(assay.solve) == inspect.signature(sure.solve)
    groups = list(values["groups"])
    fleet = assay.Fleet.of(groups)
    for found in (fleet, fleet.only(np.ones(len(groups), bool)), assay.Fleet.one(groups[0])):
        again = pickle.loads(pickle.dumps(found))
        assert again.alone(0).to_dict() == groups[0].to_dict()
        assert again.other_claims.tolist() == found.other_claims.tolist()
    for found in (assay.solve_many(groups), assay.judge(groups)):
        again = pickle.loads(pickle.dumps(found))
        assert again.to_frame().equals(found.to_frame())
    assert (groups[0].name in found, found[0] in found, "nobody" in found) == (True, True, False)
