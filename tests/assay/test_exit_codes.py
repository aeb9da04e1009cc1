import base64
import random
import re
from pathlib import Path

import pytest

from tests.assay.calling import assay, one_after_the_other, one_line, side_by_side

USAGE = {
    "unknown tier": (
        ("solve", "orders.json", "--objective", "balance > fun"),
        r"--objective: unknown tier 'fun', expected one of kip-54, .*stickiness.*",
    ),
    "a tier twice": (
        ("solve", "orders.json", "--objective", "balance > balance"),
        r"--objective: tier 'balance' appears twice",
    ),
    "a tier over unknown lag": (
        ("solve", "orders.json", "--objective", "peak_lag"),
        r"topics\.t0\.lag\[0\]: unknown, but tier peak_lag needs it \(and 4 more\)",
    ),
    "unknown assignor": (
        ("score", "orders.json", "--assignor", "rnage"),
        r"--assignor: unknown name 'rnage'; nearest: range, .*, .*; assay assignors lists all",
    ),
    "unknown assignor of a scenario": (
        ("scenario", "orders.json", "--assignor", "kafka-java/stikcy@4.4.0"),
        r"--assignor: unknown name 'kafka-java/stikcy@4.4.0'; nearest: kafka-java/sticky, .*",
    ),
    "unknown assignor of a run": (
        ("run", "orders.json", "--out", "out", "--assignor", "coperative-sticky"),
        r"--assignor: unknown name 'coperative-sticky'; nearest: cooperative-sticky, .*",
    ),
    "unknown assignor of a hunt": (
        ("hunt", "StikyAssignor"),
        r"assignor: unknown name 'StikyAssignor'; nearest: StickyAssignor, .*",
    ),
    "unknown client to fetch": (
        ("fetch", "kafka-jaba@4.4.0"),
        r"client: unknown name 'kafka-jaba'; nearest: kafka-java, .*",
    ),
    "unknown method": (
        ("solve", "orders.json", "--method", "magic"),
        r".*--method.*'magic' is not one of 'auto', 'flow', 'exchange', 'cp-sat', 'ilp', "
        r"'brute'.*",
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
        r"--fail-above fun=1: 'fun' is no tier of the objective, which has balance, stickiness",
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
    "a report without a run": (
        ("report", "nothing"),
        r"nothing: no run in it; fill it with: assay run INPUT --out nothing; and no snapshot",
    ),
}  # fmt: skip


LONG = "x" * 300
DIGITS = "9" * 5000
FINDING = "kafka-java-sticky-terminates"
FINDINGS = Path(__file__).parents[2] / "corpus" / "findings.jsonl"
UNREADABLE = {
    "a name of 300 characters": (LONG, r"x{300}: cannot be read: File name too long"),
    "a folder": ("folder", r"folder: cannot be read: Is a directory"),
    "a loop of links": ("loop", r"loop: cannot be read: Too many levels of symbolic links"),
    "a file under a device": ("/dev/null/x", r"/dev/null/x: cannot be read: Not a directory"),
    "a name that is no text": ("\udcff.json", r"\\udcff\.json: cannot be read: No such file .*"),
    "no bytes": ("/dev/null", r"/dev/null: (empty, .*|line 1 column 1: not JSON: .*)"),
    "a count of 5,000 digits": ("digits.json", r"digits\.json: .*more than 4300 digits.*"),
    "a count of 4,000 digits": ("large.json", r"large\.json: .*(64 bits|expected|unknown).*"),
    "brackets a hundred thousand deep": ("deep.json", r"deep\.json: .*nested too deeply.*"),
    "UTF-16 cut short": ("half.json", r"half\.json: byte \d+: not UTF-16 text"),
    "UTF-32": ("wide.json", r"wide\.json: UTF-32, expected UTF-8 or UTF-16"),
    "Latin-1": ("latin.json", r"latin\.json: byte \d+: not UTF-8 text"),
}
READERS = {
    "solve": lambda file: ("solve", file),
    "check": lambda file: ("check", "orders.json", file),
    "scenario": lambda file: ("scenario", file),
    "rederive": lambda file: ("hunt", "--rederive", file),
}
UNWRITABLE = {
    "a name of 300 characters": (LONG, r"x{300}.*: cannot be written: File name too long"),
    "under a device": ("/dev/null/x", r"/dev/null/x.*: cannot be written: Not a directory"),
    "where nothing can be": ("/proc/x", r"/proc/x.*: cannot be written: .*"),
    "a loop of links": ("loop", r"loop: (not a folder|cannot be written: Too many levels.*)"),
}
WRITERS = {
    "generate": lambda out: ("generate", "random", "-o", out),
    "anonymise": lambda out: ("anonymise", "orders.json", "-o", out),
    "reproduce": lambda out: ("reproduce", FINDING, "--findings", FINDINGS, "-o", out),
    "run": lambda out: ("run", "orders.json", "--assignor", "range", "--out", out),
}
MORE = {
    "a full device": (
        ("generate", "random", "-o", "/dev/full"),
        r"/dev/full: cannot be written: No space left on device",
    ),
    "a file as the folder of a run": (
        ("run", "orders.json", "--out", "even.json"),
        r"even\.json: not a folder",
    ),
    "a file as the folder of a program": (
        ("reproduce", FINDING, "--findings", FINDINGS, "-o", "even.json"),
        r"even\.json: not a folder",
    ),
    "a run over a long name": (("run", LONG, "--out", "out"), r"x{300}: cannot be read: .* long"),
    "a report of a long name": (("report", LONG), r"x{300}: cannot be read: File name too long"),
    "a limit of 5,000 digits": (
        ("score", "orders.json", "--fail-above", f"balance={DIGITS}"),
        r"--fail-above balance=9+: expected TIER=N, with N of 0 or more",
    ),
    "a share of the peak as a limit": (
        ("score", "orders.json", "--fail-above", "peak_lag=20%"),
        r"--fail-above peak_lag=20%: expected TIER=N, .*: assay solve --only-if-peak-falls X%",
    ),
    "a limit on a tier that is not in the objective": (
        ("score", "orders.json", "--fail-above", "peak_lag=100"),
        r".*; add it: --objective 'balance > stickiness > peak_lag'",
    ),
    "a plan that is no plan": (
        ("score", "orders.json", "--plan", "broken.json"),
        r"broken\.json: .*not JSON.*; a plan is JSON .*, a solution or a capture",
    ),
    "a version of 5,000 digits": (
        ("fetch", f"kafka-java@{DIGITS}"),
        r"assignor: 'kafka-java@9+' has no version after the @, as in 4\.4\.0",
    ),
    "members of 5,000 digits": (("generate", "random", "--members", DIGITS), r".*--members.*"),
    "more members than memory": (("generate", "random", "--members", 10**12), r".*--members.*"),
    "more topics than memory": (("generate", "random", "--topics", 10**12), r".*--topics.*"),
    "more partitions than memory": (
        ("generate", "random", "--per-member", 10**8),
        r"topics: 1000000000 partitions, more than the 100000000 supported",
    ),
    "time without end": (("score", "orders.json", "--time-limit", "inf"), r".*--time-limit.*"),
    "time without end for a hunt": (("hunt", "range", "--seconds", "inf"), r".*--seconds.*"),
    "more time than a clock has": (("probe", "--timeout", "1e300"), r".*--timeout.*"),
    "a command of 300 characters": ((LONG,), r"No such command 'x{300}'.*"),
    "no name at all": (("solve", ""), r": cannot be read: Is a directory"),
}  # fmt: skip
REFUSED = {
    **USAGE,
    **MORE,
    **{
        f"{command}: {what}": (call(file), line)
        for what, (file, line) in UNREADABLE.items()
        for command, call in READERS.items()
    },
    **{
        f"{command} to {what}": (call(out), line)
        for what, (out, line) in UNWRITABLE.items()
        for command, call in WRITERS.items()
    },
}


@pytest.fixture(scope="module")
def refused(folder) -> dict:
    (folder / "folder").mkdir()
    (folder / "loop").symlink_to("loop")
    orders = (folder / "orders.json").read_text()
    (folder / "digits.json").write_text(orders.replace('"t0": 2', f'"t0": {DIGITS}'))
    (folder / "large.json").write_text(orders.replace('"t0": 2', f'"t0": {DIGITS[:4000]}'))
    (folder / "broken.json").write_text('{"c0": {"t0": [0,')
    (folder / "deep.json").write_text('{"format":' + "[" * 100_000)
    (folder / "half.json").write_bytes(orders.encode("utf-16")[:-1])
    (folder / "wide.json").write_bytes(orders.encode("utf-32"))
    (folder / "latin.json").write_bytes(orders.replace("orders", "é").encode("latin-1"))
    return one_after_the_other({name: call for name, (call, _) in REFUSED.items()}, folder)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_used_is_refused_in_one_line(refused, name):
    assert re.fullmatch(REFUSED[name][1], one_line(refused[name], 2))


def test_a_refused_run_leaves_no_folder(refused, folder):
    assert not (folder / "out").exists()


def test_of_several_groups_one_has_to_be_named_and_their_names_are_listed(folder):
    calls = {
        "solve": (("solve", folder / "two.jsonl"), {}),
        "check": (("check", folder / "two.jsonl", folder / "two.jsonl"), {}),
        "stdin": (("solve", "-"), {"stdin": (folder / "two.jsonl").read_text()}),
    }
    for name, run in side_by_side(calls).items():
        place = "standard input" if name == "stdin" else folder / "two.jsonl"
        told = f"{place}: 2 groups, expected one of even, orders; add --group NAME"
        assert one_line(run, 2) == told


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
def test_a_hundred_megabytes_of_noise_are_refused(folder, kind):
    file = folder / "noise.json"
    file.write_bytes(NOISE[kind]())
    assert file.stat().st_size == 100_000_000
    for command in ("solve", "import"):
        line = one_line(assay(command, file), 2)
        assert line.startswith(f"{file}: ")
        assert len(line) < 1000
    file.unlink()
