"""The runners of the corpus: each language's program, with assignors as they ship."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compare.promises.conformance import ASKED, FOLDER, file_of
from heuristics.shipped.cache import cache_folder
from heuristics.shipped.consumers.go_driver import go_variables
from heuristics.shipped.consumers.library import FRANZ_GO
from heuristics.shipped.java import jars
from tests.clients import called

pytestmark = pytest.mark.clients

RUNNERS = FOLDER / "runners"
SECONDS = 120
# Not the promises that wait for a hang or ask round by round, nor racks, which few use.
FILES = tuple(name for name in ASKED if name not in ("terminates", "settles", "racks"))
COUNTS = re.compile(r"([a-z-]+): (\d+) kept, (\d+) broken, (\d+) not tested, (\d+) only recipes")


def needed(tool):
    if shutil.which(tool) is None:
        pytest.skip(f"no {tool} on the PATH")


def built(*command, **options):
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, timeout=SECONDS, check=False,
        **options,
    )  # fmt: skip
    if "failed to get `serde_json`" in done.stderr or "failed to download" in done.stderr:
        pytest.skip("serde_json cannot be fetched")
    assert done.returncode == 0, done.stderr


def ran(command, promises=FILES, *more):
    """Judge a program by files; return the ids of the instances that it breaks, by promise."""
    files = [FOLDER / f"{promise}.json" for promise in promises]
    program = shlex.join(map(str, command))
    done = subprocess.run(
        [*map(str, [sys.executable, RUNNERS / "conformance.py", program, *files, *more])],
        text=True, timeout=SECONDS, check=False, capture_output=True,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    counts = {
        found[1]: [*map(int, found.groups()[1:])]
        for found in map(COUNTS.fullmatch, lines)
        if found
    }
    assert list(counts) == list(promises), done.stderr[-2000:]
    broken = {promise: [] for promise in promises}
    for line in lines:
        promise, _, rest = line.partition(" ")
        if promise in broken:
            broken[promise].append(rest.partition(" ")[0])
    for promise, (kept, bad, untested, recipes) in counts.items():
        assert bad == len(broken[promise])
        assert kept + bad + untested + recipes == len(file_of(promise)["instances"])
    assert done.returncode == (1 if any(broken.values()) else 0)
    return broken


def in_the_files(assignor, promises=FILES):
    """Return the ids of instances, but not recipes, that an assignor breaks by the files."""
    return {
        promise: [
            one["id"]
            for one in file_of(promise)["instances"]
            if "group" in one and assignor in one.get("broken_by", ())
        ]
        for promise in promises
    }


def test_the_runner_in_python_finds_what_the_files_say_of_aiokafka():
    name = called("aiokafka/sticky").name
    found = ran([sys.executable, RUNNERS / "python" / "assign.py"])
    assert found == in_the_files(name)
    said = f"{len(found['optimal-balance'])} broken, 0 not tested, 14 only recipes"
    assert said in (FOLDER / "README.md").read_text("utf-8")


def test_the_runner_in_go_finds_what_the_files_say_of_franz_go(tmp_path):
    name = called("franz-go/sticky").name
    needed("go")
    shutil.copy(RUNNERS / "go" / "assign.go", tmp_path)
    FRANZ_GO.take_recorded(name.partition("@")[2], tmp_path)
    environment = {**os.environ, **go_variables()}
    built("go", "build", "-o", "assign", ".", cwd=tmp_path, env=environment)
    assert ran([tmp_path / "assign"]) == in_the_files(name)


@pytest.fixture(scope="module")
def in_java(tmp_path_factory):
    """Give a function that returns the Java program's command for an assignor's class."""
    version = called("kafka-broker/uniform").name.partition("@")[2]
    folder = tmp_path_factory.mktemp("java")
    # These have Jackson beside the classes of the client.
    places = jars.noted("kafka-group-coordinator", version)
    ours = (Path(jars.__file__).parent / "sources" / "assignor" / "assay").rglob("*.java")
    reason = jars.compile_java([RUNNERS / "java" / "Assign.java", *ours], places, folder)
    assert reason is None
    java, path = jars.java_home() / "bin" / "java", os.pathsep.join(map(str, [folder, *places]))
    return lambda name: [java, *jars.SHORT_LIVED, "-cp", path, f"-Dassignor={name}", "Assign"]


def test_the_runner_in_java_finds_what_the_files_say_of_kafkas(in_java):
    for class_name, assignor, more, options in (
        ("StickyAssignor", "kafka-java/sticky", ("terminates",), ()),
        ("CooperativeStickyAssignor", "kafka-java/cooperative-sticky", ("settles", "racks"),
         ("--cooperative",)),
    ):  # fmt: skip
        promises = (*FILES, *more)
        command = in_java(f"org.apache.kafka.clients.consumer.{class_name}")
        found = ran(command, promises, *options)
        assert found == in_the_files(called(assignor).name, promises)
        assert all(found[promise] for promise in ("answers", "valid", *more))


def test_our_own_assignors_in_java_keep_every_promise(in_java):
    promises = (*FILES, "terminates", "settles")
    for class_name, options in (
        ("OptimalAssignor", ()),
        ("CooperativeOptimalAssignor", ("--cooperative",)),
    ):
        found = ran(in_java(f"assay.consumer.{class_name}"), promises, *options)
        assert not any(found.values())


def balances_least(found):
    """Require that the Rust and C++ runners' assignor is balanced, but breaks both optima."""
    assert not any(found[promise] for promise in ("answers", "valid", "balanced", "idempotent"))
    assert len(found["optimal-balance"]) > 5
    assert len(found["optimal-moves"]) > 5


def test_the_runner_in_rust_judges_its_own_assignor(tmp_path):
    needed("cargo")
    shutil.copytree(RUNNERS / "rust", tmp_path, dirs_exist_ok=True)
    target = cache_folder("rust")
    built(
        "cargo", "build", "-q", cwd=tmp_path, env={**os.environ, "CARGO_TARGET_DIR": str(target)}
    )
    balances_least(ran([target / "debug" / "assign"]))


def test_the_runner_in_cpp_judges_its_own_assignor(tmp_path):
    needed("g++")
    if not Path("/usr/include/nlohmann/json.hpp").is_file():
        pytest.skip("nlohmann/json is not here: apt-get install nlohmann-json3-dev")
    warned = ("-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror")
    built("g++", *warned, RUNNERS / "cpp" / "assign.cpp", "-o", tmp_path / "assign")
    balances_least(ran([tmp_path / "assign"]))
