import json
from pathlib import Path

import pytest
import typer

from assay.commands.plot import plot
from tests.assay.calling import EVEN, LOPSIDED, UNKNOWN, assay, good

ALL_GROUPS = Path(__file__).parents[3] / "corpus" / "captures" / "3.9.2" / "all-describe.txt"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("plot")
    lag = {"t0": {"partitions": 2, "lag": [10, 900]}, "t1": {"partitions": 3, "lag": [1, 2, 30]}}
    gap = {"t0": {"partitions": 2, "lag": [10, None]}, "t1": {"partitions": 3, "lag": [1, 2, 30]}}
    documents = {
        "orders": LOPSIDED,
        "lag": LOPSIDED | {"topics": lag},
        "gap": LOPSIDED | {"topics": gap},
        "even": EVEN,
        "unknown": UNKNOWN,
        "empty": EVEN | {"members": {}},
        "fresh": EVEN | {"members": {"a": {"subscription": ["t"]}, "b": {"subscription": ["t"]}}},
    }
    for name, document in documents.items():
        (made / f"{name}.json").write_text(json.dumps(document))
    (made / "two.jsonl").write_text(f"{json.dumps(LOPSIDED)}\n{json.dumps(EVEN)}\n")
    return made


def drawn(folder, name, **options):
    """The SVG that the command writes, without the line that it prints."""
    out = folder / "out.svg"
    out.unlink(missing_ok=True)
    with pytest.raises(typer.Exit) as left:
        plot(str(folder / name), out=str(out), **options)
    assert left.value.exit_code == 0
    return out.read_text()


def test_one_line_says_what_was_written(folder):
    run = good(assay("plot", "orders.json", "-o", "orders.png", cwd=folder))
    assert (run.stdout, run.stderr) == ("orders: loads, written to orders.png\n", "")
    assert (folder / "orders.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("orders", {}, ["now", "best", "dashed: in every assignment somebody holds 3 or more"]),
        ("orders", {"assignor": ["range"]}, ["now", "range", "best"]),
        ("orders", {"figure": "moves"}, ["2 partitions move", "c0", "c1"]),
        ("orders", {"figure": "frontier"}, ["what moves buy in balance", "each dot is proved"]),
        ("orders", {"figure": "assignors", "assignor": ["range"]}, ["current", "range", "best"]),
        ("lag", {"figure": "lag"}, ["dashed: wherever loads are as even as can be, somebody"]),
        ("lag", {"figure": "lag", "objective": "peak_lag"}, ["dashed: in every assignment some"]),
        ("orders", {"figure": "size"}, ["partitions per member, by the number of members"]),
        ("lag", {"figure": "size"}, ["records of lag per member, by the number of members"]),
        ("fresh", {}, ["now", "best"]),
    ],
)
def test_each_figure_is_drawn(folder, name, options, words):
    text = drawn(folder, f"{name}.json", **options)
    assert [word for word in words if word not in text] == []


def test_where_lag_is_unknown_nothing_is_said_of_the_best(folder):
    text = drawn(folder, "gap.json", figure="lag")
    assert "the lag of 1 partition is unknown" in text
    assert "best" not in text
    assert "dashed" not in text


def test_console_text_will_do_and_what_depends_on_subscriptions_is_left_out(tmp_path):
    assert "best" in drawn(tmp_path, ALL_GROUPS, group="kpr-c")
    assert "best" not in drawn(tmp_path, ALL_GROUPS, group="aio-f")
