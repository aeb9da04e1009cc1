"""How far a run is, and where its time went."""

import re
import time
from pathlib import Path

import pyarrow as pa
import pytest

from compare.runs.tables.files import append
from compare.runs.tables.folder import prepared
from compare.runs.tables.schemas import TABLES
from compare.runs.work.stages import WORDS, Stages, timings
from compare.runs.work.tally import Tally
from compare.runs.work.watch import ReadingWatch, Watch, watched

RUN = "20261122T080000000000Z-0123abcd"
OTHER = "20261122T070000000000Z-0123abcd"


def write(out, name: str, run: str, *statuses: str) -> None:
    rows = [{"key": f"{run}-{i}", "status": status} for i, status in enumerate(statuses)]
    assert append(out, name, pa.Table.from_pylist(rows, TABLES[name]), run)


def test_what_a_run_has_written_is_how_far_it_is(tmp_path):
    out = prepared(tmp_path / "out")
    write(out, "optima", OTHER, *["optimal"] * 50)
    watch = Watch(out, RUN, 1_200, 2.0)
    watch.look()
    assert (watch.done, watch.proved, watch.failed) == (0, 0, 0)
    write(out, "optima", RUN, *["optimal"] * 300, *["feasible"] * 20, "failed")
    for _ in range(2):
        watch.look()
        assert (watch.done, watch.proved, watch.failed) == (321, 300, 1)
    watch.started -= 3600
    line = watch.line()
    assert line.startswith("321 of 1,200 groups, 300 proved, 1 failed, ")
    assert line.endswith(" 5.3 a minute, 2 h 44 min left")


def test_where_optima_were_there_scores_tell_how_far_it_is(tmp_path):
    out = prepared(tmp_path / "out")
    watch = Watch(out, RUN, 100, 2.0)
    write(out, "scores", RUN, *["scored"] * 80)
    watch.look()
    assert watch.done == 40
    assert watch.line().startswith("40 of 100 groups, ")


def test_what_was_there_before_a_phase_is_none_of_its_work(tmp_path):
    out = prepared(tmp_path / "out")
    write(out, "optima", RUN, "optimal", "optimal")
    watch = Watch(out, RUN, 100, 1.0)
    watch.leave_out()
    write(out, "optima", RUN, "failed")
    watch.look()
    assert (watch.done, watch.proved, watch.failed) == (1, 0, 1)


def test_while_the_input_is_read_its_bytes_tell_how_far_a_run_is(tmp_path):
    out = prepared(tmp_path / "out")
    watch = ReadingWatch(out, RUN, 4_000)
    watch.look()
    assert watch.done == 0
    part = {"key": "0", "bytes": 1_000, "groups": ["a", "b"], "failures": []}
    assert append(out, "parts", pa.Table.from_pylist([part], TABLES["parts"]), RUN)
    for _ in range(2):
        watch.look()
        assert watch.done == 1_000
    watch.started -= 20
    assert watch.line() == "at least 25% of the input read, 2 groups, 0 a second, 1 min 0 s left"


def test_a_line_comes_while_something_happens_and_none_after(tmp_path, monkeypatch):
    monkeypatch.setattr("compare.runs.work.watch.EVERY_SECONDS", 0.02)
    out = prepared(tmp_path / "out")
    write(out, "optima", RUN, "optimal")
    said: list[str] = []
    with watched(Watch(out, RUN, 2, 1.0), said.append):
        time.sleep(0.5)
    assert said[0].startswith("1 of 2 groups, 1 proved, 0 failed, ")
    count = len(said)
    time.sleep(0.1)
    assert len(said) == count


def test_stages_add_up_to_the_time_of_the_run():
    stages, start = Stages(), time.perf_counter()
    with stages.timed("start"):
        time.sleep(0.05)
    with stages.phase(2) as tallies:
        tally = Tally()
        with tally.timed("task"), tally.timed("solve"):
            time.sleep(0.1)
        tallies.append(tally)
    took = time.perf_counter() - start
    rows = dict(stages.rows())
    assert sum(rows.values()) == pytest.approx(took, abs=0.02)
    # One of two cores was at work.
    assert rows["solve"] == pytest.approx(0.05, abs=0.02)
    assert rows["spark"] == pytest.approx(0.05, abs=0.02)
    *lines, last = timings(stages.rows())
    assert [line.split("  ")[-1] for line in lines][:2] == [
        "solving",
        "starting Spark",
    ]
    assert "% of it decoding, solving, checking and scoring" in last


def test_tallies_of_tasks_add_up_on_their_way_through_rows():
    first, second, whole = Tally(), Tally(), Tally()
    first.counts.update(groups=3, proved=2)
    first.seconds["solve"] = 0.5
    first.keys += ["a", "b"]
    second.counts.update(groups=1)
    second.seconds["solve"] = 0.25
    second.keys += ["b", "c"]
    second.failures.append("f")
    whole.take(pa.Table.from_batches([first.rows(), second.rows()]))
    assert (whole.counts["groups"], whole.counts["proved"]) == (4, 2)
    assert whole.seconds["solve"] == 0.75
    assert (sorted(whole.keys), whole.failures) == (["a", "b", "c"], ["f"])


def test_the_page_of_formats_explains_every_stage_in_the_words_that_people_see():
    page = (Path(__file__).parents[4] / "docs/reference/formats.md").read_text()
    section = page.partition("### Stages of a run\n")[2].partition("\n### ")[0]
    rows = re.findall(r"^\| ([^|`]+) \| `(\w+)` \| [^|]+ \|$", section, re.MULTILINE)
    assert {stage: words for words, stage in rows} == WORDS
