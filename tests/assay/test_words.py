"""What people read: one of a thing is singular, and no help text is cut."""

import json
import re

import pytest

from assay.cli import COMMANDS
from tests.assay.calling import one_after_the_other

ONE = {
    "format": "assay-group/1",
    "group": "one",
    "topics": {"t": {"partitions": 1, "lag": [1]}},
    "members": {"m": {"subscription": ["t"], "owned": {"t": [0]}}},
}
BOTH = ONE["members"]["m"] | {"owned": {"t": [0, 1]}}
JOINING = ONE | {"topics": {"t": 2}, "members": {"m": BOTH, "n": {"subscription": ["t"]}}}
IDLE = ONE | {"group": "idle", "members": {"m": {"subscription": ["t"]}}}
EVENTS = [{"add_partitions": {"t": 2}}, {"stable": 1}]
SCENARIO = {"format": "assay-scenario/1", "name": "s", "group": ONE, "events": EVENTS}
SHORT_LAG = ONE | {"topics": {"t": {"partitions": 2, "lag": [1]}}}
CALLS = {
    "score": ("score", "one.json", "--assignor", "range"),
    "score of one that is not valid": ("score", "idle.json", "--assignor", "range"),
    "score of several": ("score", "one.json", "two.json", "idle.json"),
    "validate": ("validate", "one.json"),
    "solve": ("solve", "two.json"),
    "scenario": ("scenario", "scenario.json", "--assignor", "range"),
    "diff": ("diff", "one.json", "two.json"),
    "too few lags": ("solve", "lag.json"),
}


# These count nothing of which there is one.
QUIET = ("solve", "scenario")


@pytest.fixture(scope="module")
def said(tmp_path_factory) -> dict:
    folder = tmp_path_factory.mktemp("words")
    documents = {
        "one": ONE, "two": JOINING, "idle": IDLE, "scenario": SCENARIO, "lag": SHORT_LAG,
    }  # fmt: skip
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document))
    calls = {f"{name} --help": (name, "--help") for name in COMMANDS}
    return one_after_the_other(CALLS | calls | {"--help": ("--help",)}, folder)


@pytest.mark.parametrize("name", CALLS)
def test_one_of_a_thing_is_singular(said, name):
    text = f"{said[name].stdout}\n{said[name].stderr}"
    assert re.search(r"(?<![\d.,-])1 [a-z]+\b", text) or name in QUIET, text
    nouns = (
        "assignments columns groups inputs members moves partitions questions rebalances topics "
        "values"
    )
    assert not re.search(rf"(?<![\d.,-])1 (more )?({'|'.join(nouns.split())})\b", text), text


def test_the_list_of_commands_says_each_in_a_line_that_is_not_cut(said):
    listed = said["--help"].stdout
    assert "..." not in listed.replace("[ARGS]...", "")
    for name, command in COMMANDS.items():
        first = command.__doc__.partition("\n")[0].rstrip(".")
        assert re.search(rf"^  {name} +{re.escape(first)}\.?$", listed, re.MULTILINE), name
    assert max(map(len, listed.splitlines())) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_no_help_is_cut_or_wider_than_80_columns(said, name):
    text = said[f"{name} --help"].stdout
    assert "..." not in re.sub(r"FILE\.\.\.|[}\]]\.\.\.", "", text)
    assert max(map(len, text.splitlines())) <= 80
