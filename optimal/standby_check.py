"""The checker of standbys, to be read beside docs/explanation/proof.md, *Standbys*.

Plain Python over lists, without code of what places them.
"""

from __future__ import annotations

from collections import Counter
from operator import add, sub
from typing import TYPE_CHECKING

from groups.wording import listed
from optimal.case import Case, require

if TYPE_CHECKING:
    from optimal.standbys import Standbys

TIERS = ("load_squares", "host_balance", "restores")


def require_standbys(standbys: Standbys) -> None:
    """Require that standbys are where they may be, and that none are better beside the actives.

    Raises
    ------
    BadInput, InvalidAssignment, ProofError
        As `optimal.certificate.check` of the actives; the message says where.
    """
    require(standbys.proof.kind == "certificate", "proof.kind: expected a certificate")
    named = tuple(term.name for term in standbys.terms)
    require(named == TIERS, f"terms: {listed(named)}, expected {listed(TIERS)}")
    replicas, many = standbys.replicas, (standbys.task.shape, standbys.member.shape)
    require(type(replicas) is int and replicas >= 0, f"replicas: {replicas!r}, expected a number")
    shaped = many[0] == many[1] and len(many[0]) == 1
    whole = standbys.task.dtype == standbys.member.dtype == "int64"
    require(shaped and whole, "standbys: expected a task and a member of each, int64")
    group, actives = standbys.actives.group, standbys.actives.owner.tolist()
    case = Case(group, actives)
    case.require_valid()
    process = case.places("host")
    weights, threads = case.weights(process), Counter(process)
    of_task: dict[int, list[int]] = {p: [] for p in case.read if case.keeps_state(p)}
    pairs = list(zip(standbys.task.tolist(), standbys.member.tolist(), strict=True))
    for p, m in pairs:
        require(p in of_task and m in case.members, f"standbys: {p} with {m}, expected others")
        of_task[p].append(m)
    copies = standbys.replicas if len(threads) > standbys.replicas else len(threads) - 1
    for p, some in of_task.items():
        on = [process[m] for m in some]
        apart = len(some) == max(0, copies) == len({*on} - {process[actives[p]]})
        require(apart, f"{case.names[p]}: expected {copies} standbys, each on another process")

    held = Counter(case.held[p] for p in case.read)
    own = Counter(m for _, m in pairs)
    tasks = {m: held[m] + own[m] for m in case.members}
    on_process = Counter[str]()
    for m, number in tasks.items():
        on_process[process[m]] += number
    values = (
        sum(number**2 for number in tasks.values()),
        sum(weights[h] * number**2 for h, number in on_process.items()),
        sum(case.cost("restores", p, m) for p, m in pairs),
    )
    for term, value in zip(standbys.terms, values, strict=True):
        right = term.value == term.bound == value
        require(right, f"terms.{term.name}: {term.value}, but the value is {value}")

    names = {"member": list(group.members), "host": sorted(weights)}
    prices = standbys.proof.prices
    shaped = {*prices} == {*names} and all(
        prices[kind].shape == (len(some), len(values)) for kind, some in names.items()
    )
    require(shaped, "prices: expected one integer a tier of each member and host")
    ask = [tuple(row) for row in prices["member"].tolist()]
    of_host = dict(zip(names["host"], map(tuple, prices["host"].tolist()), strict=True))
    for m, name in enumerate(group.members):
        d = tuple(map(sub, ask[m], of_host[process[m]]))
        _require_step(f"member.{name}", d, 0, tasks[m], own[m])
    of_standbys = Counter(process[m] for _, m in pairs)
    for h, d in of_host.items():
        _require_step(f"host.{h}", d, 1, on_process[h], of_standbys[h], weights[h])

    cheapest = {h: min(ask[m] for m in case.members if process[m] == h) for h in threads}
    first = {h: process.index(h) for h in threads}
    for p, some in of_task.items():
        pays = {
            h: tuple(map(add, (0, 0, case.cost("restores", p, first[h])), cheapest[h]))
            for h in threads
            if h != process[actives[p]]
        }
        chosen = {process[m] for m in some}
        dearest = max((pays[h] for h in chosen), default=None)
        others = (pays[h] >= dearest for h in pays if dearest is not None and h not in chosen)
        right = all(others) and all(ask[m] == cheapest[process[m]] for m in some)
        require(right, f"{case.names[p]}: a standby elsewhere costs and asks less")


def _require_step(
    place: str, d: tuple[int, ...], tier: int, tasks: int, standbys: int, weight: int = 1
) -> None:
    """Require that what is asked allows so many tasks: between the last step and one more.

    Parameters
    ----------
    tier : the number of the tier that adds up squares there
    """
    last, more = (
        tuple(weight * (2 * k - 1) * (at == tier) for at in range(len(d)))
        for k in (tasks, tasks + 1)
    )
    right = d <= more and (d >= last or not standbys)
    require(right, f"prices.{place}: they do not allow {tasks} tasks")
