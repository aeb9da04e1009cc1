"""What somebody gets who installs the project: every file that it needs, and the types."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from glob import glob
from pathlib import Path

import numpy as np
import pytest

from tests.processes import in_python

ROOT = Path(__file__).parents[2]
PACKAGES = ("assay", "compare", "groups", "heuristics", "optimal")
CONSUMER = """
from assay import Excess, Group, Score, Solution, Status, Violation
from assay import assign, check, frontier, hunt, score, solve

def excess(path: str) -> dict[str, Excess]:
    group = Group.read(path)
    solution: Solution = solve(group, "balance > stickiness", time_limit=10)
    if solution.status is not Status.OPTIMAL or solution.assignment is None:
        return {}
    not_checked: tuple[str, ...] = check(group, solution)
    row: Score = score(group, assign(group, "range"), solution)
    first: Violation | None = row.violations[0] if row.violations else None
    values: list[int] = [point.first_value for point in frontier(group, "balance", "racks")]
    found = hunt("range", "balanced", seconds=1)
    smallest: Group | None = None if found.quarry is None else found.quarry.group
    print(not_checked, first, values, smallest)
    return {term.name: term.excess for term in row.terms or ()}
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in (*PACKAGES, "studies", "corpus"):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "node_modules")
        shutil.copytree(ROOT / name, source / name, ignore=ignored)
    build = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
    assert in_python("-c", build, made, cwd=source).returncode == 0
    (found,) = made.glob("*.whl")
    return found


def test_the_wheel_holds_every_file_of_the_packages_and_no_other(wheel):
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    # glob follows the link to the sources in java/, and rglob does not.
    files = [f for name in PACKAGES for f in glob(f"{name}/**", root_dir=ROOT, recursive=True)]
    skipped = {"__pycache__", "node_modules"}
    ours = {f for f in files if (ROOT / f).is_file() and not skipped & {*Path(f).parts}}
    promises = glob("corpus/conformance/*.json", root_dir=ROOT)
    assert held == ours | {"corpus/findings.jsonl", "corpus/task-findings.jsonl", *promises}
    assert len(held) > 150
    assert {f"{package}/py.typed" for package in PACKAGES} <= held


def test_a_finding_is_reproduced_from_what_is_installed(wheel, tmp_path):
    (tmp_path / "work").mkdir()
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "packages")
    command = [
        sys.executable,
        "-P",
        "-m",
        "assay",
        "reproduce",
        "kafkajs-RoundRobinAssigner-valid",
    ]
    run = subprocess.run(
        [*command, "--out", "program"],
        cwd=tmp_path / "work",
        env={**os.environ, "PYTHONPATH": str(tmp_path / "packages")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "this fails where the finding is reproduced\n")
    assert run.stdout == "cd program && npm install-test\n"
    written = {one.name for one in (tmp_path / "work" / "program").iterdir()}
    assert written == {"package.json", "kafkajs-RoundRobinAssigner-valid.test.js"}


@pytest.mark.exhaustive
def test_a_program_of_somebody_else_is_type_checked_against_what_is_installed(wheel, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    (packages,) = (tmp_path / "venv" / "lib").glob("*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    # Beside it stands what it requires. To check all that is installed here took 6 times as long.
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for needed in project["dependencies"]:
        name = needed.partition(">=")[0]
        (packages / name).symlink_to(Path(np.__file__).parents[1] / name)
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(CONSUMER)
    wrong.write_text(CONSUMER.replace("dict[str, Excess]", "dict[str, str]"))
    python = tmp_path / "venv" / "bin" / "python"
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", python]
    run = subprocess.run(
        [*command, right.name, wrong.name], cwd=tmp_path, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert re.search(r"^wrong\.py:\d+: error: ", run.stdout)
    assert "Found 1 error in 1 file (checked 2 source files)" in run.stdout
