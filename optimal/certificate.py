"""The checker: what a solution says of its group, recomputed from the raw data (`optimal.case`).

To be read beside docs/explanation/proof.md, whose order and words it keeps. Plain integers, and
no code of what solves. The audit (`optimal.audit`) checks the same by columns.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING

from groups.errors import ProofError
from optimal.case import BY_PARTITION, EVENS, PEAKS, Case
from optimal.form import require_form, require_within, rests_on_a_budget, unchecked
from optimal.proof import ProofKind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from groups.group import Group
    from groups.tiers import Objective
    from optimal.solution import Solution

MOVES = "stickiness"


def check(group: Group, solution: Solution) -> tuple[str, ...]:
    """Check a solution against its group; return what could not be checked, a line each.

    Raises
    ------
    BadInput
        Where a tier needs what the group does not have.
    InvalidAssignment
        Where the assignment is of another group or not valid, or a term is not what it says.
    ProofError
        Where the status is more than the proof allows, or the certificate does not hold; the
        message says where.

    Examples
    --------
    >>> from assay import Group, check, solve
    >>> members = {"c0": {"subscription": ["t0", "t1"]}, "c1": {"subscription": ["t1"]}}
    >>> document = {"format": "assay-group/1", "group": "g", "topics": {"t0": 2, "t1": 3}}
    >>> group = Group.from_dict(document | {"members": members})
    >>> check(group, solve(group))
    ()
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
    elif solution.proof.kind is ProofKind.CERTIFICATE:
        certificate = Certificate(case, solution)
        certificate.require_conditions()
        certificate.require_rest()
    return left


def _require(holds: object, message: str) -> None:
    """Require that a condition of the page holds."""
    if not holds:
        raise ProofError(message)


def is_about_a_peak(solution: Solution) -> bool:
    """Say whether a certificate is about a peak, how even loads are, or moves under a peak."""
    return bool({*PEAKS, *EVENS} & set(solution.objective) or solution.proof.givers)


def around_balance(objective: Objective) -> tuple[Objective, Objective]:
    """Return the tiers before balance and those after it, which the prices are about."""
    if objective in (("balance",), ("topic_balance",)):
        return (), (MOVES,) if objective == ("balance",) else ()
    for tier in objective:
        known = tier in (*BY_PARTITION, "balance")
        _require(known, f"no certificate is defined for an objective with {tier}")
    at = objective.index("balance") if "balance" in objective else len(objective)
    return objective[:at], objective[at + 1 :]


class Certificate:
    """What the conditions prove of a solution, and what follows for all that are as good.

    Attributes
    ----------
    earlier, rest : the tiers of conditions 1 to 4, and those of loads that come after them
    before, after : those of `earlier` before balance, and after it with their scale
    lo, hi : how many partitions each member holds at least and at most
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
        lo, hi = self._counts_within(len(case.members), len(case.read))
        self.lo, self.hi = [lo for _ in case.members], [hi for _ in case.members]

    def _scaled(self, after: Objective) -> list[tuple[str, int]]:
        """Return tiers with their scale, more than all later ones can cost: condition 4."""
        scale, rest = self.proof.scale or (1,) * len(after[:1]), 0
        given = len(scale) == len(after) and min(scale, default=1) > 0
        _require(given, f"scale: expected {len(after)} units of 1 or more")
        for tier, unit in list(zip(after, scale, strict=True))[::-1]:
            less = f"scale: {unit} for {tier} does not outweigh the tiers after it"
            _require(unit > rest, less)
            rest += unit * sum(
                tier == "racks" or self.case.cost(tier, p, -1) for p in self.case.read
            )
        return list(zip(after, scale, strict=True))

    def _counts_within(self, members: int, n: int) -> tuple[int, int]:
        """Return how many of n partitions each member holds within budgets on counts."""
        lo, hi = 0, n
        if members and "load_spread" in self.at_most:
            apart = (members - 1) * self.at_most["load_spread"]
            lo, hi = max(lo, -((apart - n) // members)), min(hi, (n + apart) // members)
        if self.at_most.get("idle_members") == 0:
            return (max(lo, 1), hi) if n >= members else (lo, min(hi, 1))
        return lo, hi

    def _narrow(self, m: int, lo: int, hi: int) -> None:
        self.lo[m], self.hi[m] = max(self.lo[m], lo), min(self.hi[m], hi)

    def costs(self, p: int, m: int) -> tuple[int, ...]:
        """Return what p costs with m in each tier before balance, the level of m, what p pays."""
        paid = sum(unit * self.case.cost(tier, p, m) for tier, unit in self.after)
        before = (self.case.cost(tier, p, m) for tier in self.before)
        return *before, self.level[m], self.price[m] + paid

    def least(self, among: set[int]) -> dict[int, tuple[int, ...]]:
        """Return the least costs of the partitions that some members read, with one of these.

        Readers as far from it cost the same, and only the owner costs less: the first of them by
        level and price stands for the others.
        """
        case, racks, found = self.case, "racks" in self.earlier, {}
        firsts: dict[tuple[int, int], dict[int, int]] = {}
        for p in case.read:
            place = case.topic[p], case.known("racks", p) if racks else 0
            if place not in firsts:
                some = among.intersection(case.readers[case.topic[p]])
                ranked = sorted(some, key=lambda m: (-self.level[m], -self.price[m]))
                firsts[place] = {case.cost("racks", p, m) if racks else 0: m for m in ranked}
            if few := {*firsts[place].values(), case.owner[p]} & among:
                found[p] = min(self.costs(p, m) for m in few)
        return found

    def require_conditions(self) -> None:
        """Require conditions 1 to 3, or that topics are even."""
        case, n, bound = self.case, len(self.before), 0
        if self.earlier == ("topic_balance",):
            self._require_even_topics()
        for p, least in self.least(set(case.members)).items():
            costs, name = self.costs(p, case.held[p]), case.names[p]
            dear = f"{name}: its member costs more than another by {' > '.join(self.before)}"
            _require(costs[:n] == least[:n], dear)
            who = f"{name}: with {case.group.members[case.held[p]]} of level {costs[n]}"
            _require(costs[n] == least[n], f"{who}, but its least level is {least[n]}")
            bound += least[-1]
        for m in case.members if "balance" in self.earlier else ():
            level, price, load = self.level[m], self.price[m], case.loads[m]
            lo, hi, who = max(level, 0), level + 1, case.group.members[m]
            allowed = f"level {level} allows {lo} to {hi}"
            _require(lo <= load <= hi, f"{who}: holds {load}, but {allowed}")
            bound -= hi * max(price, 0) - lo * max(-price, 0)
            self._narrow(m, hi if price > 0 else lo, lo if price < 0 else hi)
        paid = sum(unit * case.value(tier) for tier, unit in self.after)
        tiers = " > ".join(tier for tier, _ in self.after)
        _require(bound == paid, f"price: the prices bound {tiers} by {bound}, not by {paid}")

    def _require_even_topics(self) -> None:
        """Require of each topic the least sum of squares: shares that differ by one at most."""
        case, least, lo, hi = self.case, 0, Counter[int](), Counter[int]()
        for t, n in Counter(case.topic[p] for p in case.read).items():
            share, more = divmod(n, len(case.readers[t]))
            least += more * (share + 1) ** 2 + (len(case.readers[t]) - more) * share**2
            lo.update(dict.fromkeys(case.readers[t], share))
            hi.update(dict.fromkeys(case.readers[t], share + (more > 0)))
        found = case.value("topic_balance")
        _require(found == least, f"topic_balance: its least value is {least}, not {found}")
        for m in case.members:
            self._narrow(m, lo[m], hi[m])

    def require_rest(self) -> None:
        """Require that peaks, moves under them, and how even loads are, are least one by one."""
        for i, tier in enumerate(self.rest):
            value, seen = self.case.value(tier), self.rest[:i]
            if tier in EVENS:
                bound = self._least_even(tier, EVENS[tier] in seen)
                _require(bound == value, f"{tier}: the loads show {bound}, not {value}")
            elif tier in PEAKS and value > 0:
                self._require_peak(tier, value)
            elif tier == MOVES and value > 0:
                peak = next((one for one in (*seen, *self.at_most) if one in PEAKS), None)
                if peak is None:
                    what = "moves under a peak, of which nothing is asked"
                    raise ProofError(f"givers: they show {what}")
                most = self.case.value(peak) if peak in seen else self.at_most[peak]
                moves = self._moves(peak, most)
                _require(moves >= value, f"givers: they show {moves} moves, not {value}")
            known = tier in (*PEAKS, *EVENS, MOVES)
            _require(known, f"no certificate is defined for an objective with {tier}")

    def _require_peak(self, tier: str, peak: int) -> None:
        """Require that no peak is lower by the floor, or else by the moves that it takes."""
        case, floor, everybody = self.case, self.proof.floor, set(self.case.members)
        if floor is None:
            _require(MOVES in self.at_most, "floor is missing")
            moves, most = self._moves(tier, peak - 1), self.at_most[MOVES]
            what = f"{moves} moves below a {tier} of {peak}, but {most} are allowed"
            return _require(moves > most, f"givers: they show {what}")
        chosen, size, rate = set(floor.members), case.sizes(tier), case.rates(tier)
        _require(chosen <= everybody, "floor.members: an index outside the group's members")
        inside, outside = self.least(chosen), self.least(everybody - chosen)
        able = [p for p in size if p in inside and inside[p] <= outside.get(p, inside[p])]
        only = [p for p in able if inside[p] != outside.get(p)]
        heavy = [p for p in only if size[p] >= floor.at_least]
        by_topic, name = self.earlier == ("topic_balance",), str(floor.bound)
        if name == "average":
            bound = -(-sum(size[p] for p in only) // sum(rate[m] for m in chosen))
        elif name == "weighted":
            alone = by_topic and tier != "peak_time"
            _require(alone, "floor.bound: weighted bounds a peak after topic_balance alone")
            weight = dict(zip(floor.members, floor.weight, strict=True))
            bound, name = self._weighted(size, weight), "weighted average"
        elif by_topic and len({case.topic[p] for p in case.read}) > 1:
            bound = self._with_one(size, heavy, rate)
        else:
            light = sorted(size[p] for p in {*able}.difference(heavy))
            room = sum(self.hi[m] for m in chosen) - len(only)
            lo = {m: max(self.lo[m], self.hi[m] - room) for m in chosen}
            kinds = Counter((lo[m], self.hi[m], rate[m]) for m in chosen)
            bound = _crowd(_sums(size[p] for p in heavy), _sums(light), kinds, peak)
        _require(bound == peak, f"floor: the {name} bounds {tier} by {bound}, not by {peak}")
        return None

    def _sizes_of_topics(self, size: dict[int, int]) -> dict[int, list[int]]:
        """Return the sizes of the partitions of each topic, ascending as they are given."""
        found: dict[int, list[int]] = {self.case.topic[p]: [] for p in size}
        for p, one in size.items():
            found[self.case.topic[p]].append(one)
        return found

    def _weighted(self, size: dict[int, int], weight: dict[int, int]) -> int:
        """Return the least peak where topics are even and members count by their weight."""
        total = 0
        for t, sizes in self._sizes_of_topics(size).items():
            lightest = sorted(weight.get(m, 0) for m in self.case.readers[t])
            share, more = divmod(len(sizes), len(lightest))
            places = sorted(lightest * share + lightest[:more], reverse=True)
            total += sum(one * w for one, w in zip(sizes, places, strict=True))
        return -(-total // sum(weight.values()))

    def _with_one(self, size: dict[int, int], heavy: list[int], rate: list[int]) -> int:
        """Return the least that a reader of a heavy partition carries where topics are even."""
        case, sizes, carried = self.case, self._sizes_of_topics(size), []
        share = {t: len(of) // len(case.readers[t]) for t, of in sizes.items()}
        light = {t: sum(of[: share[t]]) for t, of in sizes.items()}
        shares = [sum(light.get(t, 0) for t in topics) for topics in case.reads]
        for t, p in {case.topic[p]: p for p in heavy[::-1]}.items():
            more = max(0, size[p] - (sizes[t][share[t] - 1] if share[t] else 0))
            carried += [-(-(shares[m] + more) // rate[m]) for m in case.readers[t]]
        return min(carried, default=0)

    def _least_even(self, tier: str, after_peak: bool) -> int:
        """Return what no spread or balance is below, after the peak of the same loads or not."""
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
        """Return how many moves it takes at least until nobody carries more than `most`."""
        case, givers, size = self.case, set(self.proof.givers), self.case.sizes(peak)
        _require(givers <= set(case.members), "givers: an index outside the group's members")
        light, rate = _sums(size.values()), case.rates(peak)
        owned: list[list[int]] = [[] for _ in case.members]
        for p in size:
            if case.owner[p] >= 0:
                owned[case.owner[p]].append(size[p])

        def given(some: Collection[int]) -> tuple[int, int]:
            """(how many partitions leave some members, how many others come to them) at least."""
            mine = sorted(one for m in some for one in owned[m])
            lo, hi, room = (sum(of[m] for m in some) for of in (self.lo, self.hi, rate))
            stay = _fit(_sums(mine), light, lo, hi, most * room)
            return (len(light), 0) if stay < 0 else (len(mine) - stay, max(0, lo - stay))

        gives, (out, back) = [given([m])[0] for m in case.members], given(givers)
        inside, unowned = sum(gives[m] for m in givers), len(size) - sum(map(len, owned))
        return max(out, inside) + max(sum(gives) - inside, back - unowned)


def _sums(sizes: Iterable[int]) -> list[int]:
    """Return the sums of the first 0, 1, 2, ... of some sizes."""
    return list(accumulate(sizes, initial=0))


def _fit(sizes: list[int], light: list[int], lo: int, hi: int, room: int) -> int:
    """Return how many of some partitions fit in a room, at least one of 0 or more; else -1.

    Parameters
    ----------
    sizes, light : sums of the lightest of them, and of others that make up the number `lo`
    """
    for number in range(min(bisect_right(sizes, room) - 1, hi), -1, -1):
        more = max(0, lo - number)
        if more < len(light) and sizes[number] + light[more] <= room:
            return number
    return -1


def _crowd(
    heavy: list[int], light: list[int], kinds: Counter[tuple[int, int, int]], peak: int
) -> int:
    """Return the least peak, `peak` at the most, under which members hold all that is heavy.

    Parameters
    ----------
    heavy, light : sums of the lightest of them
    kinds : members by the least and the most partitions that they hold, and by their rate
    """

    def is_enough(most: int) -> bool:
        fit = {kind: _fit(heavy, light, *kind[:2], most * kind[2]) for kind in kinds}
        held = sum(fit[kind] * number for kind, number in kinds.items())
        return min(fit.values()) >= 0 and held >= len(heavy) - 1

    low, high = (0, peak) if is_enough(peak - 1) else (peak, peak)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
    return low


def _require_least_within(case: Case, solution: Solution) -> None:
    """Require that for every k no assignment within the budget has fewer partitions above k."""
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
        _require(least == above, f"level: what is above {k} is {above}, but the bound is {least}")
        needed = needed or number[2] - moves - k * number[0] == above
    _require(needed, f"level: nothing shows that fewer than {moves} moves cost balance")
