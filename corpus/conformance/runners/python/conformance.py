"""Hold assign() of assign.py to the promises of files: python conformance.py ../../valid.json ...

Exit code 1 where one is broken. Copy both files, and put your own assignor into assign.py.
"""

import json
import signal
import sys
from pathlib import Path

from assign import COOPERATIVE, assign

SECONDS, ROUNDS = 5, 50


def pairs(held):
    return [(m, t, n) for m in held for t, numbers in held[m].items() for n in numbers]


def owned(group):
    return set(pairs({m: said.get("owned", {}) for m, said in group["members"].items()}))


def claiming(group, made):
    """The group in which each member owns what it was given, a generation later."""
    now = {"generation": 1 + max(said.get("generation", 0) for said in group["members"].values())}
    members = {m: {**s, "owned": made.get(m, {}), **now} for m, s in group["members"].items()}
    return {**group, "members": members}


def settled(group):
    """The assignment once nobody has to revoke; None where the rounds do not end."""
    for _ in range(ROUNDS):
        made = assign(group)
        if not COOPERATIVE or owned(group) <= set(pairs(made)):
            return made
        group = claiming(group, made)
    return None


def measured(group, made, best):
    members, held = group["members"], pairs(made)
    owners = set(pairs(best["owners"])) if "owners" in best else owned(group)
    told = {t: {"partitions": s} if isinstance(s, int) else s for t, s in group["topics"].items()}
    reads = {m: set(said["subscription"]) for m, said in members.items()}
    read = told.keys() & set().union(*reads.values())
    every = sorted((t, n) for t in read for n in range(told[t]["partitions"]))
    given = sorted((t, n) for _, t, n in held)
    if given != every or any(t not in reads.get(m, ()) for m, t, _ in held):
        return {"valid": False, "made": made}
    load = {m: sum(map(len, made.get(m, {}).values())) for m in members}
    near = [members[m].get("rack") in told[t].get("racks", {n: []})[n] for m, t, n in held]
    readers = [(load[m], load[o]) for m, t, _ in held for o in members if t in reads[o]]
    return {
        "valid": True,
        "balanced": all(here < there + 2 for here, there in readers),
        "loads": sorted(load.values()),
        "moves": len(owners - set(held)),
        "racks": near.count(False),
    }


def judged(promise, group, best):
    """Whether the promise is kept, None where it is not put to the test; and what was measured."""
    again = None
    try:
        made = settled(group)
        if promise == "idempotent" and made is not None:
            again = settled(claiming(group, made))
    except Exception as error:
        asked = "terminates" if isinstance(error, TimeoutError) else "answers"
        return False if promise == asked else None, repr(error)
    if promise in ("terminates", "answers"):
        return True, None
    if promise == "settles" or made is None:
        return made is not None if promise == "settles" else None, "rounds without end"
    found = measured(group, made, best)
    if promise == "valid" or not found["valid"]:
        return found["valid"] if promise == "valid" else None, found
    if promise == "idempotent":
        return None if again is None else set(pairs(made)) <= set(pairs(again)), again
    if promise == "balanced":
        return found["balanced"], found
    if promise == "optimal-balance" or found["loads"] != best["loads"]:
        return found["loads"] == best["loads"] if promise == "optimal-balance" else None, found
    key = promise.removeprefix("optimal-")
    return found[key] <= best[key], found


def ring(*_):
    raise TimeoutError


def main(files):
    signal.signal(signal.SIGALRM, ring)
    codes = {0}
    for file in files:
        document = json.loads(Path(file).read_text("utf-8"))
        promise, came = document["promise"], []
        there = [one for one in document["instances"] if "group" in one]
        for one in there:
            best = one.get("answer", {})
            signal.setitimer(signal.ITIMER_REAL, SECONDS)
            kept, said = judged(promise, one["group"], best)
            signal.setitimer(signal.ITIMER_REAL, 0)
            came.append(kept)
            if kept is False:
                shown = {key: best.get(key) for key in ("loads", "moves", "racks")}
                print(promise, one["id"], said, "best:", shown)
        left = len(document["instances"]) - len(there)
        counts = (came.count(True), came.count(False), came.count(None), left)
        print("{}: {} kept, {} broken, {} not tested, {} only recipes".format(promise, *counts))
        codes.add(1 if False in came else 0)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
