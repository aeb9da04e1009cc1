import re
import subprocess

from tests.assay.calling import ASSAY, good, side_by_side


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
