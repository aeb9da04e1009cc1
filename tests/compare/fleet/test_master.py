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


def test_a_folder_without_snapshots_and_an_output_folder_that_is_a_file_are_bad_input(tmp_path):
    out = write(tmp_path, {"notes.md": "nothing here"}) / "out"
    kinds = ", ".join((*ENDINGS, PARQUET))
    looked = f"{tmp_path}: no snapshot in this folder (looked for {kinds})"
    with pytest.raises(BadInput, match=re.escape(looked)):
        list(find([str(tmp_path)]))
    assert one_line(assay("run", tmp_path, "--out", out), 2) == looked
    assert not out.exists()
    write(tmp_path, {"g.json": LOPSIDED, "out": ""})
    assert one_line(assay("run", tmp_path, "--out", out), 2) == f"{out}: not a folder"


def test_a_master_is_all_cores_here_unless_given_or_chosen_by_the_environment_or_spark_submit(
    monkeypatch,
):
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    assert master_of(None) == master_of("") == "local[*,3]"
    assert master_of("local[2]") == "local[2]"
    monkeypatch.setenv("SPARK_REMOTE", "sc://one:15002")
    assert master_of(None) == "sc://one:15002"
    assert not runs_here(None)
    assert runs_here("local[2]")
    assert not runs_here("spark://one:7077")
    for master in ("spark:/one", "local[]", "mesos://one:5050", "yarn "):
        with pytest.raises(BadInput, match=r"^master: .*, expected local\[N\], spark://HOST:POR"):
            master_of(master)
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    assert not runs_here(None)
    assert master_of(None) is None
    with pytest.raises(BadInput, match=r"^master: yarn, but spark-submit has a --master of its"):
        master_of("yarn")


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
