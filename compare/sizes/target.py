"""Target: what a group of the right size is to keep to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from groups.errors import BadInput

Aim = Literal["peak_lag", "peak_time", "peak_load", "load_spread", "balance"]
AIMS: tuple[Aim, ...] = get_args(Aim)
SECONDS_IN: dict[str, int] = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400}
_SIZES: dict[str, int] = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}
_NUMBER = re.compile(r"([0-9]{1,15}) ?([A-Za-z]*)")


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
    found, units = _NUMBER.fullmatch(value), SECONDS_IN if name == "peak_time" else _SIZES
    if re.fullmatch(r"[0-9]{16,} ?[A-Za-z]*", value):
        raise BadInput(f"target {text}: N is too big; expected at most 15 digits")
    if found is None or found[2] not in units:
        what = "a time as in 300, 5m or 2h" if name == "peak_time" else "a number as in 8 or 400k"
        raise BadInput(f"target {text}: expected {name}=N, with N {what}")
    return {name: int(found[1]) * units[found[2]]}
