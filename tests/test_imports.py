"""Who may import whom, and what an import may not load."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from graphlib import CycleError, TopologicalSorter
from inspect import unwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAY_IMPORT = {
    "groups": set(),
    "optimal": {"groups"},
    "heuristics": {"groups"},
    "compare": {"groups", "optimal", "heuristics"},
    "live": {"groups", "optimal", "heuristics", "compare"},
    "assay": {"groups", "optimal", "heuristics", "compare", "live"},
    "broker": {"groups", "heuristics"},
    "studies": {"groups", "optimal", "heuristics", "compare", "live", "broker"},
}
BESIDE = {"benchmarks", "notebooks", "tests"}
HEAVY = {
    "ortools",
    "pandas",
    "pyarrow",
    "pyspark",
    "altair",
    "pulp",
    "jpype",
    "jgo",
    "cjdk",
    "vl_convert",
    "kafka",
    "aiokafka",
    "confluent_kafka",
    "prometheus_client",
}
HELP = """
sys.argv = ["assay", "--help"]
from contextlib import redirect_stdout, suppress
from io import StringIO
from assay.cli import main
with redirect_stdout(StringIO()), suppress(SystemExit):
    main()
"""
FILES = sorted(path for package in MAY_IMPORT for path in (ROOT / package).rglob("*.py"))


def imports(path: Path) -> tuple[tuple[str, str], ...]:
    """Every module that a file imports and what it takes from it, "" for the module itself.

    Those inside functions and for type checkers too.
    """
    return imports_in(path.read_text(), path.relative_to(ROOT).parent.parts)


@cache
def imports_in(text: str, package: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else ()
            module = ".".join((*above, *filter(None, [node.module])))
            found += ((module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Call):
            called = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
            if called == "import_module":
                found += ((a.value, "") for a in node.args if isinstance(a, ast.Constant))
    return tuple(found)


def imported(path: Path) -> set[str]:
    """Every module that a file imports, and the dotted names that it takes from them."""
    found = imports(path)
    return {module for module, _ in found} | {f"{module}.{name}" for module, name in found if name}


def circle(files: Iterable[Path]) -> list[str]:
    """Modules that import each other in a circle; none where there is no such circle.

    Loading a module runs the packages around it too: that is no import of theirs.
    """
    module_of = {}
    for path in files:
        parts = path.relative_to(ROOT).with_suffix("").parts
        module_of[path] = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    modules = set(module_of.values())
    after = {}
    for path, module in module_of.items():
        dotted = ((one, f"{one}.{name}") for one, name in imports(path))
        after[module] = {longer if longer in modules else one for one, longer in dotted} & modules
    try:
        TopologicalSorter(after).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def tops(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in imported(path)}


def loaded_by(statement: str) -> set[str]:
    """Every module that is loaded once a fresh interpreter has run a statement."""
    program = f"import sys\n{statement}\nprint(*sys.modules)"
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_every_package_of_the_project_has_its_place_in_the_order():
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - BESIDE
    assert packages <= MAY_IMPORT.keys()
    assert {path.relative_to(ROOT).parts[0] for path in FILES} == packages
    assert len(FILES) > 40


def test_imports_point_to_the_left():
    wrong = {}
    for path in FILES:
        package = path.relative_to(ROOT).parts[0]
        ours = tops(path) & (MAY_IMPORT.keys() | BESIDE)
        if more := ours - MAY_IMPORT[package] - {package}:
            wrong[str(path.relative_to(ROOT))] = more
    assert wrong == {}


def test_no_modules_import_each_other_in_a_circle():
    assert circle([*FILES, *(ROOT / "benchmarks").rglob("*.py")]) == []


@pytest.mark.parametrize(
    "back",
    [
        "from groups.one import f",
        "from groups import one",
        "from . import one",
        "def late():\n    import groups.one",
        "if TYPE_CHECKING:\n    from groups.one import f",
        "def late():\n    return import_module('groups.one')",
    ],
)
def test_a_circle_is_found_however_late_it_closes(monkeypatch, tmp_path, back):
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    folder = tmp_path / "groups"
    folder.mkdir()
    files = [folder / name for name in ("__init__.py", "one.py", "two.py")]
    texts = ("from groups.one import f", "import groups.two", back)
    for path, text in zip(files, texts, strict=True):
        path.write_text(text)
    found = circle(files)
    assert set(found) == {"groups.one", "groups.two"}
    files[2].write_text("import groups.three")
    assert circle(files) == []


def test_spark_is_imported_in_the_room_of_the_fleet_and_nowhere_else():
    users = {path.relative_to(ROOT).parent for path in FILES if "pyspark" in tops(path)}
    room = Path("compare/fleet")
    assert users
    assert {user for user in users if room not in (user, *user.parents)} == set()


ROOMS = ("budgets",)


def test_the_checker_imports_no_solver_and_of_the_solving_code_only_what_a_solution_is():
    rules = ("budgets/budget",)
    counting = ("enumeration", "formulations", "recount")
    checker = ("asks", "case", "certificate", "form", "proof", "solution", *counting, *rules)
    for name in (*checker, "audit", "evidence"):
        path = ROOT / f"optimal/{name}.py"
        ours = {name for name in imported(path) if name.startswith("optimal.")}
        rooms = {name for name in ours if name.split(".")[1] in ROOMS}
        assert {name.split(".")[1] for name in ours - rooms} <= {*checker, "evidence"}
        assert {"/".join(name.split(".")[1:3]) for name in rooms} <= {*rules}
        assert tops(path) & (HEAVY | {"scipy", "networkx"}) == set()


@pytest.mark.parametrize("name", ["case", "certificate", "asks"])
def test_the_checker_that_one_reads_is_plain_python_of_300_lines_at_most(name):
    path = ROOT / f"optimal/{name}.py"
    assert "numpy" not in tops(path)
    assert len(path.read_text("utf-8").splitlines()) <= 300


def test_the_formulations_share_no_model():
    """What each of them knows of a tier it has from ``groups`` or says itself."""
    shared = {"optimal.answer", "optimal.formulations", "optimal.proof", "optimal.solution"}
    own = {
        "brute": {"optimal.enumeration"},
        "enumeration": set(),
        "cpsat": set(),
        "ilp": set(),
    }
    for name, may in own.items():
        modules = {module for module, _ in imports(ROOT / f"optimal/{name}.py")}
        assert {module for module in modules if module.startswith("optimal")} <= shared | may


@pytest.mark.parametrize(
    "statement",
    [
        "import assay",
        "import groups",
        "import heuristics",
        "import compare",
        "from assay import *",
        "from optimal import solve",
        "import optimal.certificate",
        "import groups.importers",
        "import assay.cli",
        HELP,
    ],
)
def test_nothing_heavy_is_loaded_before_it_is_used(statement):
    assert {name.partition(".")[0] for name in loaded_by(statement)} & HEAVY == set()


@pytest.mark.parametrize("statement", ["import assay", HELP])
def test_the_door_maps_no_shared_library_of_a_package(statement):
    """What a client or a solver brings may be loaded without its module: librdkafka was."""
    reading = "\nfrom pathlib import Path\nprint(Path('/proc/self/maps').read_text())"
    loaded = {Path(word) for word in loaded_by(statement + reading) if ".so" in word}
    assert loaded
    assert [path for path in loaded if "site-packages" in path.parts] == []


def test_the_door_loads_nothing_before_it_is_asked_for():
    ours = {name for name in loaded_by("import assay") if name.partition(".")[0] in MAY_IMPORT}
    assert ours == {"assay", "groups", "groups.exports"}


def test_help_loads_the_list_of_commands_and_no_command():
    loaded = loaded_by(HELP)
    ours = {name for name in loaded if name.partition(".")[0] in MAY_IMPORT}
    ours = {name.removeprefix("assay.") for name in ours}
    door = {"assay", "cli", "menu", "progress", "signals", "streams"}
    assert ours == {*door, "groups", "groups.errors", "groups.exports"}
    assert loaded.isdisjoint({"numpy", "asyncio", "rich"})


@pytest.mark.parametrize("owned", [{}, {"owned": {"t": [0, 1]}}])
def test_scoring_a_small_group_of_equal_readers_loads_no_solver(owned):
    members = {"a": {"subscription": ["t"]} | owned, "b": {"subscription": ["t"]}}
    group = {"format": "assay-group/1", "group": "g", "topics": {"t": 2}, "members": members}
    statement = f"""
import os
from io import BytesIO, TextIOWrapper
os.environ["ASSAY_DEBUG"] = "1"
sys.stdin = TextIOWrapper(BytesIO({json.dumps(group).encode()!r}))
{HELP.replace('"--help"', '"score", "-", "--assignor", "range"')}"""
    loaded = loaded_by(statement)
    assert {name.partition(".")[0] for name in loaded} & HEAVY == set()
    assert not {"ssl", "live.connection"} & loaded


def test_checking_a_certificate_loads_no_solver():
    statement = """
from pathlib import Path
from groups import Group
from optimal import Solution, check
document = {"format": "assay-group/1", "group": "g", "topics": {"t": 2},
            "members": {"a": {"subscription": ["t"]}, "b": {"subscription": ["t"]}}}
solution = {"format": "assay-solution/1", "objective": ["balance", "stickiness"],
            "status": "optimal", "stopped": "proof", "method": "flow",
            "terms": [{"name": "balance", "value": 0, "bound": 0},
                      {"name": "stickiness", "value": 0, "bound": 0}],
            "assignment": {"a": {"t": [0]}, "b": {"t": [1]}},
            "proof": {"kind": "certificate", "level": {"a": 0, "b": 0},
                      "price": {"a": 0, "b": 0}}}
group = Group.from_dict(document)
assert check(group, Solution.from_dict(group, solution)) == ()
"""
    loaded = loaded_by(statement)
    assert {name.partition(".")[0] for name in loaded} & HEAVY == set()
    methods = ("flow", "loads", "cpsat", "ilp", "brute", "elastic")
    assert not {f"optimal.{method}" for method in methods} & loaded


@pytest.mark.parametrize(
    ("method", "solver"),
    [("auto", "ortools"), ("flow", "ortools"), ("cp-sat", "ortools"), ("ilp", "pulp")],
)
def test_the_seconds_of_a_solve_begin_when_its_solver_is_loaded(method, solver):
    statement = f"""
import sys
from groups import Group
from optimal import solve
topics = {{"t": 2, "u": 3}}
members = {{"a": {{"subscription": ["t"]}}, "b": {{"subscription": ["t", "u"]}}}}
group = Group.from_dict({{"format": "assay-group/1", "group": "g", "topics": topics,
                         "members": members}})
door, seen = sys.modules["optimal.solve"], []
door.perf_counter = lambda: seen.append(set(sys.modules)) or 0.0
solve(group, method={method!r})
start, *_, end = seen
assert {solver!r} in start
assert not {{name for name in end - start if name.startswith(({solver!r}, "optimal"))}}
"""
    loaded_by(statement)


def test_the_door_hands_out_the_objects_of_the_packages():
    import assay
    import groups
    import heuristics
    import optimal

    assert assay.Group is groups.Group
    assert assay.Assignment is groups.Assignment
    # `assay` wraps a function to check its arguments first.
    for package, names in ((optimal, "frontier solve_many"), (heuristics, "assign")):
        for name in names.split():
            assert unwrap(getattr(assay, name)) is getattr(package, name)


@pytest.mark.parametrize("client", ["kafka_python", "aiokafka"])
def test_a_consumer_that_names_the_assignor_loads_its_client_and_no_solver(client):
    before = "import warnings; warnings.simplefilter('ignore')\n"
    loaded = loaded_by(f"{before}from live.{client} import OptimalAssignor")
    tops_loaded = {name.partition(".")[0] for name in loaded}
    assert tops_loaded & (HEAVY | {"numpy", "matplotlib"}) == {client.removesuffix("_python")}
