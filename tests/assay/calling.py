"""How tests call the command, and the groups that they give it."""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ASSAY = Path(sys.executable).with_name("assay")
# c0 holds all five and could give two of t1 away: the optimum is balance 1, stickiness 2.
LOPSIDED = {
    "format": "assay-group/1",
    "group": "orders",
    "topics": {"t0": 2, "t1": 3},
    "members": {
        "c0": {"subscription": ["t0", "t1"], "owned": {"t0": [0, 1], "t1": [0, 1, 2]}},
        "c1": {"subscription": ["t1"]},
    },
}
EVEN = LOPSIDED | {
    "group": "even",
    "topics": {"t": 2},
    "members": {m: {"subscription": ["t"], "owned": {"t": [i]}} for i, m in enumerate("ab")},
}
UNKNOWN = LOPSIDED | {"members": {"c0": {"owned": {"t0": [0]}}, "c1": {"subscription": ["t1"]}}}


def assay(*arguments, stdin: str = "", cwd: Path | None = None, environment: dict | None = None):
    command = [str(ASSAY), *map(str, arguments)]
    # encoding, not text: universal newlines would hide a carriage return.
    return subprocess.run(
        command, input=stdin, encoding="utf-8", capture_output=True, timeout=180, cwd=cwd,
        env=os.environ | (environment or {}), check=False,
    )  # fmt: skip


def side_by_side(calls: dict) -> dict:
    with ThreadPoolExecutor(2) as pool:
        running = {name: pool.submit(assay, *args, **more) for name, (args, more) in calls.items()}
        return {name: future.result() for name, future in running.items()}


ONE_AFTER_THE_OTHER = """
import json, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from assay.cli import main

for arguments in json.load(sys.stdin):
    sys.argv = ["assay", *arguments]
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        try:
            main()
        except SystemExit as left:
            code = left.code
    print(json.dumps([code, out.getvalue(), err.getvalue()]))
"""


def one_after_the_other(calls: dict[str, tuple], cwd: Path) -> dict:
    """As `side_by_side`, in one process: many calls in the time of a few."""
    listed = [[str(argument) for argument in arguments] for arguments in calls.values()]
    run = subprocess.run(
        [sys.executable, "-c", ONE_AFTER_THE_OTHER], input=json.dumps(listed), encoding="utf-8",
        stdout=subprocess.PIPE, timeout=180, cwd=cwd, check=True,
    )  # fmt: skip
    said = [json.loads(line) for line in run.stdout.splitlines()]
    return {
        name: subprocess.CompletedProcess(arguments, *result)
        for (name, arguments), result in zip(calls.items(), said, strict=True)
    }


def document_of(run) -> dict:
    """The one JSON document that is all of standard output."""
    assert run.stdout.count("\n") == 1, run.stdout
    return json.loads(run.stdout)


def good(run):
    assert (run.returncode, run.stderr) == (0, "")
    return run


def one_line(run, code: int) -> str:
    assert run.returncode == code, run.stderr
    assert run.stdout == ""
    assert re.fullmatch(r"assay: [^\r\n]+\n", run.stderr), run.stderr
    assert "Traceback" not in run.stderr
    return run.stderr[len("assay: ") : -1]
