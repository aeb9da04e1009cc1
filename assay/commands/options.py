"""Arguments and options that several commands share."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from glob import escape
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from assay.streams import IF_NOT_KNOWN, WHO_READS, note, note_failures
from assay.terminal import tell
from compare.sentences import not_valid_sentence, on_the_way_sentence
from compare.verdict import ALL_ALIKE, taken_alike
from groups.arrays import GREATEST
from groups.assignment import Assignment
from groups.collection import Groups, latest_of, of_one_time, readers_of_nothing
from groups.documents.texts import named
from groups.errors import BadInput, Failure
from groups.files import read_groups
from groups.fleet import Fleet
from groups.needs import lacking
from groups.tiers import MOVES, PRESETS, TIERS, called, in_words, tier_named
from groups.unknown import reading_as_told, reading_least
from groups.wording import (
    BEFORE_THE_BEGINNING,
    BEYOND_THE_END,
    ENDS_UNKNOWN,
    MOST_NAMED,
    ON_THE_WAY,
    PASSED_OVER,
    digits,
    few,
    nearest_or_some,
    one_of_several,
    whole_number,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from compare.advice.advice import Lower
    from groups.group import Group


DEFAULT_SECONDS = 10.0
# Commands that take --bootstrap-server and --assignor.
OF_A_CLUSTER = ("score", "advise")
# Most topics of a member in a suggested command.
MOST_TOPICS = 12
# Thirty years, which can still be added to a clock's time.
MOST_SECONDS = 1e9
# Numbers of too many digits for `whole_number` that Python still reads.
_LONG = re.compile(r"[0-9]{19,4300}")

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="a snapshot, JSON lines or what another tool printed; - is standard input",
    ),
]
FILES: Any = typer.Argument(
    metavar="FILE...",
    help="snapshots, JSON lines, what other tools printed, folders; - is standard input",
)
Views = Annotated[list[str], FILES]


def _objectives(incomplete: str) -> list[str]:
    return [name for name in (*PRESETS, *map(called, TIERS)) if name.startswith(incomplete)]


def _assignors(incomplete: str) -> list[str]:
    from heuristics import assignors
    from heuristics.shipped.task_assignor import task_assignors

    names = (*assignors(), *(found.name for found in task_assignors()))
    return [name for name in names if name.startswith(incomplete)]


Objective = Annotated[
    str,
    typer.Option(
        "--objective",
        metavar="OBJECTIVE",
        help="a preset, or tiers as in 'balance > moves'",
        autocompletion=_objectives,
    ),
]
AssumeEqual = Annotated[
    bool, typer.Option("--assume-equal", help="take unknown subscriptions as all topics")
]


def seconds_option(says: str) -> Any:
    """Return an option that takes seconds."""
    return typer.Option(min=0.001, max=MOST_SECONDS, help=says)


TimeLimitOption = Annotated[
    float, seconds_option("for each solve, and for each call of an assignor")
]
Format = Annotated[
    Literal["table", "json"], typer.Option("--format", help="how to print the answer")
]
Assignors = Annotated[
    list[str] | None,
    typer.Option(
        "--assignor",
        metavar="NAME",
        help="a name or pattern as assay assignors lists them, a class's name, 'written' or "
        "'shipped', or your own as module:function",
        autocompletion=_assignors,
    ),
]
FailAbove = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-above",
        metavar="TIER=N",
        help="exit code 1 if over the optimum by more, in earlier tiers at all",
    ),
]
StrictGate = Annotated[
    bool,
    typer.Option("--strict", help="exit code 1 also if something is not judged, or has no owner"),
]
AtMost = Annotated[
    list[str] | None,
    typer.Option(
        "--at-most", metavar="TIER=N", help="a limit, as in moves=3 for at most three moves"
    ),
]
Reads = Annotated[
    list[str] | None,
    typer.Option(
        "--reads",
        metavar="PATTERN=TOPICS",
        help="what members read, by member or client id: 'app-*=t0,t1', or '=+t1' for t1 besides, "
        "'=' for none",
    ),
]
Reset = Annotated[
    Literal["latest", "earliest"] | None,
    typer.Option("--reset", help="auto.offset.reset, if the snapshot does not say it"),
]
HostBy = Annotated[
    Literal["host", "client-id"],
    typer.Option(
        "--host-by", help="members share a host by 'host', or by client id up to its last number"
    ),
]
Rate = Annotated[
    int | None,
    typer.Option(
        "--rate",
        metavar="RECORDS",
        min=1,
        max=10**15,
        help="records a second that each member reads, if no capacity is known",
    ),
]
OneOf = Annotated[
    str | None, typer.Option("--group", metavar="NAME", help="the group, if there are several")
]


@dataclass(frozen=True, kw_only=True)
class GroupOptions:
    """What the command line says about groups if their source does not."""

    reads: Reads = None
    assume_equal: AssumeEqual = False
    reset: Reset = None
    rate: Rate = None
    host_by: HostBy = "host"

    def assumed(self, group: Group) -> Group:
        """Return a group, with unknown subscriptions taken as all topics if that was asked."""
        return group.with_equal_subscriptions() if self.assume_equal else group


Out = Annotated[str | None, typer.Option("-o", "--out", metavar="FILE", help="where to write")]
SnapshotsOut = Annotated[
    str | None,
    typer.Option(
        "-o", "--out", metavar="FILE", help="where to write: Parquet if it ends with .parquet"
    ),
]
Like = Annotated[
    str | None,
    typer.Option("--like", metavar="MEMBER", help="new members read what this one reads"),
]


def limits_of(
    given: Sequence[str] | None, objective: Sequence[str], option: str = "--fail-above"
) -> dict[str, int]:
    """Return the greatest excess of each tier that ``--fail-above`` or another option allows.

    Raises
    ------
    BadInput
        If a text is not TIER=N, or the tier is not in the objective or is given twice.
    """
    limits = _numbers_of(option, given)
    for tier in (one for one in limits if one not in objective):
        # Behind the moves, a tier would have nothing left to decide.
        last = len(objective) - (objective[-1] == MOVES)
        wider = (*objective[:last], tier, *objective[last:])
        add = f"; add it: --objective '{in_words(wider)}'"
        raise BadInput(
            f"{option} {tier}={limits[tier]}: {tier!r} is no tier of the objective, "
            f"which has {', '.join(map(called, objective))}{add if tier in TIERS else ''}"
        )
    return limits


def budgets_of(given: Sequence[str] | None) -> dict[str, int]:
    """Return the greatest value of each tier that ``--at-most`` allows.

    Raises
    ------
    BadInput
        If a text is not TIER=N, or the tier does not exist or is given twice.
    """
    from optimal.budgets.budget import parse_budgets

    return parse_budgets(_numbers_of("--at-most", given))


def _numbers_of(option: str, given: Sequence[str] | None) -> dict[str, int]:
    """Return the numbers of an option that takes TIER=N, by tier."""
    numbers: dict[str, int] = {}
    for text in given or ():
        name, _, number = text.partition("=")
        tier = tier_named(name)
        most = int(number) if _LONG.fullmatch(number) else whole_number(number)
        if most is None:
            worth = "; for a share of the peak: assay solve --only-if-peak-falls X%"
            hint = worth if re.fullmatch(r"[0-9.]+%", number) else ""
            raise BadInput(
                f"{option} {text}: expected TIER=N, with a whole number N of 0 or more{hint}"
            )
        if most > GREATEST:
            raise BadInput(f"{option} {name}: {digits(most)} leaves 64 bits")
        if tier in numbers:
            raise BadInput(f"{option} {text}: {called(tier)} is given twice")
        numbers[tier] = most
    return numbers


def given_in(options: Any) -> dict[str, object]:
    """Return the options of a dataclass that differ from their default, by option name."""
    return {
        f"--{one.name.replace('_', '-')}": value
        for one in fields(options)
        if (value := getattr(options, one.name)) not in (None, one.default)
    }


def words_of(given: Mapping[str, object]) -> Iterator[str]:
    """Yield options as words of a command line; a list repeats its option, None is left out."""
    for option, value in given.items():
        for one in value if isinstance(value, list | tuple) else () if value is None else [value]:
            yield option
            if one is not True:
                yield f"{one:g}" if isinstance(one, float) else str(one)


def refuse_given(given: Mapping[str, object], why: str) -> None:
    """Raise BadInput for the first option that was given, with the reason `why`."""
    for option, value in given.items():
        if value:
            raise BadInput(f"{option}: {why}")


def no_group_in(files: Sequence[str]) -> str:
    """Return the error message for files without a group."""
    return f"{', '.join(files)}: no group in it, add kafka-consumer-groups --describe"


def groups_in(
    files: Sequence[str], only: Sequence[str] | None, options: GroupOptions
) -> tuple[list[Group], list[Failure], list[Failure]]:
    """Return the groups asked for, as :func:`as_told` returns them; print what is missing.

    The second value has what could not be read. The third has groups in a state without an
    assignment, such as rebalancing; there may be no other group than these.

    Parameters
    ----------
    only : names or patterns of groups; empty or None: all
    """
    groups, damaged, not_had = _found(files, only or (), may_be_none=True)
    told = as_told(groups, options)
    _note_captures(told, groups.places)
    return told, damaged, not_had


def group_in(
    files: Sequence[str],
    name: str | None,
    options: GroupOptions,
    *,
    standard_input: bytes | None = None,
    otherwise: str | None = None,
) -> tuple[Group, list[Failure]]:
    """Return the group of that name, or the only group in files; and what could not be read.

    Of several captures of it, it is the latest.

    Parameters
    ----------
    standard_input : its content, if it has already been read
    otherwise : name to use for several groups if `name` is None

    Raises
    ------
    BadInput
        If the group is not there, or there are several and no name.
    """
    groups, damaged, _ = _found(files, [] if name is None else [name], standard_input)
    latest = [groups[at] for at in latest_of(groups)]
    meant = [group for group in latest if len(latest) == 1 or group.name == (name or otherwise)]
    if len(meant) != 1:
        raise one_of_several(_all_named(files), [group.name for group in latest])
    captures = asked_for(groups, [meant[0].name])
    _note_captures(captures, captures.places)
    (told,) = as_told(meant, options)
    return told, damaged


def one_group(
    files: Sequence[str],
    name: str | None,
    options: GroupOptions,
    *,
    standard_input: bytes | None = None,
    otherwise: str | None = None,
) -> Group:
    """Return the group of :func:`group_in`, with subscriptions assumed equal if that was asked.

    Raises
    ------
    BadInput
        As :func:`group_in` raises it, and if no name is given and something could not be read.
    """
    found, damaged = group_in(
        files, name, options, standard_input=standard_input, otherwise=otherwise
    )
    if damaged and name is None:
        raise BadInput(
            f"{_all_named(files)}: group {found.name} is in it, but not all could be read",
            remedy="group",
        )
    return options.assumed(found)


def other_objective(tiers: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a command line that ask for an objective; none for the default."""
    return () if tuple(tiers) == PRESETS["kip-54"] else ("--objective", in_words(tiers))


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The arguments of the running command, from which the commands that it suggests are made.

    Attributes
    ----------
    sources : files, or the options of a connection
    group : the group's name; None: all groups
    options : the options about groups
    """

    sources: Sequence[str]
    group: str | None
    options: GroupOptions = GroupOptions()
    assignors: Sequence[str] | None = None
    plans: Sequence[str] | None = None
    time_limit: float | None = None

    def command(self, name: str, *words: str) -> str:
        """Return the command line of another command with the same arguments.

        Examples
        --------
        >>> told = GroupOptions(assume_equal=True)
        >>> asked = Asked(sources=["my groups.txt"], group="orders", options=told)
        >>> asked.command("advise", "--lower", "peak_load")
        "assay advise 'my groups.txt' --group orders --assume-equal --lower peak_load"
        >>> Asked(sources=["-"], group=None).command("score")
        'assay score FILE'
        >>> asked = Asked(sources=["--bootstrap-server", "h:9092"], group="orders")
        >>> asked.command("size")
        'assay capture --bootstrap-server h:9092 --group orders | assay size -'
        """
        group, limit = words_of({"--group": self.group}), self.time_limit
        told = {
            "--assignor": self.assignors if name in OF_A_CLUSTER else None,
            "--plan": self.plans if name == "score" else None,
            **given_in(self.options),
            "--time-limit": None if limit == DEFAULT_SECONDS else limit,
        }
        words = (*words_of(told), *words)
        # Standard input cannot be read a second time.
        sources = ["FILE" if source == "-" else source for source in self.sources]
        if self.sources[0].startswith("--bootstrap-server") and name not in OF_A_CLUSTER:
            captured = shlex.join(("assay", "capture", *self.sources, *group))
            return f"{captured} | {shlex.join(('assay', name, '-', *words))}"
        return shlex.join(("assay", name, *sources, *group, *words))

    def solve(self, objective: str) -> str:
        """Return the command that solves the group for an objective."""
        return self.command("solve", "--objective", objective)

    def about(self, group: str) -> Asked:
        """Return the same arguments for one group."""
        return replace(self, group=group)

    def advise(self, lower: Lower, *, assumed: bool) -> str:
        """Return the command that says how the greatest load, or lag, falls.

        Parameters
        ----------
        assumed : whether unknown subscriptions are taken as equal
        """
        told = replace(self.options, assume_equal=self.options.assume_equal or assumed)
        return replace(self, options=told).command("advise", "--lower", lower)


def how_to_answer(
    asks: Sequence[tuple[str, str]], group: Group, asked: Asked, *command: str
) -> Iterator[str]:
    """Yield lines on how to answer a question on who reads what: yes, no, or unknown.

    Parameters
    ----------
    asks : the (member, topic) pairs that the question is about
    command : the command that takes the answer, and its further words
    """
    topics: dict[str, list[str]] = {}
    for member, topic in asks:
        topics.setdefault(member, []).append(topic)
    if not topics:
        yield WHO_READS
        return
    least = reading_least(group)
    reads = {
        member: [group.topics[t] for t in least.subscription(group.members.index(member))]
        for member in topics
    }
    yes, no = (
        _with_reads([f"{escape(member)}={also}{_all_of(of)}" for member, of in told.items()])
        for also, told in (("+", topics), ("", reads))
    )
    alone = len(topics) == 1
    each, held = ("it reads", "what it holds") if alone else ("each reads", "what they hold")
    more = "the topic" if len(asks) == 1 else "the topics"
    yield f"If yes, add {more}: {asked.command(*command, *yes)}"
    yield f"If no, name all that {each}, here {held}: {asked.command(*command, *no)}"
    yield IF_NOT_KNOWN


def _with_reads(rules: Sequence[str]) -> list[str]:
    """Return a ``--reads`` option for each of the first rules, then dots if there are more."""
    words = [word for rule in rules[:MOST_NAMED] for word in ("--reads", rule)]
    return [*words, *(["..."] if len(rules) > MOST_NAMED else [])]


def _all_of(topics: Sequence[str]) -> str:
    more = ["..."] if len(topics) > MOST_TOPICS else []
    return ",".join([*topics[:MOST_TOPICS], *more])


def _all_named(files: Sequence[str]) -> str:
    return ", ".join(map(named, files))


def tell_how_it_stands(group: Group) -> None:
    """Print that a rebalance is under way, why what members hold is not valid, and a condition."""
    not_valid = not_valid_sentence(Assignment.current(group))
    for said in filter(None, (on_the_way_sentence(group), not_valid)):
        tell(said)
    tell_condition(group)


def tell_condition(group: Group) -> None:
    """Print that an answer takes unknown subscriptions as equal, if it does."""
    if taken_alike(group.assumed):
        tell(f"This holds if {ALL_ALIKE}.")


def as_told(groups: Sequence[Group], options: GroupOptions) -> list[Group]:
    """Return groups with what options say about them; print subscriptions that match no topic.

    Unknown subscriptions stay unknown: assuming them equal is left to the judgement.
    """
    told = reading_as_told(groups, options.reads or ())
    told = [group.with_reset(options.reset) for group in told]
    if options.host_by == "client-id":
        told = [group.with_hosts_by_client_id() for group in told]
    if options.rate is not None:
        told = [group.with_rate(options.rate) for group in told]
    absent = readers_of_nothing(told)
    if absent:
        note(absent)
    return told


# Of logs that cannot be seen, the reason is told, too: it stands before the partitions.
_TOLD_OF_MANY = re.compile(
    rf"{BEFORE_THE_BEGINNING}|{BEYOND_THE_END}|{ENDS_UNKNOWN} .*(?=: )|{ON_THE_WAY}"
)


def note_passed_over(groups: Sequence[Group]) -> None:
    """Print the assumptions about groups that a table of groups does not show.

    These are lines of the texts that were passed over, groups with a commit outside of a log or
    with a log that cannot be seen, and groups on the way to their target.
    """
    lines = (line for group in groups for line in group.assumed if line.startswith(PASSED_OVER))
    for line in dict.fromkeys(lines):
        note(line)
    told: dict[str, dict[str, str]] = {}
    for group in groups:
        for line in group.assumed:
            if found := _TOLD_OF_MANY.search(line):
                told.setdefault(found.group(), {})[group.name] = line
    for start, line_of in sorted(told.items()):
        if len(line_of) == 1:
            note(": ".join(*line_of.items()))
        else:
            note(f"{few([*line_of])}: {start}")


def note_unused_capacity(
    groups: Sequence[Group], tiers: Sequence[str], options: GroupOptions, command: str = ""
) -> None:
    """Print that the objective ignores the members' capacities, and one that can use them.

    Prints nothing if --rate is given, which sets every capacity.

    Parameters
    ----------
    command : the command that takes that objective, if it is not the running one
    """
    given = [one for one in groups if any(member.capacity for member in one.details)]
    if not given or "peak_time" in tiers or options.rate is not None:
        return
    where = given[0].name if len(given) == 1 else f"{len(given):,} groups"
    other = f"--objective '{in_words((tiers[0], 'peak_time', *tiers[1:]))}'"
    uses = f"; {f'{command} {other}'.lstrip()} uses it"
    if lacking(Fleet.of([one.with_equal_subscriptions() for one in given]), ("peak_time",)):
        uses = ", and peak_time cannot use it: lag, or another member's capacity, is not known"
    note(f"{where}: members have a capacity, which {in_words(tiers)} leaves out{uses}")


def _found(
    files: Sequence[str],
    only: Sequence[str],
    standard_input: bytes | None = None,
    *,
    may_be_none: bool = False,
) -> tuple[Groups, list[Failure], list[Failure]]:
    """Return the groups asked for, what could not be read, and groups without an assignment.

    Both kinds of failures are printed.

    Parameters
    ----------
    may_be_none : whether groups in a state without an assignment are enough to go on
    """
    groups = read_groups(files, standard_input=standard_input)
    failures = groups.failures
    none_to_be_had = may_be_none and any(one.not_to_be_had for one in failures)
    if not groups and len(failures) == 1 and not none_to_be_had:
        raise BadInput(str(failures[0]))
    known = {group.name for group in groups}
    every = names_of(groups)
    for failure in failures:
        if failure.group in only and failure.group not in known:
            raise BadInput(f"--group {failure.group}: {failure}")
    chosen = asked_for(groups, only)
    note_failures(chosen.failures)
    if not groups and not none_to_be_had:
        none = f"{', '.join(files)}: no group in it that could be scored"
        raise BadInput(none if failures else no_group_in(files))
    require_named(only, every if may_be_none else known, every)
    damaged = [f for f in chosen.failures if not f.not_to_be_had]
    return chosen, damaged, [f for f in chosen.failures if f.not_to_be_had]


def note_one_time(
    named: Sequence[str],
    many: int | None = None,
    apart: str = "score the files of each by themselves",
) -> None:
    """Print which groups have several captures of one time, and what to do.

    Parameters
    ----------
    named : the groups, or the first ones of `many`
    apart : what to do with the captures of several clusters
    """
    told = f"several captures of one time: {few(named, many)}"
    clusters = f"if they are of several clusters, {apart}"
    note(f"{told}. If their files lost their times, copy them with cp -p; {clusters}.")


def _note_captures(groups: Sequence[Group], places: Sequence[str]) -> None:
    """Print which capture counts: the latest of one group, and which of those of one time."""
    captures = [(group.name, group.captured_at) for group in groups]
    told: dict[str, str] = {}
    for at, many in of_one_time(captures).items():
        name, time = captures[at]
        counts = f"of {time}, {places[at]} counts" if time else "without a time, each counts"
        told[name] = f"{name} ({many:,} {counts})"
    latest = latest_of(groups)
    if told:
        note_one_time([*told.values()])
    elif len(latest) == 1 < len(captures):
        name, time = captures[latest[0]]
        counts = f"the latest counts, of {time} ({places[latest[0]]})"
        note(f"{name}: {len(captures):,} captures, of which {counts}")


def names_of(groups: Groups) -> set[str]:
    """Return the names of groups, and of those that failed."""
    return {one.name for one in groups} | {one.group for one in groups.failures if one.group}


def asked_for(groups: Groups, only: Sequence[str]) -> Groups:
    """Return the groups with the names or patterns `only`, with their failures; empty: all."""
    if not only:
        return groups
    wanted = named_in(names_of(groups), only)
    kept = [at for at, group in enumerate(groups) if group.name in wanted]
    failures = [one for one in groups.failures if one.group is None or one.group in wanted]
    return Groups([groups[at] for at in kept], failures, [groups.places[at] for at in kept])


def named_in(names: Collection[str], only: Sequence[str]) -> set[str]:
    """Return the names asked for; a word that is no name is a pattern, as in ``orders-*``."""
    known, found = {*names}, set[str]()
    for one in only:
        found |= {one} if one in known else {name for name in known if fnmatchcase(name, one)}
    return found


def require_named(only: Sequence[str], known: Collection[str], every: Collection[str]) -> None:
    """Raise BadInput for a name or pattern that matches nothing in `known`.

    Parameters
    ----------
    every : names among which the message looks for the nearest
    """
    for one in sorted(set(only)):
        if not named_in(known, [one]):
            raise BadInput(f"--group {one}: no group of that name{nearest_or_some(one, every)}")
