"""The archive of Java's classes: one for each environment, those used last stay."""

import os

import pytest

from compare.runs.session.java import LEAST_BYTES, MOST_ARCHIVES, archive_of, java_options
from compare.runs.session.java import keep_archive as keep


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    monkeypatch.setenv("KAFKA_ASSAY_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "scratch"
    folder.mkdir()
    (folder / "classes.jsa").write_bytes(bytes(LEAST_BYTES))
    return folder


def environments(folder, count):
    """Homes of Java, whose archives were last used one after the other."""
    homes = [folder / f"java-{n}" for n in range(count)]
    for n, home in enumerate(homes):
        archive_of(home).parent.mkdir(parents=True, exist_ok=True)
        archive_of(home).write_bytes(b"archive")
        os.utime(archive_of(home), (n, n))
    return homes


def test_environments_do_not_take_the_archives_of_each_other_away(scratch, tmp_path):
    first, second = tmp_path / "java-0", tmp_path / "java-1"
    for home in (first, second):
        keep(home, scratch)
    assert archive_of(first) != archive_of(second)
    for home in (first, second):
        assert f"-XX:SharedArchiveFile={archive_of(home)}" in java_options(home, scratch)


def test_of_more_archives_those_used_last_stay(scratch, tmp_path):
    *before, made = environments(tmp_path, MOST_ARCHIVES + 1)
    archive_of(made).unlink()
    java_options(before[0], scratch)
    keep(made, scratch)
    there = [home for home in (*before, made) if archive_of(home).is_file()]
    assert there == [before[0], *before[2:], made]
    assert archive_of(made).read_bytes() == bytes(LEAST_BYTES)


def test_an_archive_that_was_cut_short_is_not_kept(scratch, tmp_path):
    (scratch / "classes.jsa").write_bytes(bytes(100))
    keep(tmp_path / "java", scratch)
    assert not archive_of(tmp_path / "java").exists()
    (option,) = [o for o in java_options(tmp_path / "java", scratch) if "Archive" in o]
    assert option == f"-XX:ArchiveClassesAtExit={scratch}/classes.jsa"
