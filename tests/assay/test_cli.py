import re
import subprocess

import pytest

from tests.assay.calling import ASSAY, good, side_by_side, started


def test_help_and_version_leave_with_0():
    calls = {command: ((command, "--help"), {}) for command in ("solve", "score", "run")}
    calls_for_all = {"all": (("--help",), {}), "bare": ((), {}), "version": (("--version",), {})}
    runs = side_by_side(calls | calls_for_all)
    for command in calls:
        assert f"assay {command}" in good(runs[command]).stdout
    listed = good(runs["all"]).stdout
    assert good(runs["bare"]).stdout == listed
    for command in (
        "solve", "check", "validate", "score", "assignors", "import", "anonymise", "generate",
        "run", "report",
    ):  # fmt: skip
        assert re.search(rf"(^| )  {command} +\w", listed, re.MULTILINE)
    assert re.fullmatch(r"assay \d+\.\d+\.\d+\n", good(runs["version"]).stdout)


def test_a_reader_that_goes_away_gets_no_traceback(folder):
    command = f"'{ASSAY}' generate grid --members 100 | head -c 10"
    run = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (len(run.stdout), run.stderr) == (10, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_of_a_shell_is_shown(shell):
    # Otherwise it is the shell that the suite happens to run in, and not every one is served.
    named = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    run = good(started("--show-completion", shell, **named))
    assert "_ASSAY_COMPLETE" in run.stdout


def completed(words: str, incomplete: int) -> list[str]:
    asked = {
        "_ASSAY_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(incomplete),
    }
    return good(started(**asked)).stdout.split()


def test_commands_options_and_their_values_are_completed():
    assert completed("assay fr", 1) == ["frontier"]
    assert {"explain", "export"} <= set(completed("assay ex", 1))
    assert completed("assay score --fail-above-", 2) == ["--fail-above-assumed"]
    assert completed("assay score --format ", 3) == ["table", "json"]
    assert completed("assay score --assignor kip-54", 3) == ["kip-54-sticky", "kip-54-fairest"]
    assert completed("assay solve --objective kip-54", 3) == ["kip-54", "kip-54-fairest"]
