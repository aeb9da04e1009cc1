"""What each promise asks, and who promises what."""

from functools import partial

import pytest

from compare.promises.promise import PROMISES, is_promised, promise_named, promises_of
from compare.promises.trial import Runner, Trial, in_process, optima, rejoined
from groups import Assignment, BadInput, Failed, Group, Refused
from heuristics import WRITTEN, Plan, assign, assignors
from heuristics.assignor import Outcome, attempt
from heuristics.protocol import FOR_EVER, to_quiescence
from tests.compare.conftest import holding

EVEN = holding(4, {"a": [0, 1], "b": [2, 3]})


def judged(promise: str, function, document=EVEN):
    """Judge a promise of a function that takes the place of an assignor."""

    def run(group: Group) -> Outcome:
        try:
            made = function(group)
        except (Refused, Failed) as error:
            status = "refused" if isinstance(error, Refused) else "failed"
            return Outcome(status, None, str(error), 0.0)
        return Outcome("planned", Plan(Assignment.from_dict(group, made)), None, 0.0)

    group = Group.from_dict(document)
    return PROMISES[promise].judge(Trial(run, group, optima([group])[0]))


def giving(*answers):
    """Return a function that returns or raises these answers in turn, the last one for ever."""
    left = list(answers)

    def function(_: Group):
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    return function


CIRCLING = f"round 3 ends with what the members owned after round 1: {FOR_EVER}"
KEPT = {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}
SWAPPED = {"a": {"t": [2, 3]}, "b": {"t": [0, 1]}}
LOPSIDED = {"a": {"t": [0, 1, 2]}, "b": {"t": [3]}}
DOUBLE = {"a": {"t": [0, 1]}, "b": {"t": [1, 2, 3]}}


CASES = [
    ("terminates", [KEPT], True, {"status": "planned"}),
    ("terminates", [Failed("for ever")], True, {"status": "failed"}),
    ("answers", [KEPT], True, {"status": "planned", "reason": None}),
    ("answers", [Failed("for ever")], False, {"status": "failed", "reason": "for ever"}),
    ("answers", [Refused("no lag")], None, {}),
    ("terminates", [Refused("no lag")], None, {}),
    ("answers", [Failed(CIRCLING)], None, {}),
    ("settles", [KEPT], True, {"rounds": 1}),
    ("settles", [Failed(CIRCLING)], False, {"status": "failed", "reason": CIRCLING}),
    ("settles", [Failed("for ever")], None, {}),
    ("settles", [Refused("no lag")], None, {}),
    ("valid", [KEPT], True, {"violations": 0, "first": []}),
    ("valid", [DOUBLE], False, {"violations": 1, "first": ["t-1 with b: double"]}),
    ("valid", [Failed("for ever")], None, {}),
    ("balanced", [KEPT], True, {"loads": [2, 2]}),
    ("balanced", [LOPSIDED], False, {"loads": [3, 1]}),
    ("balanced", [DOUBLE], None, {}),
    ("optimal-balance", [KEPT], True, {"balance": 0, "optimum": 0}),
    ("optimal-balance", [LOPSIDED], False, {"balance": 2, "optimum": 0}),
    ("optimal-balance", [DOUBLE], None, {}),
    ("optimal-moves", [KEPT], True, {"moves": 0, "optimum": 0}),
    ("optimal-moves", [SWAPPED], False, {"moves": 4, "optimum": 0}),
    ("optimal-moves", [LOPSIDED], None, {}),
    ("optimal-moves", [Refused("no lag")], None, {}),
    ("idempotent", [SWAPPED, SWAPPED], True, {"moved": 0}),
    ("idempotent", [SWAPPED, KEPT], False, {"moved": 4}),
    ("idempotent", [SWAPPED, Failed("for ever")], None, {}),
    ("idempotent", [Refused("no lag")], None, {}),
]


@pytest.mark.parametrize(("promise", "answers", "holds", "measured"), CASES)
def test_each_promise_asks_what_it_says(promise, answers, holds, measured):
    judgement = judged(promise, giving(*answers))
    assert (judgement.holds, judgement.measured) == (holds, measured)


def test_a_case_breaks_each_promise_but_two_that_other_tests_break():
    broken = {promise for promise, _, holds, _ in CASES if holds is False}
    assert broken == PROMISES.keys() - {"terminates", "no-revert"}


def test_the_revert_rule_would_be_seen_if_it_fired():
    moves = lambda group: assign(group, "kip-54-sticky").to_dict()  # noqa: E731
    reverts = lambda group: assign(group, "kip-54-fairest").to_dict()  # noqa: E731
    assert judged("no-revert", moves).holds is None
    lopsided = holding(9, {"a": [*range(9)], "b": [], "c": []})
    assert judged("no-revert", moves, lopsided).holds is True
    assert judged("no-revert", reverts, lopsided).holds is False


def test_rounds_that_come_back_break_the_promise_to_settle_and_no_other():
    """One partition or the other is given to nobody, in turn: somebody always loses one."""

    def alternating(group: Group) -> Plan:
        first = group.to_dict()["members"]["a"].get("owned")
        given = {"a": {}, "b": {"t": [1]}} if first else {"a": {"t": [0]}, "b": {}}
        return Plan(Assignment.from_dict(group, given))

    group = Group.from_dict(holding(2, {"a": [0], "b": []}))
    rounds = partial(to_quiescence, over=alternating, withhold=True)
    run = Runner("alternating", lambda asked: attempt(rounds, asked))
    broken = [n for n, p in PROMISES.items() if p.judge(Trial(run, group, None)).holds is False]
    assert broken == ["settles"]


def test_on_its_own_result_every_member_claims_what_it_was_given_in_one_generation():
    group = Group.from_dict(EVEN)
    again = rejoined(group, Assignment.from_dict(group, DOUBLE))
    members = again.to_dict()["members"]
    assert {m: said["owned"] for m, said in members.items()} == DOUBLE
    assert {said["generation"] for said in members.values()} == {0}
    # Two claims of one generation void each other.
    assert again.owner.tolist() == [0, -1, 1, 1]


def test_what_is_not_there_is_refused():
    with pytest.raises(BadInput, match=r"^promise: 'fast', expected one of termin"):
        promise_named("fast")
    with pytest.raises(BadInput, match=r"^assignor: unknown name 'fast'"):
        in_process("fast")


OF_BALANCE = {"balanced", "optimal-balance", "optimal-moves"}
OF_ALL = {"terminates", "answers", "valid", "idempotent"}


def test_of_the_shipped_assignors_the_sticky_uniform_and_optimal_ones_balance_over_all_topics():
    for name in (name for name in assignors() if "/" in name):
        balances = "sticky" in name or "/uniform@" in name or name.startswith("java-optimal/")
        expected = OF_ALL | (OF_BALANCE if balances else set())
        assert set(promises_of(name)) - {"settles"} == expected, name
        assert ("settles" in promises_of(name)) == ("/cooperative-sticky@" in name), name


def test_of_those_as_written_three_do_not_balance_over_all_topics():
    without = {name for name in WRITTEN if not OF_BALANCE & set(promises_of(name))}
    assert without == {"range", "roundrobin", "kip-169-lag"}
    assert all(set(promises_of(name)) >= OF_BALANCE for name in set(WRITTEN) - without)


@pytest.mark.parametrize("name", ["mine:range", "mine:deal", "my-app/least-loaded", "a/b/sticky"])
def test_an_assignor_that_nobody_knows_is_held_to_every_promise_but_those_of_a_single_one(name):
    assert promises_of(name) == tuple(n for n in PROMISES if n not in ("settles", "no-revert"))


def test_a_client_that_joined_the_probe_is_known_by_its_name_on_the_wire():
    for name in ("librdkafka/range", "my-app/RoundRobinAssigner", "a/b/roundrobin"):
        assert not is_promised("balanced", name)
        assert is_promised("valid", name)
