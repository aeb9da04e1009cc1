"""What cannot be used is refused in one line, with exit code 2."""

import base64
import os
import random
import re
import resource
import shlex
from pathlib import Path

import pytest

from tests.assay.calling import (
    ALL_GROUPS,
    EVEN,
    LATE,
    LOPSIDED,
    assay,
    one_after_the_other,
    one_line,
    write,
)
from tests.groups.importers.imported import OFFSETS

CORPUS = Path(__file__).parents[2] / "corpus"
LONG = "x" * 300
DIGITS = "9" * 5000
FILES = {
    "broken.json": '{"c0": {"t0": [0,',
    "oops.json": "{oops",
    "bad.json": LOPSIDED | {"topics": {"t0": -1, "t1": 3}},
    "late.json": LATE,
    "empty.json": EVEN | {"members": {}},
    "depends.json": LOPSIDED | {"members": {
        "c0": {"owned": {"t0": [0, 1], "t1": [0, 1, 2]}}, "c1": {}}},
    "best.json": {"c0": {"t0": [0, 1], "t1": [0]}, "c1": {"t1": [1, 2]}},
    "range.json": {"c0": {"t0": [0, 1], "t1": [0]}, "c1": {"t1": [1, 2]}},
    "twice.jsonl": [LOPSIDED] * 2,
    "strangers.jsonl": [LOPSIDED | {"group": name} for name in "xy"],
    "groups.txt": f"{OFFSETS}orders t0 0 5 9 4 c-0 /h c\n",
}  # fmt: skip
# A command and the line that refuses it, in which ... stands for anything.
REFUSED = [
    row.split("\n    ")
    for row in re.findall(
        r"^(\S.*\n    .*)$",
        r"""
solve orders.json --objective 'balance > fun'
    --objective: unknown tier 'fun', expected one of kip-54, kip-54-fairest, kip-169, ...
solve orders.json --method magic
    Invalid value for '--method': 'magic' is not one of 'auto', 'flow', 'exchange', ...
solve orders.json --method flow --objective peak_weight
    --method: flow does not serve tier peak_weight; auto takes a method that does
solve orders.json --frob
    No such option: --frob (Possible options: --group) (see assay solve --help)
solve
    Missing argument 'FILE...' (see assay solve --help)
solve orders.json --time-limit 0
    --time-limit 0: expected 0.001 or more: for each solve, and for each call of an ...
solve orders.json --time-limit nan
    --time-limit nan: expected a number of seconds: for each solve, and for each call of ...
solve orders.json --at-most stickiness
    --at-most stickiness: expected TIER=N, with a whole number N of 0 or more
solve orders.json --at-most move=1
    --at-most: unknown tier "move", expected one of balance, topic_balance, ...
solve orders.json --at-most moves=100000000000000000000
    --at-most moves: 100000000000000000000 leaves 64 bits
solve orders.json --at-most stickiness=1 --at-most stickiness=2
    --at-most stickiness=2: moves is given twice
solve late.json --only-if-peak-falls x
    --only-if-peak-falls x: expected a percentage as in 10%
solve late.json --only-if-peak-falls 101
    --only-if-peak-falls 101: expected more than 0% and at most 100%
solve late.json --only-if-peak-falls 5 --at-most stickiness=3
    --only-if-peak-falls: not together with --at-most or --method
solve late.json --only-if-peak-falls 5 --objective balance
    --objective: no peak in balance; expected one as in peak_lag
solve late.json --rate -1
    --rate -1: expected 1 or more: records a second that each member reads, if no ...
solve two.jsonl
    two.jsonl: 2 groups, expected one of even, orders; add --group NAME
solve twice.jsonl --group orders
    twice.jsonl: 2 captures of group orders, expected one
solve depends.json
    orders: what is best depends on who reads what (does c1 read t0?); pass ... or --assume-equal
solve depends.json --method brute
    members.c1.subscription: unknown; pass --reads PATTERN=TOPICS, or --assume-equal
score orders.json --assignor rnage
    --assignor: unknown name 'rnage'; nearest: range, current, ... assay assignors lists all
score orders.json --fail-above fun=1
    --fail-above fun=1: 'fun' is no tier of the objective, which has balance, moves
score orders.json --fail-above balance=DIGITS
    --fail-above balance=DIGITS: expected TIER=N, with a whole number N of 0 or more
score orders.json --fail-above peak_lag=20%
    --fail-above peak_lag=20%: expected TIER=N, with ... assay solve --only-if-peak-falls X%
score orders.json --fail-above peak_lag=100
    --fail-above peak_lag=100: 'peak_lag' is no ... --objective 'balance > peak_lag > moves'
score orders.json --plan broken.json
    broken.json: line 1 column 18: not JSON: Expecting value; a plan ... a solution or a capture
score late.json --rate 5 --rate 6
    --rate: given 2 times, expected once (see assay score --help)
score orders.json --plan range.json
    --plan range.json: there is a row range already; rename the file
score all.txt --plan best.json
    --plan best.json: 11 groups to plan for; add --group NAME
score all.txt --group kpr
    --group kpr: no group of that name; nearest: kpr-c
score
    Missing argument 'FILE...', or --bootstrap-server
score f.json --bootstrap-server a:1
    f.json: FILE or --bootstrap-server, not both
score f.json --config a=b
    --config: it is about a connection; add --bootstrap-server HOST:PORT
scenario orders.json --port 9092
    --port: only with --probe
run orders.json --out out --assignor coperative-sticky
    --assignor: unknown name 'coperative-sticky'; nearest: cooperative-sticky, ...
run orders.json --out even.json
    even.json: not a folder
run orders.json --out o --probe --master yarn
    --probe: only where Spark runs on this machine alone: --master local[N]
hunt range --port 9092
    --port: only with --probe
hunt
    expected either an assignor, --probe or --rederive FILE
hunt aiokafka/range@0.1.0
    aiokafka/range@0.1.0: aiokafka 0.14.0 is installed, not 0.1.0: pip install aiokafka==0.1.0
fetch kafka-jaba@4.4.0
    client: unknown name 'kafka-jaba'; nearest: kafka-java, ... assay assignors lists all
fetch aiokafka@0.1.0
    aiokafka@0.1.0: aiokafka 0.14.0 is installed, not 0.1.0: pip install aiokafka==0.1.0
scenario orders.json --scale-in 2
    orders: --scale-in: 2 members, expected fewer than the 2 there
generate grid --seed -1
    --seed -1: expected 0 or more: the first seed (see assay generate --help)
generate random --members 1000000000000
    --members 1000000000000: expected 1000000 or less: members of the group; repeat it ...
generate grid --event stable
    --event: family grid does not take it
generate differing --most-partitions 10000
    --most-partitions: family differing does not take it
check two.jsonl two.jsonl
    two.jsonl: line 2 column 1: not JSON: Extra data
anonymise bad.json
    bad.json: topics.t0: -1, expected an integer of 0 or more
import oops.json
    oops.json: begins with '{oops', expected what kafka-consumer-groups --describe, ...
import orders.json
    orders.json: a snapshot already, nothing to import
report nothing
    nothing: no run in it; fill it with: assay run INPUT --out nothing; and no snapshot
report orders.json -o nothing
    nothing: cannot be written: Is a directory
report orders.json -o nowhere/x
    nowhere/x: cannot be written: No such file or directory
report orders.json -o even.json/x
    even.json: not a folder
report orders.json --reads z=t0
    --reads z=t0: no member's id or client id matches 'z'
watch --bootstrap-server localhost:1 -o out --every 0s
    --every 0s: expected a time as in 30s, 5m or 1h
watch --bootstrap-server localhost:1 -o out --times 0
    --times 0: expected 1 or more: end after so many captures (see assay watch --help)
watch --bootstrap-server localhost:1 -o /proc/series
    /proc/series: cannot be written: No such file or directory
watch --bootstrap-server localhost:1 -o out --config x
    --config: expected KEY=VALUE, but there is no = in it
capture --bootstrap-server a:b
    --bootstrap-server a:b: expected HOST:PORT
capture --bootstrap-server a:1 --command-config no
    no: cannot be read: No such file or directory
reproduce kafka-java-stiky-answers --findings findings.jsonl
    findings.jsonl: no finding 'kafka-java-stiky-answers'; nearest: kafka-java-sticky-answers, ...
reproduce findings.jsonl
    no finding 'findings.jsonl'; it is a file: name it with --findings, ...
reproduce range-balanced --findings findings.jsonl
    range-balanced: no program for range, only for kafka-java, kafka-broker, ...
probe --timeout 1e300
    --timeout 1e300: expected 1000000000 or less: to wait for each plan (see assay probe --help)
LONG
    No such command 'LONG' (see assay --help)
frontier orders.json
    expected FILE... TIER TIER, but there is only orders.json (see assay frontier --help)
frontier orders.json balance racks moves
    balance: a third tier, expected FILE... and two tiers
frontier orders.json balance stickiness --points 1
    --points 1: expected 2 or more: at most so many, spread evenly (see assay frontier --help)
export orders.json --lp --mps
    expected one of --lp, --mps and --proto
export orders.json --lp -o /dev/full
    /dev/full: cannot be written: No space left on device
export orders.json --proto -o /no/m.pb
    /no/m.pb: cannot be written: No such file or directory
explain orders.json --member c7
    --member: no member 'c7', expected one of c0, c1
explain all.txt orders.json
    all.txt, orders.json: 12 groups, expected one of aio-f, coop-a, empty-e, ... add --group NAME
size late.json --target peak_lag=x
    --target peak_lag=x: expected peak_lag=N, with N a number as in 8 ... 50% of what is there now
size late.json --target peak_time=5m
    members.a.capacity: unknown, but target peak_time needs it; pass --rate ...
score orders.json --rate 1,00
    --rate 1,00: expected a whole number: records a second that each member reads, if no ...
size late.json --target peak_lag=10000000000000000000
    --target peak_lag=10000000000000000000: N is too big; expected at most 18 digits
size late.json --members 100000000
    --members 100000000: expected N or N-M, as in 1-40, each below 100,000
size late.json --members 4-2
    --members 4-2: expected N-M with 1 <= N <= M
size late.json --members 1-2000
    --members 1-2000: 2,000 numbers, at most 1,000
size late.json --figure x.pdf
    x.pdf: expected a name that ends in .svg or .png
plot orders.json -o x.pdf
    x.pdf: expected a name that ends in .svg or .png
plot orders.json -o /nowhere/x.svg
    /nowhere/x.svg: cannot be written: No such file or directory
plot even.json --figure moves -o no.svg
    even: nothing has to move, there is nothing to draw
plot empty.json -o no.svg
    even: no members, there is nothing to draw
plot orders.json --figure lag -o no.svg
    orders: its lag is not known, there is nothing to draw
plot all.txt --figure moves --group aio-f -o no.svg
    aio-f: which moves are best is not known: does aio-1-... read t0?
plot orders.json --figure moves --assignor range -o no.svg
    --assignor: the figure of moves shows none
plot orders.json --figure frontier --objective kip-54 -o no.svg
    --objective: the figure of frontier is of balance and moves
advise orders.json --lower peak_lag
    topics.t0.lag[0]: unknown, but tier peak_lag needs it (and 4 more)
diff all.txt all.txt --group coop
    all.txt: no group coop in it, of 11 the nearest are coop-a
diff - -
    standard input: it can be A or B, not both
diff two.jsonl strangers.jsonl
    strangers.jsonl: no group in it that is in two.jsonl too
diff orders.json twice.jsonl
    twice.jsonl: group orders more than once, expected one
conformance
    expected either an assignor, --probe or --out DIR
conformance range --port 1
    --port: only with --probe
conformance range --promise fair
    --promise: 'fair', expected one of terminates, answers,...
conformance kafka-java/sticky@0.0.1
    kafka-java/sticky@0.0.1: ...
scenario upgrade.json --assignor range
    --assignor: rollout upgrade chooses its assignors itself...
scenario upgrade.json deploy.json --back
    deploy: has events and is no rollout: leave out --order, ... and --back
scenario upgrade.json --order app-0,,app-1
    --order: 'app-0,,app-1', expected names with a comma between them...
scenario upgrade.json --from range --from sticky
    --from sticky: given twice for all members...
scenario upgrade.json --to own
    --to: 'own', expected one of range...
scenario deploy.json --deploys 1
    deploy.json: says itself what happens: leave out --group, --reads, ...
scenario known.jsonl --group sticky-javadoc-1-fresh
    sticky-javadoc-1-fresh: what happens to it? Add --rotate nightly, ...
scroe
    No such command 'scroe'. Nearest: score, solve, probe (see assay --help)
""",
        re.MULTILINE,
    )
]


@pytest.fixture(scope="module")
def given(folder) -> Path:
    """A folder with all files that the commands name."""
    (folder / "all.txt").symlink_to(ALL_GROUPS)
    for file in (*CORPUS.glob("*.jsonl"), *CORPUS.glob("scenarios/*.json")):
        (folder / file.name).symlink_to(file)
    return write(folder, FILES)


@pytest.mark.parametrize(("command", "line"), REFUSED, ids=[command for command, _ in REFUSED])
def test_what_cannot_be_used_is_refused_in_one_line_and_leaves_nothing(given, command, line):
    command, line = (
        text.replace("LONG", LONG).replace("DIGITS", DIGITS) for text in (command, line)
    )
    said = one_line(assay(*shlex.split(command), cwd=given), 2)
    assert re.fullmatch(re.escape(line).replace(r"\.\.\.", ".*"), said), said
    assert not (given / "out").exists()
    assert not (given / "no.svg").exists()


FINDING = "kafka-java-sticky-terminates"
UNREADABLE = {
    "a name of 300 characters": (LONG, r"x{300}: cannot be read: File name too long"),
    "a folder": ("folder", r"folder: (cannot be read: Is a directory|no snapshot in .*)"),
    "a loop of links": ("loop", r"loop: cannot be read: Too many levels of symbolic links"),
    "a file under a device": ("/dev/null/x", r"/dev/null/x: cannot be read: Not a directory"),
    "a name that is no text": ("\udcff.json", r"\\udcff\.json: cannot be read: No such file .*"),
    "no bytes": ("/dev/null", r"/dev/null: (empty, .*|line 1 column 1: not JSON: .*)"),
    "a count of 5,000 digits": ("digits.json", r"digits\.json: .*more than 4300 digits.*"),
    "brackets a hundred thousand deep": ("deep.json", r"deep\.json: .*nested too deeply.*"),
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
    "reproduce": lambda out: ("reproduce", FINDING, "--findings", "findings.jsonl", "-o", out),
    "run": lambda out: ("run", "orders.json", "--assignor", "range", "--out", out),
}
ODD_FILES = {
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
def odd(given) -> dict:
    (given / "folder").mkdir()
    (given / "loop").symlink_to("loop")
    orders = (given / "orders.json").read_text()
    (given / "digits.json").write_text(orders.replace('"t0": 2', f'"t0": {DIGITS}'))
    (given / "deep.json").write_text('{"format":' + "[" * 100_000)
    (given / "latin.json").write_bytes(orders.replace("orders", "é").encode("latin-1"))
    return one_after_the_other({name: call for name, (call, _) in ODD_FILES.items()}, given)


@pytest.mark.parametrize("name", ODD_FILES)
def test_a_file_that_cannot_be_read_or_written_is_refused_in_one_line(odd, name):
    assert re.fullmatch(ODD_FILES[name][1], one_line(odd[name], 2))


WHOLE = {
    "made.jsonl": ("generate", "grid", "--members", "20"),
    "got.jsonl": ("import", "all.txt"),
    "got.parquet": ("import", "made.jsonl"),
    "other.jsonl": ("anonymise", "made.jsonl"),
    "out.lp": ("export", "one.json", "--lp"),
    "out.pb": ("export", "one.json", "--proto"),
    "out.svg": ("plot", "orders.json"),
    "out.html": ("report", "orders.json", "--assignor", "current"),
}


def test_a_file_that_does_not_fit_on_the_disk_stays_as_it_was(given):
    places = given / "places"
    places.mkdir()
    (given / "link.svg").symlink_to(places / "out.svg")
    made = assay(*WHOLE["made.jsonl"]).stdout
    write(given, {"made.jsonl": made, "one.json": made.partition("\n")[0]})
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    for name, command in WHOLE.items():
        place = given / "link.svg" if name == "out.svg" else places / name
        place.write_text("of yesterday")
        place.chmod(0o640)
        resource.setrlimit(resource.RLIMIT_FSIZE, (512, most))
        try:
            run = assay(*command, "-o", place, cwd=given)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        assert run.returncode == 2, run.stderr
        where = rf"({re.escape(str(place))}|a temporary file \(TMPDIR says where\))"
        full = rf"(.*\n)*assay: {where}: cannot be written: (File too large|No space left .*)\n"
        assert re.fullmatch(full, run.stderr), run.stderr
        assert place.read_text() == "of yesterday"
        assert assay(*command, "-o", place, cwd=given).returncode == 0
        assert place.stat().st_size > 512
        assert place.stat().st_mode & 0o777 == 0o640
    assert (given / "link.svg").is_symlink()
    assert {one.name for one in places.iterdir()} == {*WHOLE, "out.lp.json", "out.pb.json"}


def test_what_cannot_be_replaced_is_written_directly(given):
    pipe = given / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert assay("generate", "random", "-o", pipe).returncode == 0
    assert os.read(reader, 65536).startswith(b'{"format": "assay-group/1"')
    os.close(reader)
    assert pipe.is_fifo()


NOISE = {
    "bytes": lambda: random.Random(54).randbytes(100_000_000),
    "text": lambda: base64.b64encode(random.Random(54).randbytes(75_000_000)),
    "lines": lambda: b"7\n" * 50_000_000,
}


@pytest.mark.exhaustive
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
