import subprocess

from compare.fleet.circumstances import commit, processor


def git(folder, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    command = ["git", "-C", str(folder), *who, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_the_commit_has_a_plus_where_files_differ_from_it(tmp_path):
    assert commit(tmp_path) is None
    git(tmp_path, "init")
    assert commit(tmp_path) is None
    (tmp_path / "a").write_text("one")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-m", "one")
    head = git(tmp_path, "rev-parse", "HEAD")
    assert commit(tmp_path) == head
    (tmp_path / "a").write_text("two")
    assert commit(tmp_path) == f"{head}+"


def test_the_processor_is_named_with_its_cores():
    name, _, cores = processor().rpartition(", ")
    assert name
    assert int(cores.split()[0].replace(",", "")) >= 1
