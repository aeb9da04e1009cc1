"""The command ``assay``: parses, calls and prints."""

from __future__ import annotations

import json
import os
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.exceptions import TyperException

from groups.documents import decode, parse_json, read_bytes, read_documents
from groups.errors import AssayError, BadInput, InvalidAssignment, ProofError
from groups.group import Group
from groups.tiers import TIERS, parse_objective

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

app = typer.Typer(
    name="assay",
    help="The provably optimal assignment of a Kafka consumer group, and how far others are.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Format = Literal["table", "json"]
File = Annotated[str, typer.Argument(help="an assay-group/1 snapshot, - for standard input")]
ObjectiveOption = Annotated[
    str, typer.Option("--objective", help="a preset, or tiers as in 'balance > stickiness'")
]
AssumeEqual = Annotated[
    bool, typer.Option("--assume-equal", help="take unknown subscriptions as all topics")
]
TimeLimitOption = Annotated[
    float | None,
    typer.Option("--time-limit", min=0.001, help="seconds for each solve or assignor"),
]
FormatOption = Annotated[Format, typer.Option("--format", help="how to print the answer")]
Assignors = Annotated[
    list[str] | None,
    typer.Option(
        "--assignor", help="one to score, or a pattern as in 'kafka-java/*'; may be given again"
    ),
]
FailAbove = Annotated[
    list[str] | None,
    typer.Option("--fail-above", metavar="TIER=N", help="exit 1 where the excess exceeds N"),
]
DEFAULT_SECONDS = 10.0
MOST_LINES = 20
FEW = 10


def main() -> None:
    """Run the command and leave with its exit code.

    0 done; 1 worse than allowed, or an assignment or a proof does not hold; 2 bad usage or bad
    input, one line; 3 an error inside.
    """
    try:
        code = app(standalone_mode=False)
    except (InvalidAssignment, ProofError) as error:
        code = _say(str(error), 1)
    except BadInput as error:
        code = _say(str(error), 2)
    except typer.Exit as left:
        code = left.exit_code
    except TyperException as error:
        format_message = getattr(error, "format_message", error.__str__)
        code = _say(f"{' '.join(format_message().split())} (see assay --help)", 2)
    except typer.Abort:
        code = _say("interrupted", 130)
    except BrokenPipeError:
        # Whoever read our output has gone; nothing is left to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    except AssayError as error:
        code = _say(f"an error inside: {error}", 3)
    except Exception as error:
        if "ASSAY_DEBUG" in os.environ:
            raise
        line = " ".join(f"{type(error).__name__}: {error}".split())
        code = _say(f"an error inside: {line} (ASSAY_DEBUG=1 shows where)", 3)
    sys.exit(code or 0)


@app.callback(invoke_without_command=True)
def _assay(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="print the version")] = False,
) -> None:
    if version:
        from assay import __version__

        _print(f"assay {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        _print(context.get_help())
        raise typer.Exit


@app.command()
def solve(
    file: File,
    *,
    objective: ObjectiveOption = "kip-54",
    method: Annotated[
        Literal["auto", "flow", "cp-sat", "ilp", "brute"], typer.Option(help="how to solve")
    ] = "auto",
    time_limit: TimeLimitOption = None,
    assume_equal: AssumeEqual = False,
    format_: FormatOption = "table",
) -> None:
    """Print the reference assignment of one group, with its proof."""
    from assay import printing
    from optimal import solve as solve_group

    group = _group(file, assume_equal=assume_equal)
    solution = solve_group(group, objective, method=method, time_limit=time_limit)
    _warn(group.assumed)
    if format_ == "json":
        _print_json(solution.to_dict())
    else:
        printing.print_solution(solution)


@app.command()
def check(
    file: File,
    solution: Annotated[str, typer.Argument(help="an assay-solution/1 document")],
    *,
    assume_equal: AssumeEqual = False,
) -> None:
    """Recompute validity, every term and a certificate, without a solver."""
    from optimal.certificate import check as check_solution
    from optimal.solution import Solution

    group = Group.read(file)
    data = read_bytes(solution)
    try:
        document = parse_json(decode(data))
        assumed = document.get("assumed") if isinstance(document, dict) else None
        equal = group.with_equal_subscriptions()
        if assume_equal or assumed == list(equal.assumed):
            group = equal
        answer = Solution.from_dict(group, document)
        unchecked = check_solution(group, answer)
    except AssayError as error:
        raise type(error)(f"{solution}: {error}") from None
    _warn(group.assumed)
    for line in unchecked:
        _print(f"not checked: {line}")
    if answer.assignment is not None:
        terms = ", ".join(f"{term.name} {term.value}" for term in answer.terms)
        proved = "" if unchecked else "; the certificate proves it optimal"
        _print(f"the assignment is valid and costs what it says: {terms}{proved}")


@app.command()
def validate(
    files: Annotated[list[str], typer.Argument(help="assay-group/1 files, .json or .jsonl")],
) -> None:
    """Say of each snapshot whether it is good."""
    bad = 0
    for file in files:
        name = "standard input" if file == "-" else file
        try:
            documents = read_documents(read_bytes(file), name)
        except BadInput as error:
            bad = _say(str(error), 2)
            continue
        for place, document in documents:
            try:
                if isinstance(document, BadInput):
                    raise document
                try:
                    group = Group.from_dict(document)
                except BadInput as error:
                    raise error.within(place) from None
            except BadInput as error:
                bad = _say(str(error), 2)
            else:
                sizes = f"{len(group.members)} members, {group.n_partitions} partitions"
                _print(f"{place}: good: group {group.name}, {sizes}")
    raise typer.Exit(bad)


@app.command()
def score(
    file: File,
    *,
    assignor: Assignors = None,
    objective: ObjectiveOption = "kip-54",
    time_limit: TimeLimitOption = None,
    assume_equal: AssumeEqual = False,
    fail_above: FailAbove = None,
    format_: FormatOption = "table",
) -> None:
    """Hold what the members own now, and the assignors, against the optimum."""
    from assay import printing
    from compare.score import (
        CURRENT,
        assignors_asked,
        score_assignors,
        scores_document,
        too_far,
    )
    from heuristics.time_limit import TimeLimit
    from optimal import solve as solve_group

    limits = _limits(fail_above or [])
    asked = assignors_asked(assignor)
    group = _group(file, assume_equal=assume_equal)
    solution = solve_group(group, objective, time_limit=time_limit)
    names = [CURRENT, *(name for name in asked if name != CURRENT)]
    with TimeLimit(time_limit or DEFAULT_SECONDS) as limit:
        rows = score_assignors(group, solution, names, limit)
    _warn(group.assumed)
    if format_ == "json":
        _print_json(scores_document(group, solution, rows))
    else:
        printing.print_scores(solution, rows)
    judged = [row for row in rows if row.assignor in (asked if assignor else [CURRENT])]
    lines = too_far(judged, limits) if limits else []
    for line in lines:
        _say(line, 1)
    raise typer.Exit(1 if lines else 0)


@app.command()
def assignors(*, format_: FormatOption = "table") -> None:
    """List what can be scored here."""
    from assay import printing
    from heuristics import ASSIGNORS

    rows = []
    for found in ASSIGNORS.values():
        reason = found.missing()
        row = {"name": found.name, "kind": found.kind, "source": found.source}
        rows.append(
            {**row, "version": found.version, "available": reason is None, "reason": reason}
        )
    if format_ == "json":
        _print_json({"format": "assay-assignors/1", "assignors": rows})
    else:
        printing.print_assignors(rows)


@app.command()
def fetch(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CLIENT[@VERSION]",
            help="such as kafka-java@4.4.0; all that are listed if left out",
        ),
    ] = None,
) -> None:
    """Bring clients' jars to this machine, or build what calls them."""
    from heuristics.shipped import CLIENTS, client_and_version

    asked = names or [f"{name}@{v}" for name, c in CLIENTS.items() for v in c.versions()]
    bad = 0
    for client, version in [client_and_version(name) for name in asked]:
        try:
            client.fetch(version)
        except BadInput as error:
            bad = _say(f"{client.name}@{version}: {error}", 2)
        else:
            _print(f"{client.name}@{version}: ready")
    raise typer.Exit(bad if names else 0)


@app.command()
def probe(
    file: Annotated[
        str | None,
        typer.Argument(help="assay-group/1 snapshots, - for standard input; else small ones"),
    ] = None,
    *,
    assignor: Annotated[
        str | None,
        typer.Option("--assignor", help="its name on the wire; else the client's first choice"),
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.001, help="seconds to wait for each plan")
    ] = 60.0,
    objective: ObjectiveOption = "kip-54",
    assume_equal: AssumeEqual = False,
    format_: FormatOption = "table",
) -> None:
    """Make any client that connects here lead a group, and score its plan."""
    from assay import printing
    from assay.extras import require
    from compare.probed import score_client
    from compare.score import scores_document
    from compare.small_groups import drawn
    from heuristics.shipped.coordinator import OWN_TOPIC
    from heuristics.shipped.driver import GROUP_ID
    from heuristics.shipped.probe import Late, Probe
    from optimal import solve as solve_group

    require("kafka", extra="clients")
    groups = list(islice(drawn(1), FEW)) if file is None else _groups(file, equal=assume_equal)
    try:
        with Probe(say=_progress) as coordinator:
            _progress(f"bootstrap.servers={coordinator.bootstrap}")
            _progress(f"group.id={GROUP_ID}")
            _progress(
                f"subscribe to {OWN_TOPIC}; waiting for a client, {timeout:g} s for each group"
            )
            for group in groups:
                solution = solve_group(group, objective)
                try:
                    row = score_client(coordinator, group, solution, assignor, timeout=timeout)
                except Late as late:
                    raise BadInput(f"{group.name}: {late}") from None
                _warn(group.assumed)
                if format_ == "json":
                    _print_json(scores_document(group, solution, [row]))
                else:
                    printing.print_scores(solution, [row])
    except KeyboardInterrupt:
        raise typer.Abort from None


@app.command(name="import")
def import_(
    files: Annotated[list[str], typer.Argument(help="texts of other tools, - standard input")],
    *,
    from_: Annotated[str, typer.Option("--from", help="the tool; auto recognises it")] = "auto",
    out: Annotated[str | None, typer.Option("-o", "--out", help="where to write")] = None,
) -> None:
    """Turn console output and other tools' JSON into assay-group/1, views of a group merged."""
    from groups.importers import import_texts

    sources = [("standard input" if f == "-" else f, read_bytes(f)) for f in files]
    documents = import_texts(sources, dialect=from_)
    lines = []
    for document in documents:
        group = Group.from_dict(document)
        _warn([f"{group.name}: {line}" for line in group.assumed])
        lines.append(json.dumps(document, ensure_ascii=False))
    if len(documents) == 1:
        lines = [json.dumps(documents[0], ensure_ascii=False, indent=1)]
    _write(lines, out)


@app.command()
def anonymise(
    file: Annotated[str, typer.Argument(help="a snapshot, .json or .jsonl")],
    *,
    out: Annotated[str | None, typer.Option("-o", "--out", help="where to write")] = None,
) -> None:
    """Replace the names in a snapshot by pseudonyms; the optimum stays the same."""
    from groups.anonymise import anonymise_all

    name = "standard input" if file == "-" else file
    documents = []
    for place, document in read_documents(read_bytes(file), name):
        if isinstance(document, BadInput):
            raise document
        try:
            Group.from_dict(document)
        except BadInput as error:
            raise error.within(place) from None
        documents.append(document)
    _write((json.dumps(d, ensure_ascii=False) for d in anonymise_all(documents)), out)


@app.command()
def generate(
    family: Annotated[
        Literal["grid", "differing", "equal", "buckets", "nested", "random"],
        typer.Argument(
            help="the maintainers' grid, differing subscriptions, or one kind of group"
        ),
    ],
    *,
    seed: Annotated[int, typer.Option(min=0, help="the first seed")] = 1,
    count: Annotated[int, typer.Option(min=1, help="groups per point, one seed each")] = 1,
    members: Annotated[
        list[int] | None, typer.Option(min=1, help="size of the group; may be given again")
    ] = None,
    per_member: Annotated[int, typer.Option(min=1, help="partitions per member")] = 10,
    topics: Annotated[int, typer.Option(min=1, help="number of topics")] = 10,
    event: Annotated[
        Literal[
            "fresh",
            "join-one",
            "join-many",
            "leave-one",
            "leave-many",
            "partitions-added",
            "stable",
        ],
        typer.Option(help="what happened since the last assignment, which was optimal"),
    ] = "fresh",
    skewed: Annotated[bool, typer.Option("--skewed", help="topics of unequal size")] = False,
    most_partitions: Annotated[
        int, typer.Option(min=1, help="largest group of the grid")
    ] = 10_000,
    out: Annotated[str | None, typer.Option("-o", "--out", help="where to write")] = None,
) -> None:
    """Print seeded groups as JSON lines."""
    from compare.families import Family, differing, grid

    sizes = tuple(members or [10])
    if family == "grid":
        points = list(grid(sizes, most_partitions))
    elif family == "differing":
        points = list(differing(sizes))
    else:
        points = [Family(size, per_member, topics, family, event, skewed) for size in sizes]
    groups = (p.group(number) for p in points for number in range(seed, seed + count))
    _write((json.dumps(group.to_dict(), ensure_ascii=False) for group in groups), out)


@app.command()
def run(
    source: Annotated[str, typer.Argument(metavar="INPUT", help="a .jsonl file, or a folder")],
    *,
    out: Annotated[str, typer.Option("--out", help="folder of the tables")],
    assignor: Assignors = None,
    objective: ObjectiveOption = "kip-54",
    time_limit: TimeLimitOption = DEFAULT_SECONDS,
    assume_equal: AssumeEqual = False,
    fail_above: FailAbove = None,
) -> None:
    """Solve and score many groups on Spark; a second run fills only what is missing."""
    from assay.extras import require
    from compare.score import CURRENT, assignors_asked

    require("pyspark", "pyarrow", "pandas", extra="spark")
    from compare.spark.pipeline import Job, run_job, worse_rows

    limits = _limits(fail_above or [])
    asked = assignors_asked(assignor)
    job = Job(
        source=Path(source),
        out=Path(out),
        objective=parse_objective(objective),
        assignors=tuple(asked),
        time_limit=time_limit or DEFAULT_SECONDS,
        assume_equal=assume_equal,
    )
    summary = run_job(job, _progress)
    _print(summary.line())
    worse = (
        worse_rows(job, summary.keys, asked if assignor else [CURRENT], limits) if limits else []
    )
    for line in worse[:MOST_LINES]:
        _say(line, 1)
    if len(worse) > MOST_LINES:
        _say(f"and {len(worse) - MOST_LINES} more", 1)
    raise typer.Exit(1 if worse else 0)


@app.command()
def report(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="folder that assay run filled")],
    *,
    out: Annotated[str | None, typer.Option("-o", "--out", help="the page")] = None,
) -> None:
    """Write one self-contained page about a run."""
    from assay.extras import require

    require("altair", "vl_convert", "pandas", "pyarrow", extra="plots")
    from compare.report import write_report

    page = Path(out) if out else Path(folder) / "report.html"
    for line in write_report(Path(folder), page):
        _print(line)


@app.command()
def scenario(
    file: Annotated[str, typer.Argument(help="an assay-scenario/1 file, - for standard input")],
    *,
    assignor: Assignors = None,
    objective: ObjectiveOption = "kip-54",
    time_limit: TimeLimitOption = DEFAULT_SECONDS,
    assume_equal: AssumeEqual = False,
    format_: FormatOption = "table",
) -> None:
    """Take a group through a sequence of events, by assignors and by the optimum."""
    from assay import printing
    from compare.journey import play, result_document
    from compare.scenario import Scenario
    from compare.upgrade_paths import roll_out_by_rule, rollout_document
    from heuristics import available, matching
    from heuristics.time_limit import TimeLimit

    names = matching(assignor) if assignor else available()
    asked = Scenario.read(file, assume_equal=assume_equal)
    _warn(asked.group.assumed)
    if asked.rollout is not None:
        if assignor:
            raise BadInput(f"--assignor: rollout {asked.rollout} chooses its assignors itself")
        rollouts = roll_out_by_rule(asked.group, asked.rollout)
        if format_ == "json":
            _print_json(rollout_document(asked.group, rollouts))
        else:
            printing.print_rollouts(rollouts)
        return
    with TimeLimit(time_limit or DEFAULT_SECONDS) as limit:
        journeys = play(asked, list(names), limit, objective)
    if format_ == "json":
        _print_json(result_document(asked, journeys))
    else:
        printing.print_journeys(asked.name, journeys, steps=bool(assignor))


@app.command()
def hunt(
    assignor: Annotated[str | None, typer.Argument(help="whose promises to break")] = None,
    *,
    promise: Annotated[
        list[str] | None, typer.Option("--promise", help="one to break; may be given again")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="of the groups to try")] = 1,
    groups: Annotated[int, typer.Option(min=1, help="how many groups to try")] = 2000,
    seconds: Annotated[
        float, typer.Option(min=0.1, help="stop trying then, and shrinking as much later")
    ] = 60.0,
    time_limit: Annotated[
        float, typer.Option("--time-limit", min=0.001, help="seconds for each call")
    ] = 1.0,
    rederive: Annotated[
        str | None, typer.Option(metavar="FILE", help="derive the findings of a file again")
    ] = None,
    format_: FormatOption = "table",
) -> None:
    """Look for the smallest group on which an assignor breaks a promise."""
    from assay import printing
    from compare.findings import UNTRIED, hunt_findings, rederive_all
    from heuristics.time_limit import TimeLimit

    if (assignor is None) == (rederive is None):
        raise BadInput("expected either an assignor or --rederive FILE")
    with TimeLimit(time_limit) as limit:
        if assignor is None:
            changed = 0
            for name, difference in rederive_all(rederive or "", limit):
                changed += not (difference or UNTRIED).startswith(UNTRIED)
                _print(f"{name}: {difference or 'breaks as before'}")
            raise typer.Exit(1 if changed else 0)
        found = hunt_findings(
            assignor, promise, limit, seed=seed, groups=groups, seconds=seconds, say=_progress
        )
        for finding in found:
            if format_ == "json":
                _print_json(finding.to_dict())
            else:
                printing.print_finding(finding)


@app.command()
def reproduce(
    finding: Annotated[str, typer.Argument(help="its id, as in corpus/findings.jsonl")],
    *,
    findings: Annotated[
        str, typer.Option(metavar="FILE", help="the findings to look in")
    ] = "corpus/findings.jsonl",
    out: Annotated[
        str | None, typer.Option("-o", "--out", metavar="DIR", help="folder to write it to")
    ] = None,
    run_it: Annotated[
        bool, typer.Option("--run", help="run it here: exit code 1 where nothing is reproduced")
    ] = False,
) -> None:
    """Print a finding as a test program in the client's own language."""
    from tempfile import TemporaryDirectory

    from compare.findings import read_findings
    from compare.reproduce import program
    from compare.rerun import rerun

    known = {found.id: found for found in read_findings(findings)}
    if finding not in known:
        raise BadInput(f"{findings}: no finding {finding!r}, only {', '.join(known)}")
    made = program(known[finding])
    if out is not None:
        folder = Path(out)
        folder.mkdir(parents=True, exist_ok=True)
        _write([made.text.rstrip("\n")], str(folder / made.file))
        _print(str(folder / made.file))
    elif not run_it:
        _print(made.text.rstrip("\n"))
    if run_it:
        with TemporaryDirectory(prefix="assay-") as empty:
            came = rerun(made, known[finding].assignor, Path(empty))
        for line in came.said.splitlines():
            _progress(line)
        _print(
            f"{finding}: {'reproduced' if came.reproduced else 'not reproduced: the test passes'}"
        )
        raise typer.Exit(0 if came.reproduced else 1)


def _group(file: str, *, assume_equal: bool) -> Group:
    try:
        group = Group.read(file)
    except BadInput as error:
        hint = "; other tools' texts become snapshots with: assay import FILE"
        raise BadInput(f"{error}{hint if 'not JSON' in str(error) else ''}") from None
    return group.with_equal_subscriptions() if assume_equal else group


def _groups(file: str, *, equal: bool) -> list[Group]:
    """Read the groups of a .json or .jsonl file; every subscription must be known."""
    found = []
    name = "standard input" if file == "-" else file
    for place, document in read_documents(read_bytes(file), name):
        if isinstance(document, BadInput):
            raise document
        try:
            group = Group.from_dict(document)
            group = group.with_equal_subscriptions() if equal else group
            group.require_subscriptions()
        except BadInput as error:
            raise error.within(place) from None
        found.append(group)
    return found


def _limits(given: Sequence[str]) -> dict[str, int]:
    limits = {}
    for text in given:
        tier, _, number = text.partition("=")
        if tier not in TIERS or not number.isdecimal():
            raise BadInput(f"--fail-above {text}: expected TIER=N, with N of 0 or more")
        limits[tier] = int(number)
    return limits


def _write(lines: Iterable[str], out: str | None) -> None:
    if out is None:
        for line in lines:
            _print(line)
        return
    try:
        with Path(out).open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        raise BadInput(f"{out}: cannot be written: {error.strerror}") from None


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _print_json(document: Any) -> None:
    _print(json.dumps(document, ensure_ascii=False))


def _warn(assumed: Sequence[str]) -> None:
    for line in assumed:
        _progress(f"assumed: {line}")


def _progress(line: str) -> None:
    _say(line, 0)


def _say(line: str, code: int) -> int:
    # Names may hold line ends, and a message is one line.
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)
    sys.stderr.write(f"assay: {shown}\n" if code else f"{shown}\n")
    return code
