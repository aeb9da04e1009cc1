import base64
import random
import re
import time

import pytest

from tests.assay.calling import assay, one_line, side_by_side

USAGE = {
    "unknown tier": (
        ("solve", "orders.json", "--objective", "balance > fun"),
        r"objective: unknown tier 'fun', expected one of kip-54, .*stickiness.*",
    ),
    "a tier twice": (
        ("solve", "orders.json", "--objective", "balance > balance"),
        r"objective: tier 'balance' appears twice",
    ),
    "a tier over unknown lag": (
        ("solve", "orders.json", "--objective", "peak_lag"),
        r"topics\.t0\.lag\[0\]: unknown, but tier peak_lag needs it \(and 4 more\)",
    ),
    "unknown assignor": (
        ("score", "orders.json", "--assignor", "rnage"),
        r"assignor: unknown name 'rnage', expected one of .*range, .*",
    ),
    "unknown method": (
        ("solve", "orders.json", "--method", "magic"),
        r".*--method.*'magic' is not one of 'auto', 'flow', 'cp-sat', 'ilp', 'brute'.*",
    ),
    "a method that does not serve the tier": (
        ("solve", "orders.json", "--method", "flow", "--objective", "peak_weight"),
        r".+",
    ),
    "unknown format": (("solve", "orders.json", "--format", "xml"), r".*--format.*xml.*"),
    "unknown option": (("solve", "orders.json", "--frob"), r"No such option: --frob.*"),
    "unknown command": (("frobnicate",), r"No such command 'frobnicate'\..*"),
    "no file named": (("solve",), r"Missing argument.*"),
    "no time": (("solve", "orders.json", "--time-limit", "0"), r".*--time-limit.*"),
    "no time at all": (("solve", "orders.json", "--time-limit", "nan"), r".*--time-limit.*"),
    "a limit without a number": (
        ("score", "orders.json", "--fail-above", "balance"),
        r"--fail-above balance: expected TIER=N, with N of 0 or more",
    ),
    "a limit of an unknown tier": (
        ("score", "orders.json", "--fail-above", "fun=1"),
        r"--fail-above fun=1: expected TIER=N, with N of 0 or more",
    ),
    "a negative limit": (
        ("score", "orders.json", "--fail-above", "balance=-1"),
        r"--fail-above balance=-1: expected TIER=N, with N of 0 or more",
    ),
    "a negative seed": (("generate", "grid", "--seed", "-1"), r".*--seed.*"),
    "unknown family": (("generate", "crowd"), r".*'crowd' is not one of.*"),
    "missing file": (
        ("solve", "missing.json"),
        r"missing\.json: cannot be read: No such file or directory",
    ),
    "missing solution": (
        ("check", "orders.json", "missing.json"),
        r"missing\.json: cannot be read: No such file or directory",
    ),
    "a directory as file": (("solve", "."), r"\.: cannot be read: Is a directory"),
    "a file in no folder": (
        ("anonymise", "orders.json", "-o", "no/where.json"),
        r"no/where\.json: cannot be written: No such file or directory",
    ),
    "unknown dialect": (
        ("import", "orders.json", "--from", "magic"),
        r"dialect: 'magic', expected one of auto, console, .*",
    ),
    "a run without input": (
        ("run", "missing", "--out", "out"),
        r"missing: cannot be read: No such file or directory",
    ),
    "a report without a run": (("report", "."), r"\.: no run in it; fill it with: assay run .*"),
}  # fmt: skip


@pytest.fixture(scope="module")
def misuses(folder) -> dict:
    return side_by_side({name: (args, {"cwd": folder}) for name, (args, _) in USAGE.items()})


@pytest.mark.parametrize("name", USAGE)
def test_bad_usage_is_refused_in_one_line(misuses, name):
    assert re.fullmatch(USAGE[name][1], one_line(misuses[name], 2))


def test_several_groups_are_refused_with_a_hint_at_run(folder):
    calls = {
        "solve": (("solve", folder / "two.jsonl"), {}),
        "score": (("score", folder / "two.jsonl"), {}),
        "check": (("check", folder / "two.jsonl", folder / "two.jsonl"), {}),
        "stdin": (("solve", "-"), {"stdin": (folder / "two.jsonl").read_text()}),
    }
    for name, run in side_by_side(calls).items():
        place = "standard input" if name == "stdin" else folder / "two.jsonl"
        assert one_line(run, 2) == f"{place}: several groups, expected one; use assay run for many"


def test_binary_input_is_refused_at_its_first_bad_byte(folder):
    (folder / "binary.json").write_bytes(b"{\x00\xff\xfe")
    line = one_line(assay("solve", folder / "binary.json"), 2)
    assert line == f"{folder / 'binary.json'}: byte 2: not UTF-8 text"


NOISE = {
    "bytes": lambda: random.Random(54).randbytes(100_000_000),
    "text": lambda: base64.b64encode(random.Random(54).randbytes(75_000_000)),
    "lines": lambda: b"7\n" * 50_000_000,
}


@pytest.mark.parametrize("kind", NOISE)
def test_a_hundred_megabytes_of_noise_are_refused_within_seconds(folder, kind):
    file = folder / "noise.json"
    file.write_bytes(NOISE[kind]())
    assert file.stat().st_size == 100_000_000
    for command in ("solve", "import"):
        started = time.monotonic()
        line = one_line(assay(command, file), 2)
        assert time.monotonic() - started < 10
        assert line.startswith(f"{file}: ")
        assert len(line) < 1000
    file.unlink()
