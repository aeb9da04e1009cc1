"""Catalogue: every assignor by its name: as written, as shipped, and the user's own.

To add an assignor as written, add a file in ``written`` and an entry in ``_WRITTEN``: its name,
source, KIP, function, and whether it promises balance over all topics. To add a client, see
``heuristics.shipped``.
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
from heuristics.protocol import by_broker
from heuristics.shipped import ALL, CLIENTS, known_as, listed, names_like, shipped_named
from heuristics.shipped.task_assignor import TaskAssignor
from heuristics.written import kip54, kip169_lag, kip615, range, round_robin, sticky_that_ends

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from groups import Group
    from heuristics.own import AssignorFunction


_WRITTEN = (
    ("range", "RangeAssignor, as documented, without racks", None, range.plan, False),
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
    """Return all assignors by name: written, shipped (newest version first), and your own.

    Your own are those that installed packages declare. The catalogue is made once, because looking
    for the installed clients' versions is slow.
    """
    found = {**WRITTEN, **{shipped.name: shipped for shipped in listed()}}
    for own in installed():
        found.setdefault(own.name, own)
    return MappingProxyType(found)


def assignor_named(name: str | AssignorFunction) -> Assignor:
    """Return the assignor of that name, whether it can be called here or not.

    A function of yours is named as ``module:function``, or passed as an object.

    A shipped assignor may have a version that is not listed; without a version it is the newest
    that can be called here. Kafka's assignors may be named as in a configuration:
    ``cooperative-sticky``, ``CooperativeStickyAssignor`` or the full class name, ``uniform``.
    ``range`` and ``roundrobin`` are those as written, which agree with Kafka's.
    ``kafka-streams/sticky`` and other task assignors refuse groups of consumers, and all others
    refuse streams groups; :func:`assignors` does not contain task assignors.

    Raises
    ------
    BadInput
        If no assignor has that name, the message has the three nearest; or a function could
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
    """Return the names that can be called here; of shipped assignors, only the newest version."""
    found: dict[str, str] = {}
    for name, assignor in assignors().items():
        unversioned = name.partition("@")[0]
        if unversioned not in found and assignor.missing() is None:
            found[unversioned] = name
    return tuple(found.values())


def matching(names: Iterable[str], *, besides: Collection[str] = ()) -> tuple[str, ...]:
    """Return assignors' full names; a pattern such as ``kafka-java/*`` gives all that match.

    ``written`` means all as written, ``shipped`` the newest version of each shipped assignor that
    can be called here, and a client's name, such as ``kafka-java``, the newest of all of its.

    Parameters
    ----------
    besides : further names that are allowed and returned unchanged

    Raises
    ------
    BadInput
        If a name is no assignor's, a pattern matches none, or a function of the user's cannot
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
        If it is no assignor's, or means several.
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
IN_BROKER = ("kafka-broker/uniform", "kafka-broker/range")
SHIPPED = ("kafka-java/sticky", "kafka-java/cooperative-sticky", IN_BROKER[0])
# Used instead if no class of Kafka's can be called here.
WRITTEN_INSTEAD = ("kip-429-cooperative", "kip-54-sticky")


def usual_assignors(groups: Iterable[Group]) -> list[str]:
    """Return the default assignors of the groups, which most groups like them run.

    Of a group whose consumers assign: `range`, `roundrobin`, and those of Kafka's `sticky`,
    `cooperative-sticky` and `uniform` that can be called here; if none can, `kip-429-cooperative`
    and `kip-54-sticky` as written. Of a group that the broker assigns (KIP-848): those of its
    `uniform` and `range` that can be called here. Of a group of Kafka Streams: none.
    """
    in_broker = {by_broker(group) for group in groups if not group.of_streams}
    names: list[str] = []
    if False in in_broker:
        names += [*AGREE_WITH_KAFKAS, *(shipped_here() or WRITTEN_INSTEAD)]
    if True in in_broker:
        names += shipped_here(IN_BROKER)
    return [*dict.fromkeys(names)]


def shipped_here(names: Sequence[str] = SHIPPED) -> list[str]:
    """Return those of `names` that can be called here."""
    found = map(assignor_named, names)
    return [assignor.name for assignor in found if assignor.missing() is None]
