"""Catalogue: every assignor by its name: as written, as shipped, and the user's own.

A new assignor as written is a new file in ``written`` and an entry in ``_WRITTEN``: its name,
where it is from, the KIP, its function, and whether it promises balance over all topics. A
client whose code is called as it is, is a new file in ``shipped`` and a line there.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from groups import BadInput
from heuristics.assignor import Assignor
from heuristics.nearest import nearest
from heuristics.own import installed, is_own, own_function, own_named, require_importable
from heuristics.shipped import ALL, CLIENTS, known_as, listed, names_like, shipped_named
from heuristics.shipped.task_assignor import TaskAssignor
from heuristics.written import kip54, kip169_lag, kip615, range, round_robin, sticky_that_ends

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from heuristics.own import AssignorFunction


_WRITTEN = (
    ("range", "RangeAssignor, as documented", None, range.plan, False),
    ("roundrobin", "RoundRobinAssignor, as documented", None, round_robin.plan, False),
    ("kip-54-sticky", "KIP-54, fair yet sticky", "KIP-54", kip54.sticky, True),
    ("kip-54-fairest", "KIP-54, the alternative: sticky yet fair", "KIP-54", kip54.fairest, True),
    ("kip-615-constrained", "KIP-615, as written", "KIP-615", kip615.constrained, True),
    ("kip-615-amended", "KIP-615, its promise kept", "KIP-615", kip615.amended, True),
    ("kip-429-cooperative", "KIP-429 over KIP-54", "KIP-429", kip54.cooperative, True),
    ("kip-169-lag", "KIP-169, its algorithm", "KIP-169", kip169_lag.plan, False),
    (
        "sticky-that-ends",
        "KIP-54 as shipped, with a rule that ends",
        None,
        sticky_that_ends.plan,
        True,
    ),
)

WRITTEN: Mapping[str, Assignor] = MappingProxyType(
    {
        name: Assignor(name, "written", source, version, function, balances=balances)
        for name, source, version, function, balances in _WRITTEN
    }
)


@cache
def assignors() -> Mapping[str, Assignor]:
    """Return the assignors by name: those written, those shipped, newest versions first, your own.

    Your own are those that installed packages bring. Made once, when it is first asked for:
    clients that are installed are asked for their version.
    """
    found = {**WRITTEN, **{shipped.name: shipped for shipped in listed()}}
    for own in installed():
        found.setdefault(own.name, own)
    return MappingProxyType(found)


def assignor_named(name: str | AssignorFunction) -> Assignor:
    """Return the assignor of that name, whether it can be called here or not.

    A function of yours is named as ``module:function``, or handed over as it is.

    A shipped one may be of a version that is not listed; without a version it is of the newest
    that can be called here. Kafka's own may be named as in a configuration:
    ``cooperative-sticky``, ``CooperativeStickyAssignor`` or the full class name, ``uniform``.
    ``range`` and ``roundrobin`` are those as written, which agree with Kafka's.
    ``kafka-streams/sticky`` and its like assign tasks: they refuse other groups, and other
    assignors refuse streams groups; :func:`assignors` does not have them.

    Raises
    ------
    BadInput
        Where no assignor has that name, the message has the three nearest; or a function could
        not be imported by another process.
    """
    if isinstance(name, Assignor):
        return name
    if not isinstance(name, str):
        return own_function(name)
    if name in WRITTEN:
        return WRITTEN[name]
    if name.startswith("kafka-streams/"):
        return TaskAssignor.named(name).assignor
    known = known_as(name)
    if known is not None or "/" in name:
        return shipped_named(known or name)
    found = own_named(name)
    if found is None:
        raise _unknown(name)
    return found


def available() -> tuple[str, ...]:
    """Return the names of what can be called here: as written, and the newest of each shipped."""
    found: dict[str, str] = {}
    for name, assignor in assignors().items():
        unversioned = name.partition("@")[0]
        if unversioned not in found and assignor.missing() is None:
            found[unversioned] = name
    return tuple(found.values())


def matching(names: Iterable[str], *, besides: Collection[str] = ()) -> tuple[str, ...]:
    """Return assignors' full names, for a pattern such as ``kafka-java/*`` all that match.

    ``written`` stands for all as written, ``shipped`` for the newest of each client's that can be
    called here, and a client's name, such as ``kafka-java``, for the newest of each of its own.

    Parameters
    ----------
    besides : names that are no assignor's, and stay as they are

    Raises
    ------
    BadInput
        Where a name is no assignor's, a pattern matches none, or a function of the user's cannot
        be imported.
    """
    found: dict[str, None] = {}
    own: list[Assignor] = []
    for name in names:
        if name in besides:
            found[name] = None
        elif name in ("written", "shipped"):
            here = (one for one in available() if assignors()[one].kind == name)
            found.update(dict.fromkeys(here))
        elif name in CLIENTS:
            found.update(
                {shipped_named(f"{name}/{a}").name: None for a in CLIENTS[name].assignors}
            )
        elif "*" in name:
            matched = [one for one in assignors() if fnmatchcase(one, name)]
            if not matched:
                raise BadInput(f"assignor: nothing listed matches {name!r}")
            found.update(dict.fromkeys(matched))
        else:
            try:
                assignor = assignor_named(name)
            except BadInput as error:
                meant = (*besides, *filter(name.startswith, CLIENTS))
                raise (_unknown(name, meant) if _is_plain(name) else error) from None
            found[assignor.name] = None
            if assignor.kind == "own":
                own.append(assignor)
    require_importable(own)
    return tuple(found)


def the_one_matching(name: str) -> Assignor:
    """Return the one assignor that a name or a pattern of :func:`matching` means.

    Raises
    ------
    BadInput
        Where it is no assignor's, or means several.
    """
    found = matching([name])
    if len(found) != 1:
        raise BadInput(f"assignor: {name!r} means {len(found)}, expected one")
    return assignor_named(found[0])


def _is_plain(name: str) -> bool:
    return "/" not in name and not is_own(name)


def _unknown(name: str, besides: Collection[str] = ()) -> BadInput:
    own = (found.name for found in installed())
    near = nearest(name, (*WRITTEN, *names_like(name), *own, *besides))
    return BadInput(f"assignor: unknown name {name!r}; nearest: {near}; {ALL}")


# `range` and `roundrobin` as written agree with Kafka's, and need no JVM.
AGREE_WITH_KAFKAS = ("range", "roundrobin")
SHIPPED = ("kafka-java/sticky", "kafka-java/cooperative-sticky", "kafka-broker/uniform")
# What is tried instead where no class of Kafka's is here that can be called.
WRITTEN_INSTEAD = ("kip-429-cooperative", "kip-54-sticky")


def usual_assignors() -> list[str]:
    """Return the assignors that are tried where nobody names one: those that most groups run.

    `range`, `roundrobin`, and Kafka's `sticky`, `cooperative-sticky` and `uniform` as far as they
    can be called here; where none can, the rules `kip-429-cooperative` and `kip-54-sticky`.
    """
    return [*AGREE_WITH_KAFKAS, *(shipped_here() or WRITTEN_INSTEAD)]


def shipped_here() -> list[str]:
    """Return the classes of Kafka's, of those that most groups run, that can be called here."""
    found = map(assignor_named, SHIPPED)
    return [assignor.name for assignor in found if assignor.missing() is None]
