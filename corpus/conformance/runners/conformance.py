"""Hold an assignor to the promises of files: python conformance.py COMMAND ../valid.json ...

COMMAND starts a program that reads a group from each line and writes an assignment for each. It
is started again after an error, and when an answer takes too long. Exit code 1: a promise breaks.
"""

import argparse
import json
import shlex
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE, Popen
from threading import Timer
from time import monotonic

SECONDS, ROUNDS = 5, 50


class Program:
    """A program that answers groups, started again once it has ended."""

    def __init__(self, command, *, is_cooperative):
        self.command, self.is_cooperative = shlex.split(command), is_cooperative
        self._start()

    def _start(self):
        self.process = Popen(self.command, stdin=PIPE, stdout=PIPE, text=True, encoding="utf-8")

    def assign(self, group):
        """Return {member: {topic: [partition, ...]}}.

        Raises TimeoutError where it takes too long, and EOFError where the program ends or its
        line is no assignment.
        """
        started, limit = monotonic(), Timer(SECONDS, self.process.kill)
        limit.start()
        with suppress(BrokenPipeError):
            print(json.dumps(group), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        limit.cancel()
        with suppress(AttributeError, TypeError, ValueError):
            made = {**json.loads(line)}
            set(triples(made))
            return made
        self.process.kill()
        self.process.wait()
        self._start()
        raise TimeoutError if monotonic() - started >= SECONDS else EOFError

    def settled(self, group):
        """Ask until nobody has to revoke: then each member owns what it was given.

        None where the rounds do not end.
        """
        for _ in range(ROUNDS):
            made, before = self.assign(group), owned(group)
            later = 1 + max(0, *(member["generation"] for member in group["members"].values()))
            for name, member in group["members"].items():
                member |= {"owned": made.get(name, {}), "generation": later}
            if not self.is_cooperative or before <= set(triples(made)):
                return triples(made)
        return None


def triples(held):
    return [(m, t, n) for m in held for t, numbers in held[m].items() for n in numbers]


def owned(group):
    return set(triples({m: said["owned"] for m, said in group["members"].items()}))


def as_asked(group):
    """Return the group that a program reads: the same keys everywhere."""
    topics = {
        t: {"partitions": s} if isinstance(s, int) else s for t, s in group["topics"].items()
    }
    members = {m: {"owned": {}, "generation": -1, **s} for m, s in group["members"].items()}
    return {"topics": topics, "members": members}


def judged(program, group, best):
    """Return whether each promise put to the test is kept, and what was measured."""
    topics, members = group["topics"], group["members"]
    owners = set(triples(best["owners"])) if "owners" in best else owned(group)
    try:
        given = program.settled(group)
    except TimeoutError:
        return {"terminates": False}, "no answer in time"
    except EOFError:
        return {"terminates": True, "answers": False}, "no assignment on a line"
    kept = {"terminates": True, "answers": True, "settles": given is not None}
    if given is None:
        return kept, "rounds without end"
    reads = {m: set(said["subscription"]) for m, said in members.items()}
    read = topics.keys() & set().union(*reads.values())
    wanted = Counter((t, n) for t in read for n in range(topics[t]["partitions"]))
    made = Counter((t, n) for _, t, n in given)
    wrong = {
        "with nobody": [*(wanted - made)],
        "once too often": [*(made - wanted)],
        "not read": [one for one in given if one[1] not in reads.get(one[0], ())],
    }
    kept["valid"] = not any(wrong.values())
    if not kept["valid"]:
        return kept, wrong
    load = Counter(m for m, _, _ in given)
    found = {"loads": sorted(load[m] for m in members), "moves": len(owners - set(given))}
    pairs = [(load[m], load[o]) for m, t, _ in given for o in members if t in reads[o]]
    kept["balanced"] = all(here < there + 2 for here, there in pairs)
    kept["optimal-balance"] = is_best = found["loads"] == best.get("loads")
    if is_best:
        kept["optimal-moves"] = found["moves"] <= best["moves"]
    if "racks" in best:
        near = [members[m].get("rack") in topics[t]["racks"][n] for m, t, n in given]
        found["racks"] = near.count(False)
        if is_best:
            kept["racks"] = found["racks"] <= best["racks"]
    with suppress(TimeoutError, EOFError):
        if (again := program.settled(group)) is not None:
            kept["idempotent"] = set(given) <= set(again)
    return kept, found


def main():
    parser = argparse.ArgumentParser(description="Hold an assignor to the promises of files.")
    parser.add_argument("command", help="what starts the program that has the assignor")
    parser.add_argument("files", nargs="+", type=Path, help="files of promises")
    parser.add_argument("--cooperative", action="store_true", help="it is asked round by round")
    asked = parser.parse_args()
    try:
        program, code = Program(asked.command, is_cooperative=asked.cooperative), 0
    except OSError as error:
        parser.error(f"{asked.command}: {error.strerror}")
    for file in asked.files:
        document = json.loads(file.read_text("utf-8"))
        promise, came = document["promise"], Counter()
        for one in document["instances"]:
            if "group" not in one:
                came["only recipes"] += 1
                continue
            best = one.get("answer", {})
            kept, found = judged(program, as_asked(one["group"]), best)
            came[kept.get(promise)] += 1
            if kept.get(promise) is False:
                code = 1
                shown = {key: best[key] for key in ("loads", "moves", "racks") if key in best}
                print(promise, one["id"], found, *(["best:", shown] if shown else []))
        print(
            f"{promise}: {came[True]} kept, {came[False]} broken, {came[None]} not tested, "
            f"{came['only recipes']} only recipes"
        )
    return code


if __name__ == "__main__":
    sys.exit(main())
