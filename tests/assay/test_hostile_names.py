"""Names that could steer a terminal: none of the commands prints one raw."""

import json

import pytest

from tests.assay.calling import one_after_the_other, write

# A colour, a C1 control, DEL, a line end, a change of direction, a blank of no width.
STEERS = "\x1b[31m\x9b1m\x7f\r\n\u202e\u200b\a"
GROUP = {
    "format": "assay-group/1",
    "group": f"g{STEERS}",
    "assumed": [f"note{STEERS}"],
    "topics": {f"t{STEERS}": {"partitions": 3, "racks": [[f"r{STEERS}"]] * 3}, "u": 1},
    "members": {
        f"c0{STEERS}": {
            "subscription": [f"t{STEERS}"],
            "owned": {f"t{STEERS}": [0, 1, 2]},
            "client_id": f"i{STEERS}",
            "rack": f"r{STEERS}",
        },
        f"c1{STEERS}": {"subscription": [f"t{STEERS}", "u"]},
        f"c2{STEERS}": {"subscription": [f"gone{STEERS}"]},
    },
}
UNKNOWN = GROUP | {
    "members": {m: {**said, "subscription": None} for m, said in GROUP["members"].items()}
}
SCENARIO = {
    "format": "assay-scenario/1",
    "name": f"s{STEERS}",
    "seed": 1,
    "group": GROUP,
    "events": [{"leave": [f"c0{STEERS}"]}],
}
RPK = [
    {
        "group_name": f"g{STEERS}",
        "state": "Stable",
        "balancer": "range",
        "members": 1,
        "members_details": [{"member_id": f"c{STEERS}", "client_id": f"i{STEERS}"}],
        "partitions": [{"topic": "t", "partition": 0, "member_id": f"c{STEERS}"}],
    }
]
BAD = {
    "bad.json": GROUP | {f"key{STEERS}": 1},
    "worse.json": GROUP | {"topics": {f"t{STEERS}": -1}},
    "dead.json": [RPK[0] | {"state": "Dead"}],
    "odd.json": [RPK[0] | {"state": f"odd{STEERS}"}],
    "topic.json": [RPK[0] | {"partitions": [{"topic": f"t{STEERS}", "partition": 0}]}],
}
CALLS = {
    "solve": ("solve", "g.json"),
    "solve as json": ("solve", "g.json", "--format", "json"),
    "check": ("check", "g.json", "solution.json"),
    "score": ("score", "g.json", "--assignor", "range"),
    "score without subscriptions": ("score", "unknown.json", "--objective", "racks"),
    "score of a wrong plan": ("score", "g.json", "--plan", "plan.json", "--assignor", "current"),
    "score a gate": ("score", "g.json", "--fail-above", "balance=0", "--assignor", "current"),
    "score several": ("score", "several.jsonl"),
    "score as json": ("score", "g.json", "--assignor", "current", "--format", "json"),
    "score an unknown group": ("score", "g.json", "--group", f"x{STEERS}"),
    "score a wrong read": ("score", "unknown.json", "--reads", f"c0*={STEERS}"),
    "validate": ("validate", "g.json", *BAD, f"missing{STEERS}.json"),
    "anonymise": ("anonymise", "g.json"),
    "import": ("import", "rpk.json"),
    "import to nowhere": ("import", "rpk.json", "-o", f"no{STEERS}/out.json"),
    "import a bad time": ("import", "rpk.json", "--captured-at", STEERS),
    "diff": ("diff", "g.json", "solution.json"),
    "diff as json": ("diff", "g.json", "solution.json", "--format", "json"),
    "explain": ("explain", "g.json"),
    "explain a member": ("explain", "g.json", "--member", f"c0{STEERS}"),
    "explain nobody": ("explain", "g.json", "--member", f"x{STEERS}"),
    "advise": ("advise", "g.json", "--assignor", "range"),
    "frontier": ("frontier", "g.json", "balance", "moves"),
    "size": ("size", "g.json", "--members", "2-3"),
    "scenario": ("scenario", "s.json", "--assignor", "range"),
    "scenario as json": ("scenario", "s.json", "--assignor", "range", "--format", "json"),
    "a wrong option": ("score", "g.json", f"--x{STEERS}"),
    "a wrong command": (f"x{STEERS}",),
    "a wrong assignor": ("score", "g.json", "--assignor", f"x{STEERS}"),
    "a wrong objective": ("solve", "g.json", "--objective", f"x{STEERS}"),
    **{f"score {name}": ("score", name) for name in BAD},
    **{f"import {name}": ("import", name) for name in BAD},
}


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    plan = {f"c0{STEERS}": {"u": [0, 7]}}
    files = {
        **BAD, "g.json": GROUP, "unknown.json": UNKNOWN, "s.json": SCENARIO, "rpk.json": RPK,
        "plan.json": plan,
    }  # fmt: skip
    files = {name: json.dumps(document) for name, document in files.items()}
    files["several.jsonl"] = [GROUP, UNKNOWN]
    folder = write(tmp_path_factory.mktemp("hostile"), files)
    solved = one_after_the_other({"solve": CALLS["solve as json"]}, folder)["solve"]
    (folder / "solution.json").write_text(solved.stdout)
    return one_after_the_other(CALLS, folder)


@pytest.mark.parametrize("name", CALLS)
def test_no_name_reaches_the_terminal_raw(said, name):
    run = said[name]
    assert run.returncode in (0, 1, 2), run.stderr
    for text in (run.stdout, run.stderr):
        raw = [line for line in text.split("\n") if not line.isprintable()]
        assert raw == []
    assert run.stdout or run.stderr


def test_what_is_escaped_in_json_is_the_same_name(said):
    document = json.loads(said["import"].stdout)
    assert document["group"] == GROUP["group"]
    assert list(document["members"]) == [f"c{STEERS}"]
    assert json.loads(said["score as json"].stdout)["group"] == GROUP["group"]
    held = json.loads(said["solve as json"].stdout)["assignment"]
    assert held.keys() == GROUP["members"].keys()
