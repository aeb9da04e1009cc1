"""Sizing: what is known of a group with each of several numbers of members, and the target."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, get_args

from compare.lag.lowest import Hottest
from groups.errors import BadInput
from groups.framed import Framed
from groups.wording import SECONDS_IN, SIZES, counted, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from groups.tiers import Objective

FORMAT = "assay-size/1"
Aim = Literal["peak_lag", "peak_time", "peak_load", "load_spread", "balance"]
AIMS: tuple[Aim, ...] = get_args(Aim)


@dataclass(frozen=True)
class Target:
    """What a group of the right size is to keep to.

    Attributes
    ----------
    aim : `peak_lag` (records on one member), `peak_time` (seconds that one takes to catch up),
        `peak_load` (partitions on one member), `load_spread` (partitions of the fullest less
        those of the emptiest) or `balance` (KIP-54's score)
    at_most : the greatest value that will do
    """

    aim: Aim
    at_most: int

    @staticmethod
    def of(given: Mapping[str, int] | None) -> Target | None:
        """Return the target of ``{"peak_time": 300}``; None of nothing.

        Raises
        ------
        BadInput
            Where there are several, one is not known, or the number is below 0.
        """
        if not given:
            return None
        if not isinstance(given, Mapping):
            raise BadInput(f"target: {given!r}, expected a mapping as in {{'peak_lag': 1000}}")
        if len(given) > 1:
            raise BadInput(f"target: {' and '.join(given)}, expected one")
        ((name, most),) = given.items()
        aim = next((known for known in AIMS if known == name), None)
        if aim is None:
            raise BadInput(f"target: {name!r} is none of {', '.join(AIMS)}")
        if type(most) is not int or most < 0:
            raise BadInput(f"target.{name}: {most!r}, expected a whole number of 0 or more")
        return Target(aim, most)


def parse_target(text: str) -> dict[str, int]:
    """Return the target of ``peak_time=5m``, ``peak_lag=400k`` or ``peak_load=8``.

    Raises
    ------
    BadInput
        Where it is written in another way.
    """
    name, _, value = text.partition("=")
    if name not in AIMS:
        raise BadInput(f"target {text}: {name!r} is none of {', '.join(AIMS)}")
    found = whole_number(value, SECONDS_IN if name == "peak_time" else SIZES)
    if re.fullmatch(r"[0-9]{19,} ?[A-Za-z]*", value):
        raise BadInput(f"target {text}: N is too big; expected at most 18 digits")
    if found is None:
        what = "a time as in 300, 5m or 2h" if name == "peak_time" else "a number as in 8 or 400k"
        raise BadInput(f"target {text}: expected {name}=N, with N {what}")
    return {name: found}


@dataclass(frozen=True)
class Size:
    """A group with so many members, and its best assignment.

    Attributes
    ----------
    members : how many there are
    least_load, most_load : partitions of the emptiest and the fullest member
    idle : how many hold nothing
    balance : KIP-54's score
    peak_lag : records on the member with most; None where a lag is not known
    peak_lag_bound : no assignment that is as good in the tiers before has less
    peak_seconds, peak_seconds_bound : how long the slowest takes to catch up; None where that is
        not known
    proved : whether this is the best assignment
    meets : whether the target is met; None where that is open, or there is none
    """

    members: int
    least_load: int
    most_load: int
    idle: int
    balance: int
    peak_lag: int | None
    peak_lag_bound: int | None
    peak_seconds: int | None
    peak_seconds_bound: int | None
    proved: bool
    meets: bool | None = None

    def of(self, aim: Aim) -> tuple[int | None, int | None]:
        """(value, bound) of what a target is about; None where it is not known."""
        if aim == "peak_lag":
            return self.peak_lag, self.peak_lag_bound
        if aim == "peak_time":
            return self.peak_seconds, self.peak_seconds_bound
        spread = self.most_load - self.least_load
        found = {"peak_load": self.most_load, "load_spread": spread, "balance": self.balance}[aim]
        return found, found


@dataclass(frozen=True)
class Sizing(Framed):
    """How a group fares with each of several numbers of members.

    Attributes
    ----------
    group : its name
    objective : by which the best assignment of each is judged
    members_now, partitions : how many there are now; how many partitions somebody reads
    reads : what new members are taken to read, in a sentence
    hottest : (topic, partition, records) of the partition with most lag: no number of members puts
        less on one of them. None where no lag is known
    target : what is to be kept to; None where nobody said
    rows : one a number of members, ascending
    smallest : the fewest members found that keep to the target; None where none do
    smallest_uneven : the fewest members found that keep to a target of lag where loads may be
        uneven; None where those are no fewer
    sure : whether it is proved that no fewer of those looked at do
    assumed : of the group
    now : the group as it is assigned, so that `meets` says whether it is within the target; None
        where that is not valid
    """

    group: str
    objective: Objective
    members_now: int
    partitions: int
    reads: str
    hottest: tuple[str, int, int] | None
    target: Target | None
    rows: tuple[Size, ...]
    smallest: int | None
    sure: bool
    assumed: tuple[str, ...] = ()
    smallest_uneven: int | None = None
    now: Size | None = None

    def to_rows(self) -> Iterator[dict[str, object]]:
        """Return a row a number of members.

        The columns are `members`, `least_load` and `most_load` (partitions of one member), `idle`
        (members that hold nothing), `balance` (KIP-54's score), `peak_lag` and `peak_lag_bound`
        (records), `peak_seconds` and `peak_seconds_bound`, `proved` and `meets`, as a `Size` has
        them; None where one is not known.
        """
        yield from map(asdict, self.rows)

    @property
    def in_a_line(self) -> str:
        """How many members keep to the target, if there is one."""
        if self.target is None:
            return f"{self.group}: {counted(self.members_now, 'member')} now"
        found = "none of these" if self.smallest is None else counted(self.smallest, "member")
        bounded = "" if self.sure else ", and fewer may"
        return f"{self.group}: within {self.target.aim} {self.target.at_most}: {found}{bounded}"

    def to_dict(self) -> dict[str, object]:
        """Return the ``assay-size/1`` document."""
        most, aim = self.hottest, self.target
        return {
            "format": FORMAT,
            "group": self.group,
            "objective": list(self.objective),
            "target": aim and {"tier": aim.aim, "at_most": aim.at_most},
            "smallest": self.smallest,
            "smallest_uneven": self.smallest_uneven,
            "sure": self.sure,
            "members_now": self.members_now,
            "partitions": self.partitions,
            "new_members": self.reads,
            "most_in_one_partition": most and dict(zip(Hottest._fields, most, strict=True)),
            "rows": [asdict(row) for row in self.rows],
            "assumed": list(self.assumed),
        }
