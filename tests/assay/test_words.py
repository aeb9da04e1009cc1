"""What people read: help, completion, and one of a thing in the singular."""

import os
import re
import shlex
from unittest.mock import patch

import pytest
from typer.main import get_command

from assay.cli import app
from assay.menu import COMMANDS, PANELS, help_page
from tests.assay.calling import assay, good, one_after_the_other, write
from tests.compare.conftest import holding

ONE = holding([1], {"m": [0]}, group="one")
JOINING = holding(2, {"m": [0, 1], "n": []}, group="one")
IDLE = holding([1], {"m": []}, group="idle")
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


# The output of these commands counts nothing of which there is one.
QUIET = ("solve", "scenario")


@pytest.fixture(scope="module")
def said(tmp_path_factory) -> dict:
    files = {
        "one.json": ONE, "two.json": JOINING, "idle.json": IDLE, "scenario.json": SCENARIO,
        "lag.json": SHORT_LAG,
    }  # fmt: skip
    folder = write(tmp_path_factory.mktemp("words"), files)
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


def test_the_page_of_commands_fits_a_screen_and_shows_each_once_below_what_it_is_for(said):
    lines = said["--help"].stdout.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert "..." not in said["--help"].stdout.replace("[ARGS]...", "")
    assert good(assay()).stdout == good(said["--help"]).stdout
    for panel, entries in PANELS.items():
        (top,) = (i for i, line in enumerate(lines) if f"{panel}:" in line)
        left = lines[top].index(f"{panel}:")
        for place, (name, entry) in enumerate(entries.items(), start=top + 1):
            shown = f"  {name:11} {entry.says}"
            assert lines[place][left:].startswith(shown)
            assert lines[place][left + len(shown) :][:2].strip() == ""
    assert sum(line.startswith("  assay ") for line in lines) == 2


def test_a_narrow_terminal_gets_one_column_of_commands():
    page = help_page(48)
    assert max(map(len, page.splitlines())) <= 80
    for name, entry in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(entry.says)}$", page, re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_each_command_ends_with_an_example_that_the_command_takes(said, name):
    example = said[f"{name} --help"].stdout.rstrip("\n").rpartition("\n")[2]
    assert example == f"  Example: assay {COMMANDS[name].example}"
    group = get_command(app)
    with group.make_context("assay", shlex.split(COMMANDS[name].example)) as context:
        said = shlex.split(COMMANDS[name].example)
        found, command, rest = group.resolve_command(context, said)
        assert found == name
        assert command.make_context(name, rest, parent=context).params


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_each_command_fits_a_screen_of_100_columns(said, name):
    text = said[f"{name} --help"].stdout
    assert "..." not in re.sub(r"(?<=[A-Z}\]])\.\.\.", "", text)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 100
    assert len(lines) <= 40
    # No other flag can be taken back.
    assert {*re.findall(r"--no-[a-z-]+", text)} <= {"--no-current"}


def test_commands_that_read_one_group_take_the_same_options_about_it():
    told = {"--reads", "--assume-equal", "--reset", "--rate", "--host-by"}
    for name in (
        "advise", "check", "explain", "export", "frontier", "plot", "report", "score", "size",
        "solve",
    ):  # fmt: skip
        shown = re.findall(r"^  (--[a-z-]+)", assay(name, "--help").stdout, re.MULTILINE)
        assert told <= {*shown}, name
        assert len(shown) == len({*shown}), name


def completed(words: str, incomplete: int) -> list[str]:
    asked = {
        "_ASSAY_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(incomplete),
    }
    with patch.dict(os.environ, asked):
        return good(assay()).stdout.split()


def test_commands_options_and_their_values_are_completed():
    # Otherwise Typer detects the shell of the test run, which it may not support.
    named = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    with patch.dict(os.environ, named):
        assert "_ASSAY_COMPLETE" in good(assay("--show-completion", "bash")).stdout
    assert {"explain", "export"} <= set(completed("assay ex", 1))
    assert completed("assay score --fail-above-", 2) == ["--fail-above-assumed"]
    assert completed("assay score --assignor kip-54", 3) == ["kip-54-sticky", "kip-54-fairest"]
    assert completed("assay solve --objective kip-54", 3) == ["kip-54", "kip-54-fairest"]
    assert completed("assay solve --objective mo", 3) == ["moves", "moved_weight"]
