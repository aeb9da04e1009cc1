"""What an explanation says, read back from its sentences and held against the group."""

import random
import re
from dataclasses import replace
from functools import cache

import pytest

from compare.reasons import words
from compare.reasons.explanation import Count, explain
from compare.reasons.words import about
from compare.sentences import BY_ASSIGNOR, who_moves
from groups import Group
from optimal import Proof, ProofKind, Status, Stopped, Term, solve
from tests.assay.calling import LOPSIDED
from tests.compare.conftest import holding
from tests.compare.reasons.test_counts import drawn
from tests.optimal.random_groups import random_group
from tests.optimal.small_groups import group_of
from tests.seeds import for_each

SEEDS = range(200)
# Nobody who reads an explanation needs to know what these are.
JARGON = re.compile(r"\b(levels?|prices?|dual|flows?|blocks?|cuts?|certificates?)\b")


@cache
def explained(seed: int):
    return explain(solve(drawn(seed)))


def said(explanation) -> list[str]:
    lines = [words.headline(explanation), *words.reasons(explanation)]
    for member in explanation.group.members:
        lines += about(explanation, member)
    return lines


def number(text: str) -> int:
    return int(text.replace(",", ""))


@for_each(SEEDS)
def test_the_words_have_no_jargon_and_one_is_singular_and_more_are_plural(seed):
    text = "\n".join(said(explained(seed)))
    assert JARGON.findall(text) == []
    assert re.findall(r"\b1 (?:more )?(?:partitions|members|topics|counts)\b", text) == []
    assert re.findall(r"\b(?:[02-9]|\d\d+) (?:more )?(?:partition|member|topic)\b", text) == []
    assert re.findall(r"  |\bNone\b|\.\.|, ,", text) == []


@for_each(SEEDS)
def test_the_headline_says_the_loads_and_the_moves_of_the_optimum(seed):
    explanation = explained(seed)
    line, loads = words.headline(explanation), explanation.best.loads.tolist()
    if not loads:
        return
    found = [number(n) for n in re.search(r"loads (\d+)(?:-(\d+))?", line).groups() if n]
    assert (found[0], found[-1]) == (min(loads), max(loads))
    if not explanation.is_there:
        moved, owned = map(number, re.search(r"moves (\d+) of (\d+) owned", line).groups())
        assert moved == explanation.solution.terms[1].value
        assert owned == sum(explanation.group.owned)


@for_each(SEEDS)
def test_what_must_move_is_counted_by_the_snapshot_and_summed_up_to_what_the_optimum_moves(seed):
    explanation = explained(seed)
    group, lines = explanation.group, words.moves(explanation)
    moved = explanation.solution.terms[1].value
    if not moved:
        assert lines == ["No partition has to move for that."]
        return
    assert number(re.match(r"At least (\d+) partitions? must move", lines[0])[1]) == moved
    assert lines[-1].endswith(f"The best assignment moves just {moved}. {who_moves(BY_ASSIGNOR)}.")
    sums = re.match(r"((?:\d+ \+ )+\d+) = (\d+), with no partition counted twice", lines[-1])
    ends = ("in all", "must go", "must come from there", r"more in \d+ such counts? of others")
    one = rf"(\d+) (?:{'|'.join(ends)})\.$"
    items = [number(re.search(one, line)[1]) for line in lines[1:-1]]
    assert sum(items) == moved
    assert (sums is None) == (len(items) == 1)
    if sums:
        assert [number(n) for n in sums[1].split(" + ")] == items
        assert number(sums[2]) == moved
    best = dict(zip(group.members, explanation.best.loads.tolist(), strict=True))
    owned = dict(zip(group.members, group.owned.tolist(), strict=True))
    more = r"- (.+) owns? (\d+) partitions?(?: each)? and holds? at most (\d+)(?: each)?: (\d+) "
    for line in lines:
        if plain := re.match(more, line):
            names = re.split(", | and ", re.sub(r" and \d+ more", "", plain[1]))
            has, room, must = map(number, plain.groups()[1:])
            if " together" not in line:
                assert {owned[name] for name in names} == {has}
                assert room >= max(best[name] for name in names)
            assert must == has - room


@for_each(SEEDS)
def test_loads_that_differ_by_one_at_most_are_shown_by_division(seed):
    explanation = explained(seed)
    line = next(
        (one for one in words.reasons(explanation) if " for " in one and "each" in one), ""
    )
    found = re.match(
        r"([\d,]+) partitions? for (\d+) members are (\d+) each(?: and (\d+) over\. At the best "
        r"(\d+) members? holds? (\d+) and (\d+) holds? (\d+))?", line,
    )  # fmt: skip
    if found:
        total, members, share = map(number, found.groups()[:3])
        over = number(found[4] or "0")
        assert total == members * share + over
        loads = sorted(explanation.best.loads.tolist())
        assert loads == [share] * (members - over) + [share + 1] * over
        if over:
            assert [number(n) for n in found.groups()[3:]] == [
                over, over, share + 1, members - over, share,
            ]  # fmt: skip


@for_each(range(100))
def test_a_member_is_said_to_hold_what_it_holds_and_to_read_what_it_reads(seed):
    explanation = explained(seed)
    group = explanation.group
    for m, member in enumerate(group.members):
        lines = about(explanation, member)
        numbers = [number(n) for n in re.findall(r"\d+", lines[0].removeprefix(member))]
        now, best = int(explanation.now.loads[m]), int(explanation.best.loads[m])
        assert numbers == ([best] if now == best else [now, best])
        given = next((one for one in lines if one.startswith("It gives")), "")
        gone = (group.owner == m) & (explanation.best.owner != m)
        if " more" not in given:
            assert sum(number(n) for n in re.findall(r"(\d+) to", given)) == gone.sum()
        reads = next(one for one in lines if one.startswith("It reads"))
        topics = [group.topics[t] for t in group.subscription(m) if group.partitions[t]]
        if len(topics) <= 4:
            assert re.findall(r"(t\d|\bgone\b|empty) \(", reads) == topics


def test_a_group_of_two_lines_reads_as_it_should():
    group = group_of(
        {"a": 9, "b": 4},
        {"c0": ["a"], "c1": ["a", "b"], "c2": ["b"], "c3": ["b"]},
        {"c0": {"a": [0, 1, 2, 3, 4, 5]}, "c1": {"b": [0]}, "c2": {"b": [1, 2]}},
        name="orders",
    )
    explanation = explain(solve(group))
    assert words.headline(explanation) == (
        "orders: the best assignment has loads 2-5 and moves 2 of 9 owned partitions; "
        "loads are 0-6 now."
    )
    assert words.reasons(explanation) == [
        words.AS_EVEN,
        "For example, c0 and c1 are the only readers of a, 9 partitions: somebody holds at least "
        "5.",
        "At least 2 partitions must move for loads as even as that:",
        "- Owned in a line further up than their topic: 1 of b with c1. A line that kept what is "
        "not its own would hold more than it has to: 1 must go.",
        "- c0 owns 6 partitions and holds at most 5: 1 must go.",
        "1 + 1 = 2, with no partition counted twice. The best assignment moves just 2. "
        "Who makes the moves: an assignor, at a rebalance.",
    ]
    assert about(explanation, "c1") == [
        "c1 holds 1 partition now and 4 in the best assignment.",
        "It gives 1 to c3.",
        "It gets 1 from c0.",
        "It reads a (9 partitions, read by c0 too) and b (4 partitions, read by c2 and c3 too).",
        "Line 1 has a: 9 partitions for 2 members, so 4 or 5 each.",
        "No more: b, which it reads too, is for lines further down.",
        "No less: nobody in a line further down reads a.",
        "It owns 1 partition of b, for a line further down: 1 must go.",
    ]


def test_counts_alike_are_put_together_and_long_lists_are_cut():
    owned = {f"c{i:02}": [2 * i, 2 * i + 1] for i in range(40)} | {
        f"n{i:02}": [] for i in range(40)
    }
    group = Group.from_dict(holding(80, owned))
    assert words.moves(explain(solve(group)))[1:] == [
        "- c00, c01, c02 and 37 more own 2 partitions each and hold at most 1 each: 1 of each "
        "must go, 40 in all.",
        f"The best assignment moves just 40. {who_moves(BY_ASSIGNOR)}.",
    ]


def test_what_is_not_proved_is_said_not_to_be():
    solution = solve(Group.from_dict(LOPSIDED))
    terms = (Term("balance", 1, 0), Term("stickiness", 2, None))
    open_one = replace(
        solution, status=Status.FEASIBLE, stopped=Stopped.TIME_LIMIT, terms=terms,
        proof=Proof(ProofKind.NONE),
    )  # fmt: skip
    assert explain(open_one) is None
    assert words.not_proved(open_one) == (
        "The best one known has balance 1 (no assignment is below 0), moves 2. That none is "
        "better is not proved."
    )
    nothing = replace(open_one, status=Status.UNKNOWN, terms=(), assignment=None)
    assert words.not_proved(nothing).startswith("No assignment was found in the time given")


@pytest.mark.parametrize(
    ("objective", "asked", "sentence"),
    [
        ("stickiness > balance", {}, words.PROVED),
        ("topic_balance", {}, words.PROVED),
        ("balance > stickiness", {"method": "brute"}, words.ENUMERATED),
        ("balance > stickiness", {"method": "cp-sat"}, words.SOLVER),
        ("balance > stickiness", {"at_most": {"stickiness": 1}}, words.PROVED),
    ],
)
def test_of_other_objectives_methods_and_budgets_it_says_what_the_proof_is(
    objective, asked, sentence
):
    explanation = explain(solve(Group.from_dict(LOPSIDED), objective, **asked))
    assert (explanation.blocks, explanation.moves) == ((), None)
    assert words.other_proof(explanation) == sentence


def test_of_balance_with_tiers_after_it_the_loads_are_explained():
    group = random_group(random.Random(5), members=5, partitions=20)
    explanation = explain(solve(group, "balance > racks > stickiness"))
    assert explanation.blocks
    assert explanation.moves is None
    assert words.other_proof(explanation) == words.AFTER
    assert explain(solve(group, "balance")).blocks == explanation.blocks


@pytest.mark.parametrize(
    ("fixed", "others", "said"),
    [
        (2, 5, "b own 5 partitions that it may hold. Apart from these there are only 2, so 3"),
        (0, 1, "b own 1 partition that it may hold. Apart from that there is none, so 1"),
    ],
)
def test_what_a_member_needs_from_others_is_said_in_the_order_of_counting(fixed, others, said):
    group = group_of({"t": 9}, {member: ["t"] for member in "abc"})
    moves = 3 if fixed else 1
    count = Count("need", (2,), fixed + moves, fixed, (0,), others, (0, 1), 0, moves)
    assert words.count_sentence(group, count) == (
        f"c holds at least {fixed + moves}. a and {said} must come from there."
    )
