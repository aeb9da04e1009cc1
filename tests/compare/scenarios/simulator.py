"""A second implementation of rolling upgrades, from KIP-726, KIP-429 and docs/reference alone.

It uses plain sets of (topic, number) and one loop over the rounds, and nothing of
`compare.scenarios`. Assignments come from the assignors in `heuristics.WRITTEN`.
"""

from collections import Counter

from groups import Group
from heuristics import WRITTEN

WRITTEN_AS = {"range": "range", "roundrobin": "roundrobin", "sticky": "kip-54-sticky"}
EAGER, COOPERATIVE = "eager", "cooperative"
BOTH = {EAGER, COOPERATIVE}
PROTOCOLS = {name: {EAGER} for name in WRITTEN_AS}


def elected(lists):
    """Return the assignor that the group elects, and its highest protocol; (None, None) if none.

    It is the assignor listed by all members that most of them list first among those; of equals
    the first by name.
    """
    common = set.intersection(*map(set, lists.values()))
    if not common:
        return None, None
    ballots = Counter(next(n for n in listed if n in common) for listed in lists.values())
    name = min(common, key=lambda n: (-ballots[n], n))
    return name, COOPERATIVE if COOPERATIVE in PROTOCOLS.get(name, BOTH) else EAGER


class Member:
    """A member and its state.

    has, last : partitions that it owns, and that its last assignment gave it
    barred : it must not commit until it has joined again
    away, stale : it is out of the group; it has returned and still owns what it had before
    """

    def __init__(self, listed, rule):
        common = set.intersection(BOTH, *(PROTOCOLS.get(n, BOTH) for n in listed))
        self.listed = listed
        self.protocol = COOPERATIVE if rule == "static" and COOPERATIVE in common else EAGER
        self.has, self.last, self.barred, self.away, self.stale = set(), set(), False, False, False

    def prepare(self, row):
        """Give up what it may not keep while it joins; return what it revokes."""
        given_up = set()
        if self.stale:
            row["lost"] += len(self.has)
        elif self.protocol == EAGER:
            given_up = self.has
        if self.stale or self.protocol == EAGER:
            self.has = set()
        self.stale = False
        row["revoked"] += len(given_up)
        return given_up

    def learn(self, given, chosen, rule, row):
        """Take an assignment; return what it could commit for, and whether it joins again."""
        had, gone = self.has, self.has - given
        kept_in_eager = bool(had) and (self.protocol, chosen) == (COOPERATIVE, EAGER)
        self.barred = kept_in_eager and rule in ("dynamic", "unfenced")
        row["lost" if self.barred else "revoked"] += len(had if self.barred else gone)
        self.has = self.last = given
        self.protocol = self.protocol if rule == "static" else chosen
        return set() if self.barred else had | given, kept_in_eager or bool(gone)


class Simulator:
    """A group, its members, and the rule by which they choose their protocol."""

    def __init__(self, document, rule, first):
        self.document, self.rule = document, rule
        self.members = {m: Member(listed, rule) for m, listed in first.items()}

    def here(self):
        return {m: one for m, one in sorted(self.members.items()) if not one.away}

    def barred(self):
        return {m for m, one in self.members.items() if one.barred}

    def reads(self, member):
        topics = self.document["topics"]
        return self.document["members"].get(member, {"subscription": list(topics)})["subscription"]

    def place(self, name, claims):
        """Return the assignment that an assignor computes from these claims."""
        members = {}
        for m, claimed in claims.items():
            owned = {t: sorted(n for u, n in claimed if u == t) for t in self.document["topics"]}
            known = self.document["members"].get(m, {})
            members[m] = {**known, "subscription": self.reads(m), "owned": owned}
        group = Group.from_dict({**self.document, "members": members})
        made = WRITTEN[WRITTEN_AS[name]].function(group).assignment.to_dict()
        return {m: {(t, n) for t, ns in made[m].items() for n in ns} for m in claims}

    def given(self, name, chosen):
        here = self.here()
        if chosen == EAGER:
            sticky = name == "sticky"
            return self.place(name, {m: p.last if sticky else p.has for m, p in here.items()})
        given = self.place("sticky", {m: one.has for m, one in here.items()})
        for m in here:
            given[m] = given[m].difference(*(here[o].has for o in here if o != m))
        return given

    def row(self, **more):
        counts = ("rounds", "revoked", "lost", "moves", "change_hands", "ownerless", "stopped")
        protocols = {one.protocol for one in self.here().values()}
        return {
            **dict.fromkeys(counts, 0), "barred": sorted(self.barred()), "contested": [],
            "protocol": protocols.pop() if len(protocols) == 1 else "mixed", "refused": False,
        } | more  # fmt: skip

    def settle(self, revoked, unowned=()):
        """Rebalance until no member joins again; return the counts.

        revoked, unowned : partitions of a member that has left, or that is away
        """
        here = self.here()
        before = {m: set(one.has) for m, one in here.items() if not one.stale}
        ownerless = revoked.union(unowned)
        row = self.row(revoked=len(revoked), assignor=None)
        barred, contested, joins_again = set(), set(), True
        while joins_again:
            row["rounds"] += 1
            row["stopped"] += len(revoked.union(*[one.prepare(row) for one in here.values()]))
            revoked = set()
            row["assignor"], chosen = elected({m: one.listed for m, one in here.items()})
            given = self.given(row["assignor"], chosen)
            learnt = [one.learn(given[m], chosen, self.rule, row) for m, one in here.items()]
            away = [one.has for one in self.members.values() if one.away and not one.barred]
            commits = Counter(p for have in [c for c, _ in learnt] + away for p in have)
            contested |= {f"{t}-{n}" for (t, n), times in commits.items() if times > 1}
            barred |= self.barred()
            row["ownerless"] += sum(
                count - sum(t == topic for have in given.values() for t, _ in have)
                for topic, count in self.document["topics"].items()
                if any(topic in self.reads(m) for m in here)
            )
            joins_again = any(again for _, again in learnt)
        moves = [
            p
            for m, had in before.items()
            for p in had - here[m].has
            if any(p in one.has for one in here.values())
        ]
        taken_over = [p for p in ownerless if any(p in one.has for one in here.values())]
        counts = {"moves": len(moves), "change_hands": len(moves) + len(taken_over)}
        counts |= {"barred": sorted(barred), "contested": sorted(contested)}
        return row | counts | {"protocol": self.row()["protocol"]}

    def act(self, act):
        m = act.member
        if act.kind == "leave":
            return self.settle(self.members.pop(m).has)
        if act.kind == "miss":
            self.members[m].away, self.members[m].barred = True, self.rule != "unfenced"
            return self.settle(set(), self.members[m].has)
        here = {o: one.listed for o, one in self.here().items()}
        listed = act.assignors if act.kind == "join" else self.members[m].listed
        if elected({**here, m: listed})[0] is None:
            lost = len(self.members.pop(m).has) if act.kind == "return" else 0
            return self.row(lost=lost, assignor=elected(here)[0], refused=True)
        if act.kind == "join":
            self.members[m] = Member(listed, self.rule)
        self.members[m].away, self.members[m].stale = False, act.kind == "return"
        return self.settle(set())


def simulate(document, rule, first, acts):
    """Return a dict of counts for the first rebalance and one for each act."""
    simulator = Simulator(document, rule, first)
    return [simulator.settle(set()), *map(simulator.act, acts)]
