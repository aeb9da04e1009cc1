"""The checker: recomputes every claim of a solution from the raw data (`optimal.case`).

It is to be read beside docs/explanation/proof.md, whose order and words it keeps. It shares no
code with the solvers. The audit (`optimal.audit`) makes the same checks by columns.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING

from groups.errors import ProofError
from groups.tiers import is_laminar
from optimal.asks import require_asks
from optimal.case import EVENS, MOVES, PEAKS, Case, require
from optimal.form import around_balance, require_form, require_within, rests_on_a_budget, unchecked
from optimal.proof import ProofKind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from groups.group import Group
    from optimal.solution import Solution


def check(group: Group, solution: Solution) -> tuple[str, ...]:
    """Check a solution against its group; return what could not be checked, a line for each claim.

    Raises
    ------
    BadInput, InvalidAssignment, ProofError
        If the group lacks what a tier needs, the assignment is not valid, a term is not its value,
        or the proof does not hold; the message says where.
    """
    require_form(group, solution)
    if solution.assignment is None:
        return unchecked(solution, ())
    case = Case(group, solution.assignment.owner.tolist())
    case.require_valid()
    left = unchecked(solution, tuple(map(case.value, solution.objective)))
    require_within(solution, tuple(map(case.value, solution.at_most)))
    if rests_on_a_budget(solution):
        _require_least_within(case, solution)
    elif is_laminar(solution.objective) and solution.proof.kind is ProofKind.CERTIFICATE:
        require_asks(case, solution)
    elif solution.proof.kind is ProofKind.CERTIFICATE:
        certificate = Certificate(case, solution)
        certificate.require_conditions()
        certificate.require_rest()
    return left


class Certificate:
    """The certificate of a solution, and what it implies for all assignments that are as good.

    Attributes
    ----------
    earlier, rest : the tiers of conditions 1 to 4, and the later tiers of lag, weight and moves
    before, after : the tiers of `earlier` before balance, and those after it with their scale
    lo, hi : the fewest and the most partitions that each member holds in them
    """

    def __init__(self, case: Case, solution: Solution) -> None:
        self.case, self.proof, self.at_most = case, solution.proof, solution.at_most
        objective, late = solution.objective, {*PEAKS, *EVENS}
        if self.proof.givers and not set(PEAKS) & set(objective):
            late.add(MOVES)
        at = next((i for i, tier in enumerate(objective) if tier in late), len(objective))
        self.earlier, self.rest = objective[:at], objective[at:]
        self.before, after = around_balance(self.earlier)
        self.after = self._scaled(() if self.rest and self.earlier == ("balance",) else after)
        self.level = self.price = [0] * len(case.members)
        if "balance" in self.earlier:
            self.level, self.price = (column.tolist() for column in self.proof.columns())
        self.lo, self.hi = self._counts_within(len(case.members), len(case.read))

    def _scaled(self, after: tuple[str, ...]) -> list[tuple[str, int]]:
        """Return the tiers with their scales, each more than all later ones cost: condition 4."""
        scale, rest = self.proof.scale or (1,) * len(after[:1]), 0
        given = len(scale) == len(after) and min(scale, default=1) > 0
        require(given, f"scale: expected {len(after)} units of 1 or more")
        for tier, unit in list(zip(after, scale, strict=True))[::-1]:
            require(unit > rest, f"scale: {unit} for {tier} does not outweigh the tiers after it")
            rest += unit * self.case.most(tier)
        return list(zip(after, scale, strict=True))

    def _counts_within(self, members: int, n: int) -> tuple[list[int], list[int]]:
        """Return the fewest and the most of n partitions of each member within the budgets."""
        lo, hi = 0, n
        if members and "load_spread" in self.at_most:
            difference = (members - 1) * self.at_most["load_spread"]
            lo, hi = max(lo, -((difference - n) // members)), min(hi, (n + difference) // members)
        if self.at_most.get("idle_members") == 0:
            lo, hi = (max(lo, 1), hi) if n >= members else (lo, min(hi, 1))
        return [lo] * members, [hi] * members

    def _narrow(self, m: int, lo: int, hi: int) -> None:
        self.lo[m], self.hi[m] = max(self.lo[m], lo), min(self.hi[m], hi)

    def costs(self, p: int, m: int) -> tuple[int, ...]:
        """Return what p costs with m in each tier before balance, m's level, and what p pays."""
        paid = sum(unit * self.case.cost(tier, p, m) for tier, unit in self.after)
        before = (self.case.cost(tier, p, m) for tier in self.before)
        return *before, self.level[m], self.price[m] + paid

    def least(self, among: set[int]) -> dict[int, tuple[int, ...]]:
        """Return the least costs of each partition with a member of `among`, if one reads it."""
        ranks = list(zip(self.level, self.price, strict=True))
        return self.case.least(ranks, self.costs, among, self.earlier)

    def require_conditions(self) -> None:
        """Require conditions 1 to 3, or for `topic_balance` that topics are even."""
        case, n, bound = self.case, len(self.before), 0
        if self.earlier == ("topic_balance",):
            self._require_even_topics()
        for p, least in self.least(set(case.members)).items():
            costs, name = self.costs(p, case.held[p]), case.names[p]
            dear = f"{name}: its member costs more than another by {' > '.join(self.before)}"
            require(costs[:n] == least[:n], dear)
            who = f"{name}: with {case.group.members[case.held[p]]} of level {costs[n]}"
            require(costs[n] == least[n], f"{who}, but its least level is {least[n]}")
            bound += least[-1]
        for m in case.members if "balance" in self.earlier else ():
            level, price, load = self.level[m], self.price[m], case.loads[m]
            lo, hi, who = max(level, 0), level + 1, f"{case.group.members[m]}: holds {load}"
            require(lo <= load <= hi, f"{who}, but level {level} allows {lo} to {hi}")
            bound -= hi * max(price, 0) - lo * max(-price, 0)
            self._narrow(m, hi if price > 0 else lo, lo if price < 0 else hi)
        paid = sum(unit * case.value(tier) for tier, unit in self.after)
        tiers = " > ".join(tier for tier, _ in self.after)
        require(bound == paid, f"price: the prices bound {tiers} by {bound}, not by {paid}")

    def _require_even_topics(self) -> None:
        """Require the least sum of squares of each topic: shares that differ by one at most."""
        case, least, lo, hi = self.case, 0, Counter[int](), Counter[int]()
        for t, n in Counter(case.topic[p] for p in case.read).items():
            share, more = divmod(n, len(case.readers[t]))
            least += more * (share + 1) ** 2 + (len(case.readers[t]) - more) * share**2
            lo.update(dict.fromkeys(case.readers[t], share))
            hi.update(dict.fromkeys(case.readers[t], share + (more > 0)))
        found = case.value("topic_balance")
        require(found == least, f"topic_balance: its least value is {least}, not {found}")
        for m in case.members:
            self._narrow(m, lo[m], hi[m])

    def require_rest(self) -> None:
        """Require that the later tiers (peaks, moves, spreads, balances) are least, one by one."""
        for i, tier in enumerate(self.rest):
            value, seen = self.case.value(tier), self.rest[:i]
            if tier not in (*PEAKS, *EVENS, MOVES):
                raise ProofError(f"no certificate is defined for an objective with {tier}")
            if tier in EVENS:
                bound = self._least_even(tier, EVENS[tier] in seen)
                require(bound == value, f"{tier}: the loads show {bound}, not {value}")
            elif tier in PEAKS and value > 0:
                self._require_peak(tier, value)
            elif value > 0:
                peak = next((one for one in (*seen, *self.at_most) if one in PEAKS), "")
                require(peak, "givers: they show moves under a peak, of which nothing is asked")
                most = self.case.value(peak) if peak in seen else self.at_most[peak]
                moves = self._moves(peak, most)
                require(moves >= value, f"givers: they show {moves} moves, not {value}")

    def _require_peak(self, tier: str, peak: int) -> None:
        """Require that no peak is lower: by the floor, or without one by the moves it takes."""
        case, floor, everybody = self.case, self.proof.floor, set(self.case.members)
        if floor is None:
            require(MOVES in self.at_most, "floor is missing")
            moves, most = self._moves(tier, peak - 1), self.at_most[MOVES]
            what = f"{moves} moves below a {tier} of {peak}, but {most} are allowed"
            require(moves > most, f"givers: they show {what}")
            return
        size, rate, chosen, by = case.sizes(tier), case.rates(tier), {*floor.members}, floor.bound
        require(chosen <= everybody, "floor.members: an index outside the group's members")
        inside, outside = self.least(chosen), self.least(everybody - chosen)
        able = [p for p in size if p in inside and inside[p] <= outside.get(p, inside[p])]
        only = [p for p in able if inside[p] != outside.get(p)]
        heavy = [p for p in only if size[p] >= floor.at_least]
        if by == "average":
            bound = -(-sum(size[p] for p in only) // sum(rate[m] for m in chosen))
        elif self.earlier == ("topic_balance",) and len({case.topic[p] for p in case.read}) > 1:
            bound = self._with_one(size, heavy, rate)
        else:
            light = _sums(sorted(size[p] for p in {*able}.difference(heavy)))
            # The others in the set hold no more than their hi, so that each has to hold the rest.
            left = sum(self.hi[m] for m in chosen) - len(only)
            lo = {m: max(self.lo[m], self.hi[m] - left) for m in chosen}
            crowd, below = _sums(size[p] for p in heavy), peak - 1
            fit = [_fit(crowd, light, lo[m], self.hi[m], below * rate[m]) for m in chosen]
            bound = peak if min(fit) < 0 or sum(fit) < len(heavy) else below
        require(bound == peak, f"floor: the {by} bounds {tier} by {bound}, not by {peak}")

    def _with_one(self, size: dict[int, int], heavy: list[int], rate: list[int]) -> int:
        """Return the least load of a reader with a heavy partition, if topics are even."""
        case, lightest = self.case, {self.case.topic[p]: size[p] for p in heavy[::-1]}
        sizes: dict[int, list[int]] = {case.topic[p]: [] for p in size}
        for p, one in size.items():
            sizes[case.topic[p]].append(one)
        share = {t: len(of) // len(case.readers[t]) for t, of in sizes.items()}
        light = {t: sum(of[: share[t]]) for t, of in sizes.items()}
        loads = [sum(light.get(t, 0) for t in topics) for topics in case.reads]
        place = {t: sizes[t][share[t] - 1] if share[t] else 0 for t in lightest}
        more = {t: max(0, one - place[t]) for t, one in lightest.items()}
        carried = (-(-(loads[m] + more[t]) // rate[m]) for t in more for m in case.readers[t])
        return min(carried, default=0)

    def _least_even(self, tier: str, after_peak: bool) -> int:
        """Return a lower bound on a spread or balance, with or without the peak before it."""
        size, members = [*self.case.sizes(tier).values()], len(self.case.members)
        room, below, n = sum(self.hi) - len(size), _sums(size), len(size)
        k = min((max(self.lo[m], self.hi[m] - room) for m in self.case.members), default=0)
        fullest = [0, self.case.value(EVENS[tier]) if after_peak else 0, *[0] * members]
        for j in range(1, members + 1):
            heavy, left = min(j, n), below[-1] - fullest[j - 1]
            more = below[max(0, min(n, j * k) - heavy)]
            next_one = fullest[j - 1] - (-left // (members - j + 1))
            fullest[j] = max(fullest[j], below[-1] - below[n - heavy] + more, next_one)
        if tier.endswith("_balance"):
            return 2 * sum(fullest[1:members]) - (members - 1) * below[-1]
        emptiest = [(below[-1] - fullest[j]) // (members - j) for j in range(1, members)]
        return max(0, fullest[1] - min(emptiest)) if emptiest else 0

    def _moves(self, peak: str, most: int) -> int:
        """Return a lower bound on the moves until nobody carries more than `most`."""
        case, givers, size = self.case, set(self.proof.givers), self.case.sizes(peak)
        require(givers <= set(case.members), "givers: an index outside the group's members")
        light, rate = _sums(size.values()), case.rates(peak)
        owned: dict[int, list[int]] = {m: [] for m in (-1, *case.members)}
        for p in size:
            owned[case.owner[p]].append(size[p])

        def given(members: Collection[int]) -> tuple[int, int]:
            """(the fewest partitions that leave members, the fewest others that come to them)."""
            mine = sorted(one for m in members for one in owned[m])
            lo, hi, room = (sum(of[m] for m in members) for of in (self.lo, self.hi, rate))
            stay = _fit(_sums(mine), light, lo, hi, most * room)
            return (len(light), 0) if stay < 0 else (len(mine) - stay, max(0, lo - stay))

        gives, (out, back) = [given([m])[0] for m in case.members], given(givers)
        inside = sum(gives[m] for m in givers)
        return max(out, inside) + max(sum(gives) - inside, back - len(owned[-1]))


def _sums(sizes: Iterable[int]) -> list[int]:
    """Return the sums of the first 0, 1, 2, ... sizes."""
    return list(accumulate(sizes, initial=0))


def _fit(sums: list[int], light_sums: list[int], lo: int, hi: int, room: int) -> int:
    """Return how many of the lightest fit, with light ones to make up `lo`; -1 if none do."""
    for number in range(min(bisect_right(sums, room) - 1, hi), -1, -1):
        more = max(0, lo - number)
        if more < len(light_sums) and sums[number] + light_sums[more] <= room:
            return number
    return -1


def _require_least_within(case: Case, solution: Solution) -> None:
    """Require that no assignment within the budget has fewer partitions above k, for every k."""
    level: list[int] = solution.proof.levels().tolist()
    most, moves = solution.at_most[MOVES], case.value(MOVES)
    of_topic = [min((level[m] for m in readers), default=0) for readers in case.readers]
    bound = {p: of_topic[case.topic[p]] for p in case.read}
    stay = [bound[p] if case.owner[p] < 0 else level[case.owner[p]] for p in case.read]
    columns = sorted(case.loads[m] for m in case.members), level, bound.values(), stay
    loads, levels, bounds, stays = map(sorted, columns)
    above, needed = 0, moves == 0 or MOVES not in solution.objective
    for k in range(max(loads, default=0) - 1, 0, -1):
        number = [len(of) - bisect_left(of, k) for of in (levels, bounds, stays)]
        above += len(loads) - bisect_right(loads, k)
        least = max(number[1], number[2] - most) - k * number[0]
        require(least == above, f"level: what is above {k} is {above}, but the bound is {least}")
        needed = needed or number[2] - moves - k * number[0] == above
    require(needed, f"level: nothing shows that fewer than {moves} moves cost balance")
