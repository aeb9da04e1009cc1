"""Where a run's Spark is, and what is refused before one is started."""

import re
import stat

import pytest

from compare.fleet.session import conf_of, master_of, runs_here
from groups.errors import BadInput
from groups.files import ENDINGS, PARQUET, find
from tests.assay.calling import LOPSIDED, assay, one_line, started, write
from tests.compare.fleet.cluster import free_port


@pytest.fixture
def run(tmp_path):
    """Give a function that starts a run which must be refused, and returns its last line."""
    write(tmp_path, {"g.json": LOPSIDED})

    def refused(*more: str, code: int = 2, **environment: str) -> str:
        ran = started("run", "g.json", "--out", "out", *more, cwd=tmp_path, **environment)
        assert ran.returncode == code, ran.stderr
        *_, last = ran.stderr.splitlines()
        assert "Traceback" not in ran.stderr
        return last

    return refused


def test_a_folder_without_snapshots_is_bad_input(tmp_path):
    (tmp_path / "notes.md").write_text("nothing here")
    looked = f"no snapshot in this folder (looked for {', '.join((*ENDINGS, PARQUET))})"
    with pytest.raises(BadInput, match=re.escape(looked)):
        list(find([str(tmp_path)]))
    said = one_line(assay("run", tmp_path, "--out", tmp_path / "out"), 2)
    assert said.startswith(f"{tmp_path}: no snapshot in this folder")
    assert not (tmp_path / "out").exists()


def test_an_output_folder_that_is_a_file_is_bad_input(tmp_path):
    write(tmp_path, {"g.json": LOPSIDED, "out": ""})
    said = one_line(assay("run", tmp_path, "--out", tmp_path / "out"), 2)
    assert said == f"{tmp_path / 'out'}: not a folder"


def test_a_master_is_all_cores_here_unless_one_is_given_or_the_environment_names_a_server(
    monkeypatch,
):
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    assert master_of(None) == "local[*,3]"
    assert master_of("local[2]") == "local[2]"
    monkeypatch.setenv("SPARK_REMOTE", "sc://one:15002")
    assert master_of(None) == "sc://one:15002"
    assert not runs_here(None)
    assert runs_here("local[2]")
    assert not runs_here("spark://one:7077")
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    assert not runs_here(None)


def test_spark_submit_has_chosen_a_master(monkeypatch):
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    assert master_of(None) is None
    with pytest.raises(BadInput, match=r"^master: yarn, but spark-submit has a --master of its"):
        master_of("yarn")


@pytest.mark.parametrize("master", ["", "spark:/one", "local[]", "mesos://one:5050", "yarn "])
def test_what_is_no_master_is_refused(master):
    if not master:
        assert master_of(master) == master_of(None)
        return
    with pytest.raises(BadInput, match=r"^master: .*, expected local\[N\], spark://HOST:PORT, "):
        master_of(master)


def test_settings_are_pairs_with_keys_of_sparks():
    given = ["spark.executor.memory=2g", "spark.executor.extraJavaOptions=-Da=b"]
    assert conf_of(given) == {
        "spark.executor.memory": "2g",
        "spark.executor.extraJavaOptions": "-Da=b",
    }
    for wrong in ("spark.executor.memory", "executor.memory=2g"):
        with pytest.raises(BadInput, match=r"^conf: .*, expected spark\.KEY=VALUE$"):
            conf_of([wrong])
    with pytest.raises(BadInput, match="but a master is given, too"):
        conf_of(["spark.master=yarn"])


@pytest.mark.parametrize("kind", ["spark", "sc"])
def test_a_cluster_that_does_not_answer_is_said_at_once(run, kind):
    master = f"{kind}://127.0.0.1:{free_port()}"
    assert run("--master", master) == (
        f"assay: --master: {master}: nobody answers there: Connection refused"
    )


def test_a_java_that_does_not_start_is_one_line_with_what_it_said_last(run, tmp_path):
    java = tmp_path / "java" / "bin" / "java"
    java.parent.mkdir(parents=True)
    (java.parent.parent / "release").write_text('JAVA_VERSION="17.0.1"\n')
    java.write_text(
        "#!/bin/sh\necho 'Error: Could not create the Java Virtual Machine.' >&2\nexit 1\n"
    )
    java.chmod(java.stat().st_mode | stat.S_IXUSR)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    home = str(java.parent.parent)
    assert run(JAVA_HOME=home, TMPDIR=str(scratch), code=3) == (
        "assay: an error inside: Spark did not start on local[*,3]: "
        "Error: Could not create the Java Virtual Machine."
    )
    assert [*scratch.iterdir()] == []
