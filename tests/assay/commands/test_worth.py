import json
from pathlib import Path

import pytest

from tests.assay.calling import document_of, good, one_after_the_other

LAG = [600, 300, 200, 100, 60, 40]
LATE = {
    "format": "assay-group/1",
    "group": "late",
    "topics": {"t": {"partitions": 6, "lag": LAG}},
    "members": {
        "a": {"subscription": ["t"], "owned": {"t": [0, 1, 2, 3]}},
        "b": {"subscription": ["t"], "owned": {"t": [4, 5]}},
    },
}
ASK = ("solve", "late.json", "--only-if-peak-falls")
CALLS = {
    "much": (*ASK, "90%"),
    "some": (*ASK, "10"),
    "free": (*ASK, "45%", "--objective", "peak_lag"),
    "time": (*ASK, "90%", "--objective", "balance > peak_time", "--rate", "10"),
    "json": (*ASK, "10%", "--format", "json"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("worth")
    (made / "late.json").write_text(json.dumps(LATE))
    return made


@pytest.fixture(scope="module")
def said(folder) -> dict:
    return one_after_the_other(CALLS, folder)


def test_it_is_left_alone_with_the_reason(said):
    assert good(said["much"]).stdout == (
        "late: leave it alone: the peak lag is 1,200 now, the lowest possible is 700: 41% lower, "
        "and 120 was asked for.\n"
    )
    assert good(said["time"]).stdout.startswith(
        "late: leave it alone: the time to catch up is 2 min now, the lowest possible is "
        "1 min 10 s: "
    )


def test_or_moved_as_little_as_does_it(said):
    lines = good(said["some"]).stdout.splitlines()
    assert lines[0] == (
        "late: 1 move brings the peak lag from 1,200 to 700: 41% lower. Fewer are not enough."
    )
    assert lines[-1] == "moves 1 from a to b"
    free = good(said["free"]).stdout.splitlines()[0]
    assert free.startswith("late: 2 moves bring the peak lag from 1,200 to 660: 45% lower.")


def test_json_is_one_worth_document_with_the_solution(said):
    document = document_of(good(said["json"]))
    assert list(document) == [
        "format", "group", "objective", "leave", "sure", "fewest", "now", "wanted", "found",
        "bound", "solution",
    ]  # fmt: skip
    assert (document["leave"], document["sure"], document["fewest"]) == (False, True, 1)
    assert document["solution"]["format"] == "assay-solution/1"
