"""Rolling upgrades once more, from KIP-726, KIP-429 and the words of the reference alone.

Plain sets of (topic, number), one loop over the rounds; nothing of `compare.scenarios` is used.
Which assignor gives what is asked of those as written.
"""

from collections import Counter

from groups import Group
from heuristics import WRITTEN

WRITTEN_AS = {"range": "range", "roundrobin": "roundrobin", "sticky": "kip-54-sticky"}
EAGER, COOPERATIVE = "eager", "cooperative"
BOTH = {EAGER, COOPERATIVE}
PROTOCOLS = {name: {EAGER} for name in WRITTEN_AS}


def elected(lists):
    """The name that all list and most have first among those, and its highest protocol."""
    common = set.intersection(*map(set, lists.values()))
    if not common:
        return None, None
    ballots = Counter(next(n for n in listed if n in common) for listed in lists.values())
    name = min(common, key=lambda n: (-ballots[n], n))
    return name, COOPERATIVE if COOPERATIVE in PROTOCOLS.get(name, BOTH) else EAGER


class Person:
    """A member: what it has, what it had last, whether it may speak and is in the room."""

    def __init__(self, listed, rule):
        sure = set.intersection(BOTH, *(PROTOCOLS.get(n, BOTH) for n in listed))
        self.listed = listed
        self.protocol = COOPERATIVE if rule == "static" and COOPERATIVE in sure else EAGER
        self.has, self.last, self.silent, self.away, self.stale = set(), set(), False, False, False

    def prepare(self, row):
        """Let go of what it may not keep while it joins; return what it gave up in order."""
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
        """Take what it is given; return what it could commit for, and whether it joins again."""
        had, gone = self.has, self.has - given
        fooled = bool(had) and (self.protocol, chosen) == (COOPERATIVE, EAGER)
        self.silent = fooled and rule in ("dynamic", "unfenced")
        row["lost" if self.silent else "revoked"] += len(had if self.silent else gone)
        self.has = self.last = given
        self.protocol = self.protocol if rule == "static" else chosen
        return set() if self.silent else had | given, fooled or bool(gone)


class Simulator:
    """A group, its people and the rule they follow."""

    def __init__(self, document, rule, first):
        self.document, self.rule = document, rule
        self.people = {m: Person(listed, rule) for m, listed in first.items()}

    def here(self):
        return {m: one for m, one in sorted(self.people.items()) if not one.away}

    def silent(self):
        return {m for m, one in self.people.items() if one.silent}

    def reads(self, member):
        topics = self.document["topics"]
        return self.document["members"].get(member, {"subscription": list(topics)})["subscription"]

    def place(self, name, claims):
        """What the assignor as written makes of these claims."""
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
            **dict.fromkeys(counts, 0), "barred": sorted(self.silent()), "contested": [],
            "protocol": protocols.pop() if len(protocols) == 1 else "mixed", "refused": False,
        } | more  # fmt: skip

    def settle(self, parting, lost_sight=()):
        here = self.here()
        before = {m: set(one.has) for m, one in here.items() if not one.stale}
        ownerless = parting.union(lost_sight)
        row = self.row(revoked=len(parting), assignor=None)
        barred, contested, again = set(), set(), True
        while again:
            row["rounds"] += 1
            row["stopped"] += len(parting.union(*[one.prepare(row) for one in here.values()]))
            parting = set()
            row["assignor"], chosen = elected({m: one.listed for m, one in here.items()})
            given = self.given(row["assignor"], chosen)
            learnt = [one.learn(given[m], chosen, self.rule, row) for m, one in here.items()]
            could = [one.has for one in self.people.values() if one.away and not one.silent]
            commits = Counter(p for have in [c for c, _ in learnt] + could for p in have)
            contested |= {f"{t}-{n}" for (t, n), times in commits.items() if times > 1}
            barred |= self.silent()
            row["ownerless"] += sum(
                count - sum(t == topic for have in given.values() for t, _ in have)
                for topic, count in self.document["topics"].items()
                if any(topic in self.reads(m) for m in here)
            )
            again = any(again for _, again in learnt)
        moves = [
            p
            for m, had in before.items()
            for p in had - here[m].has
            if any(p in one.has for one in here.values())
        ]
        taken_over = [p for p in ownerless if any(p in one.has for one in here.values())]
        done = {"moves": len(moves), "change_hands": len(moves) + len(taken_over)}
        done |= {"barred": sorted(barred), "contested": sorted(contested)}
        return row | done | {"protocol": self.row()["protocol"]}

    def act(self, act):
        m = act.member
        if act.kind == "leave":
            return self.settle(self.people.pop(m).has)
        if act.kind == "miss":
            self.people[m].away, self.people[m].silent = True, self.rule != "unfenced"
            return self.settle(set(), self.people[m].has)
        here = {o: one.listed for o, one in self.here().items()}
        listed = act.assignors if act.kind == "join" else self.people[m].listed
        if elected({**here, m: listed})[0] is None:
            lost = len(self.people.pop(m).has) if act.kind == "return" else 0
            return self.row(lost=lost, assignor=elected(here)[0], refused=True)
        if act.kind == "join":
            self.people[m] = Person(listed, self.rule)
        self.people[m].away, self.people[m].stale = False, act.kind == "return"
        return self.settle(set())


def simulate(document, rule, first, acts):
    """Return one dict of counts for the start and one for each act."""
    simulator = Simulator(document, rule, first)
    return [simulator.settle(set()), *map(simulator.act, acts)]
