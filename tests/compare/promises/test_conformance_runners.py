"""The runners of the corpus: each in its language, against assignors as they ship."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compare.promises.conformance import ASKED, FOLDER, file_of
from heuristics import assignor_named
from heuristics.shipped.cache import cache_folder
from heuristics.shipped.consumers.library import FRANZ_GO
from heuristics.shipped.java import jars

pytestmark = pytest.mark.clients

RUNNERS = FOLDER / "runners"
SECONDS = 120
# Of all but those that wait for what hangs; racks are for who looks at them.
FILES = tuple(name for name in ASKED if name not in ("terminates", "settles", "racks"))
COUNTS = re.compile(r"([a-z-]+): (\d+) kept, (\d+) broken, (\d+) not tested, (\d+) only recipes")


def called(name):
    """The name of an assignor with its release, where it can be called here."""
    one = assignor_named(name)
    if (reason := one.missing()) is not None:
        pytest.skip(reason)
    return one.name


def needed(tool):
    if shutil.which(tool) is None:
        pytest.skip(f"no {tool} on the PATH")


def ran(command, folder, promises=FILES):
    """Run a runner on files; return by promise the ids of what is broken, and the counts."""
    files = [str(FOLDER / f"{promise}.json") for promise in promises]
    done = subprocess.run(
        [*map(str, command), *files], cwd=folder, text=True, timeout=SECONDS, check=False,
        capture_output=True,
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
    """By promise, the ids of what an assignor breaks by the files; a runner knows no recipes."""
    return {
        promise: [
            one["id"]
            for one in file_of(promise)["instances"]
            if "group" in one and assignor in one.get("broken_by", ())
        ]
        for promise in promises
    }


def test_the_runner_in_python_finds_what_the_files_say_of_aiokafka(tmp_path):
    name = called("aiokafka/sticky")
    shutil.copytree(RUNNERS / "python", tmp_path, dirs_exist_ok=True)
    found = ran([sys.executable, "conformance.py"], tmp_path)
    assert found == in_the_files(name)
    said = f"{len(found['optimal-balance'])} broken, 0 not tested, 14 only recipes"
    assert said in (FOLDER / "README.md").read_text("utf-8")


def test_the_runner_in_go_finds_what_the_files_say_of_franz_go(tmp_path):
    name = called("franz-go/sticky")
    needed("go")
    shutil.copytree(RUNNERS / "go", tmp_path, dirs_exist_ok=True)
    FRANZ_GO.driver.take_recorded(name.partition("@")[2], tmp_path)
    built = subprocess.run(
        ["go", "build", "-o", "runner", "."], cwd=tmp_path, env={**os.environ, "CGO_ENABLED": "0"},
        capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    assert ran(["./runner"], tmp_path) == in_the_files(name)


@pytest.fixture(scope="module")
def in_java(tmp_path_factory):
    """The command of the runner in Java; the class of the assignor and the files come after it."""
    version = called("kafka-broker/uniform").partition("@")[2]
    folder = tmp_path_factory.mktemp("java")
    # These have Jackson beside the classes of the client.
    places = jars.noted("kafka-group-coordinator", version)
    ours = (Path(jars.__file__).parent / "sources" / "assignor" / "assay").rglob("*.java")
    reason = jars.compile_java([*(RUNNERS / "java").glob("*.java"), *ours], places, folder)
    assert reason is None
    java, path = jars.java_home() / "bin" / "java", os.pathsep.join(map(str, [folder, *places]))
    return lambda name: [java, *jars.SHORT_LIVED, "-cp", path, f"-Dassignor={name}", "Conformance"]


@pytest.mark.parametrize(
    ("class_name", "assignor", "promises"),
    [
        ("StickyAssignor", "kafka-java/sticky", FILES),
        (
            "CooperativeStickyAssignor",
            "kafka-java/cooperative-sticky",
            (*FILES, "settles", "racks"),
        ),
    ],
)
def test_the_runner_in_java_finds_what_the_files_say_of_kafkas(
    in_java, tmp_path, class_name, assignor, promises
):
    name = called(assignor)
    found = ran(in_java(f"org.apache.kafka.clients.consumer.{class_name}"), tmp_path, promises)
    assert found == in_the_files(name, promises)
    assert found["valid"]


@pytest.mark.parametrize("class_name", ["OptimalAssignor", "CooperativeOptimalAssignor"])
def test_our_own_assignors_in_java_keep_every_promise(in_java, tmp_path, class_name):
    promises = (*FILES, "terminates", "settles")
    found = ran(in_java(f"assay.consumer.{class_name}"), tmp_path, promises)
    assert not any(found.values())


def balances_least(found):
    """The small assignor of the runners in Rust and C++ is balanced, and does not see chains."""
    assert not any(found[promise] for promise in ("answers", "valid", "balanced", "idempotent"))
    assert len(found["optimal-balance"]) > 5
    assert len(found["optimal-moves"]) > 5


def test_the_runner_in_rust_judges_its_own_assignor(tmp_path):
    needed("cargo")
    shutil.copytree(RUNNERS / "rust", tmp_path, dirs_exist_ok=True)
    built = subprocess.run(
        ["cargo", "build", "-q"], cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS,
        env={**os.environ, "CARGO_TARGET_DIR": str(cache_folder("rust"))}, check=False,
    )  # fmt: skip
    if "failed to get `serde_json`" in built.stderr or "failed to download" in built.stderr:
        pytest.skip("serde_json cannot be fetched")
    assert built.returncode == 0, built.stderr
    balances_least(ran([cache_folder("rust") / "debug" / "conformance"], tmp_path))


def test_the_runner_in_cpp_judges_its_own_assignor(tmp_path):
    needed("g++")
    if not Path("/usr/include/nlohmann/json.hpp").is_file():
        pytest.skip("nlohmann/json is not here: apt-get install nlohmann-json3-dev")
    command = ["g++", "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-pthread"]
    command += [str(RUNNERS / "cpp" / "conformance.cpp"), "-o", str(tmp_path / "runner")]
    built = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert built.returncode == 0, built.stderr
    balances_least(ran([tmp_path / "runner"], tmp_path))
