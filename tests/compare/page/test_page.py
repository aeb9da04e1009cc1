import csv
import json
import re
from io import StringIO

import pytest

from assay import Group, Solution, check
from assay.commands.options import Asked
from compare.overview import Glance
from compare.page.drawing import as_csv
from compare.page.html import rendered
from compare.page.words import MARKS
from compare.samples.families import Family
from compare.sentences import BY_TASKS, who_moves
from compare.verdict import DEPENDS, SHOWN, WORST_FIRST, Verdict
from groups.errors import Failure
from groups.files import read_groups
from groups.importers.seen import rebalancing
from tests.assay.calling import ALL_GROUPS
from tests.compare.conftest import CLOSING, HOSTILE, holding, lopsided, snapshot
from tests.compare.page.parsed import Parsed
from tests.compare.test_hosts import UNEVEN, orders

UUID = "9e9480e3-fb86-495b-a540-9a7c10bdb384"


def even(name: str = "even", **more) -> dict:
    return holding(4, {"a": [0, 1], "b": [2, 3]}, group=name, **more)


def unknown(name: str = "unknown") -> dict:
    """A group with unknown subscriptions, on which it depends whether it is optimal."""
    members = {
        "a": {"subscription": None, "owned": {"t": [0, 1, 2, 3]}},
        "b": {"subscription": None, "owned": {"u": [0]}},
    }
    return snapshot(name, {"t": 4, "u": 1}, members)


def test_beside_consumer_groups_a_streams_group_has_its_own_words_and_no_assignor_of_consumers(
    page_of,
):
    held = {"p1": {"0": [0, 1, 2]}, "p2": {"0": [3]}}
    threads = {
        process: {
            "process": process,
            "client_id": f"shop-{UUID}-StreamThread-{number}-consumer",
            "tasks": {"active": tasks},
        }
        for number, (process, tasks) in enumerate(held.items(), start=1)
    }
    shop = {"format": "assay-streams/1", "group": "shop", "subtopologies": {"0": {"tasks": 4}}}
    page = page_of([shop | {"members": threads}, lopsided()], assignors=("range",))
    assert page.title == "2 groups"
    assert page.lead == "2 groups: 2 improvable."
    (line,) = (one for one in page.lines if one.name == "shop")
    assert line.to_do == "let an assignor move 1 task"
    (shown,) = (one for one in page.details if one.line.name == "shop")
    assert (shown.planned, shown.made_by) == ((), f"{who_moves(BY_TASKS)}.")
    assert shown.why[0].startswith("4 tasks for 2 threads are 2 each")
    told = Parsed(rendered(page)).words
    assert "threads hold 1-3 tasks now, and 2 then" in told
    assert f"shop-{UUID[:4]}…-StreamThread-1" in told
    assert "partitions or tasks per member, now" in told
    assert {row["group"] for row in of_csv(page.yours.data)} == {"lopsided"}


def of_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text.removeprefix("\n"))))


@pytest.fixture(scope="module")
def page(read) -> Parsed:
    empty = snapshot("empty", {"t": 1}, {})
    why = [(3, "no group in it", "lost"), (7, "gone", "lost"), (9, "a header alone", None)]
    unread = [Failure("f", f"noise.txt:{line}", *told) for line, *told in why]
    return read([even(), empty, unknown(), lopsided()], unread=unread)


def test_how_many_groups_have_something_to_do_is_read_first_and_then_which(page):
    said = "5 groups: 1 improvable; 1 that depends on who reads what; 1 as good as can be; "
    said += "1 without members; 1 not judged (lost)."
    before, _, _ = page.words.partition(said)
    assert before != page.words
    assert "Your groups" not in before
    assert "lopsided: let an assignor move 2 partitions" in page.words


def test_groups_come_worst_first_with_what_to_do_and_what_was_not_read_last(page):
    rows = page.table("Groups, worst first")
    # Several texts of one group that were not read are one line.
    last = ["lostnoise.txt:3", "noise.txt:9"]
    assert list(rows) == ["lopsided", "unknown", "even", "empty", *last]
    assert [row["verdict"] for row in rows.values()] == [
        "▲ improvable",
        "? depends on who reads what",
        "✓ as good as can be",
        "- no members",
        "✕ not judged",
        "✕ not read",
    ]
    assert [row["what to do"] for row in rows.values()] == [
        "let an assignor move 2 partitions",
        "does b read t?",
        "nothing",
        "nothing: there is nobody to assign to",
        "no group in it",
        "a header alone",
    ]
    head, *_ = page.tables["Groups, worst first"]
    assert [int(a["colspan"]) for _, a in page.tags if "colspan" in a] == [len(head) - 2] * 2


def test_sections_come_in_their_order_and_a_benchmark_has_its_own_after_all_that_is_yours(read):
    generated = Family(4, 3, 2).group(1)
    page = read([lopsided(), even()], benchmark=[generated], assignors=("range",))
    sections = [a["id"] for tag, a in page.tags if tag == "section" and "id" in a]
    assert sections == ["groups", "group", "assignors", "benchmark", "words"]
    assert generated.name not in page.texts["groups"] + page.texts["assignors"]
    assert list(page.table("Groups, worst first")) == ["lopsided", "even"]
    assert page.table("Assignors on 2 groups of yours")["range"]["groups"] == "2"
    assert page.table("Assignors on 1 group of the benchmark")["range"]["groups"] == "1"


def test_a_verdict_is_not_settled_by_an_assumption_behind_the_readers_back(read):
    page = read([unknown(), snapshot("empty", {"t": 1}, {})], assignors=("range",))
    assert page.table("Groups")["unknown"]["verdict"] == "? depends on who reads what"
    assert "No assignor was tried" in page.texts["assignors"]
    assert "--reads PATTERN=TOPICS" in page.texts["assignors"]
    # Whoever reads what, both give each of four one partition.
    sure = unknown("sure")
    sure["members"] = {m: {"owned": {"t": [k]}} for k, m in enumerate("abcd")}
    sure["topics"] = {"t": 4}
    shown = read([sure], assignors=("roundrobin", "range"))
    assert list(shown.table("Assignors on sure"))[2:] == ["roundrobin", "range"]
    assumed = read([unknown(), even()], assume_equal=True)
    row = assumed.table("Groups")["unknown"]
    assert row["verdict"] == "▲ improvable"
    assert row["what to do"].endswith("if all members read the same topics")
    assert "This holds if all members read the same topics." in assumed.words


def test_a_group_in_full_has_loads_moves_why_and_proof(page):
    detail = page.texts["group-1"]
    assert "Moving 2 of 5 partitions" in detail
    assert page.table("The moves of lopsided")["c0"]["topic and numbers"] == "t1: 1-2"
    loads = of_csv(page.texts["group-1-loads"])
    assert sum(int(row["now"]) for row in loads) == sum(int(row["best"]) for row in loads) == 5
    assert [row["topic"] for row in of_csv(page.texts["group-1-moves"])] == ["t1", "t1"]
    assert "At least 2 partitions must move" in detail
    assert set(page.table("Level and price of each member of lopsided")) == {"c0", "c1"}


def test_the_two_documents_of_a_proof_pass_the_check_that_the_page_names(page):
    group = Group.from_dict(json.loads(page.texts["group-1-group"]))
    check(group, Solution.from_dict(group, json.loads(page.texts["group-1-solution"])))


def test_the_documents_of_a_proof_say_what_is_taken_of_subscriptions(page_of):
    (kpr,) = (one for one in read_groups(ALL_GROUPS) if one.name == "kpr-c")
    page = Parsed(rendered(page_of([kpr.to_dict()])))
    told = "subscription of 2 members unknown, taken as all 3 topics of the group"
    for one in ("group", "solution"):
        assert told in json.loads(page.texts[f"group-1-{one}"])["assumed"]


def test_the_worst_group_says_what_each_move_buys(read):
    group = Family(8, 6, 10, "random", "join-one").group(4)
    page = read([group])
    points = of_csv(page.texts["group-1-trade"])
    assert (points[0]["moves"], points[-1]["balance"]) == ("0", "0")
    moves = [int(point["moves"]) for point in points]
    balance = [int(point["balance"]) for point in points]
    assert moves == sorted(moves)
    assert balance == sorted(balance, reverse=True)


def test_the_download_tells_where_the_least_lag_is_not_proved_as_the_table_does(page_of):
    page = Parsed(rendered(page_of(read_groups(ALL_GROUPS))))
    rows = {row["group"]: row for row in of_csv(page.texts["groups-data"])}
    shown = {
        name: next(cell for head, cell in row.items() if head.startswith("peak lag"))
        for name, row in page.table("Groups, worst first").items()
    }
    assert shown.keys() == rows.keys()
    told = {name: row["peak_lag_best_proved"] for name, row in rows.items()}
    assert {told[name] for name, cell in shown.items() if cell.endswith(" or less")} == {"no"}
    assert {name for name, said in told.items() if said == "no"} == {
        name for name, cell in shown.items() if cell.endswith(" or less")
    }
    assert (told["kpr-c"], told["coop-a"], told["aio-f"]) == ("no", "yes", "")


def test_a_healthy_group_is_short(page):
    detail = page.texts["group-3"]
    assert "as good as can be" in detail
    assert "What moves" not in detail
    # The page says who makes the moves only if there are any.
    which = "Who makes the moves: an assignor; assay advise says which one."
    assert [which in page.texts[f"group-{i}"] for i in (1, 3)] == [True, False]
    assert len(detail.split()) < len(page.texts["group-1"].split())


@pytest.fixture(scope="module")
def kpr_c(page_of):
    """Give a function that returns the details of kpr-c, which can be improved."""
    (group,) = (one for one in read_groups(ALL_GROUPS) if one.name == "kpr-c")
    return lambda **more: page_of([group], **more).details[0]


def test_the_moves_are_those_of_which_the_sentence_on_lag_speaks(kpr_c):
    found = kpr_c()
    told = " ".join(found.sentences)
    assert "can have 929 of lag or less, whoever reads what: at least 453 less than now. " in told
    assert max(one.lag_best for one in found.holdings.holders) == 929
    assert found.choice == (
        "Of all assignments as good, whoever reads what, this one has the least peak lag."
    )
    assert found.made_by == (
        "Who makes the moves: an assignor; assay advise says which one, if all members read the "
        "same topics."
    )
    found = kpr_c(commands=Asked(sources=["FILE"], group=None))
    advise = "assay advise FILE --group kpr-c --assume-equal --lower peak_load"
    assert f" {advise} says which one" in found.made_by


def test_where_balance_allows_less_lag_than_the_fewest_moves_both_are_said(kpr_c):
    found = kpr_c(assume_equal=True)
    assert "and no less: 479 less than now. " in found.sentences[1]
    assert found.sentences[1].endswith(" The moves below bring it to 909.")
    assert max(one.lag_best for one in found.holdings.holders) == 909


def test_beside_assignors_of_the_other_protocol_stands_that_they_need_it(kpr_c):
    found = kpr_c(assume_equal=True, assignors=("range", "kafka-broker/uniform"))
    uniform = "the broker's uniform"
    said = f"Only with group.protocol=consumer (KIP-848): {uniform}."
    assert found.planned_elsewhere == said


def test_the_peak_lag_of_assignors_stands_beside_the_least(kpr_c):
    found = kpr_c(assume_equal=True, assignors=("range",))
    (at,) = (at for at, (head, _) in enumerate(found.planned_heads) if head.startswith("peak lag"))
    assert [one.cells[at] for one in found.planned] == [
        ("909", "+6"), ("1,382", "+479"), ("1,584", "+681"),
    ]  # fmt: skip
    least = "the least with balanced loads, by any number of moves"
    assert found.planned_lag == f"903, {least}"
    assert kpr_c(assignors=("range",)).planned_lag == f"903 to 929, {least}"
    # Where lag is all that is asked for, that of assignors is not known.
    assert kpr_c(assume_equal=True, assignors=("range",), tiers=("peak_lag",)).planned_lag is None
    assert found.planned[0].name == "best in balance > moves (proved)"
    assert (found.line.peak, found.line.then, found.line.lowest) == (1382, 909, 903)


def test_a_page_of_one_group_is_about_that_alone(read):
    page = read([even()])
    sections = [a["id"] for tag, a in page.tags if tag == "section" and "id" in a]
    assert sections == ["group", "words"]
    told = "even: as good as can be in balance > moves. 2 members hold 2 each of 4 partitions."
    assert page.words.count(told) == 1


def test_idle_members_are_named(read):
    document = even()
    document["members"]["c"] = {"subscription": ["t"]}
    page = read([document, unknown()])
    assert "1 idle member, which holds nothing: c." in page.texts["group-1"]
    assert page.table("Groups")["even"]["idle members"] == "1"


def test_lag_is_shown_now_and_after_and_what_is_unknown_is_said(read):
    document = lopsided()
    document["topics"] = {"t0": 2, "t1": {"partitions": 3, "lag": [5, 7, None]}}
    page = read([document])
    lags = of_csv(page.texts["group-1-lag"])
    assert {row["member"]: row["lag_records_now"] for row in lags} == {"c0": "12", "c1": "0"}
    assert "is unknown and counts for nobody" in page.texts["group-1"]


def test_every_verdict_has_a_mark_and_says_what_to_do():
    assert tuple(MARKS) == SHOWN
    asked = {DEPENDS: "does c0 read t1?"}
    verdicts = [Verdict(says, True, question=asked.get(says)) for says in WORST_FIRST]
    said = {Glance("g", None, 1, 1, verdict, to_move=1).to_do for verdict in verdicts}
    assert len(said) == len(WORST_FIRST)


def test_of_a_group_captured_twice_the_latest_capture_is_shown(read):
    times = ("2026-11-20T10:00:00Z", "2026-11-21T11:00:00Z")
    page = read([lopsided(), *(even(captured_at=time) for time in times)])
    assert list(page.table("Groups")) == ["lopsided", "even"]
    assert "captured 2026-11-20 10:00 UTC to 2026-11-21 11:00 UTC" in page.words


def test_names_are_shown_and_never_run(page_of):
    hostile = lopsided(HOSTILE, topic=CLOSING, member="<!-- <script>")
    html = rendered(page_of([hostile, even()], assignors=("range",)))
    assert HOSTILE not in html
    assert CLOSING not in html
    assert html.lower().count("</script") == 1
    page = Parsed(html)
    assert HOSTILE in page.table("Groups")
    assert f"{CLOSING}: 1-2" in page.words
    assert {row["topic"] for row in of_csv(page.texts["group-1-moves"])} == {CLOSING}


def test_a_name_that_turns_the_direction_of_writing_does_not_turn_the_page(page_of):
    html = rendered(page_of([lopsided("or\u202eders"), even()]))
    assert "\u202e" not in html
    assert "or\\u202eders" in html
    group = json.loads(Parsed(html).texts["group-1-group"])
    assert group["group"] == "or\u202eders"


def test_a_name_with_half_a_character_costs_nothing_but_its_own_line(page_of):
    unread = [Failure("in.json", "in.json", "group: 'a\ud800b' is not valid Unicode", "a\ud800b")]
    html = rendered(page_of([lopsided("orders")], unread=unread))
    assert html.encode()
    assert "a\\ud800b" in html
    assert "orders" in html


def test_no_cell_of_a_download_is_a_formula():
    text = as_csv(["member", "moves"], [["=1+1", -3], ["@x", 0], ["+a", 1], ["-b", 2], ["c", 3]])
    assert text == "member,moves\n'=1+1,-3\n'@x,0\n'+a,1\n'-b,2\nc,3\n"


def test_the_page_loads_nothing_from_anywhere(page_of):
    benchmark = [Family(4, 3, 2).group(1)]
    html = rendered(page_of([lopsided()], benchmark=benchmark, assignors=("range",)))
    page = Parsed(html)
    for tag, attributes in page.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form"), tag
        assert not {"src", "srcset", "data", "action", "onclick"} & set(attributes), attributes
        assert (attributes.get("href") or "#").startswith("#")
    assert "url(http" not in html
    assert "@import" not in html
    (policy,) = (a["content"] for _, a in page.tags if "http-equiv" in a)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules.pop("default-src") == "'none'"
    assert set(" ".join(rules.values()).split()) == {"'unsafe-inline'", "data:"}
    order = [tag for tag, a in page.tags if tag in ("style", "script") or "http-equiv" in a]
    assert order[0] == "meta"


def test_a_page_of_nothing_solved_says_so_and_why(read):
    empty = [snapshot(name, {"t": 1}, {}) for name in ("e", "f")]
    said = "Nothing was solved, for there is nothing to solve: 2 groups: no members."
    page = read(empty)
    assert said in page.words
    assert "svg" not in {tag for tag, _ in page.tags}
    page = read([], unread=[Failure("f", "f.txt", "no group in it", None)])
    assert "Nothing was solved: no input is a group." in page.words
    assert page.table("Groups")["f.txt"]["what to do"] == "no group in it"


def test_the_page_says_how_it_was_made_and_what_its_objective_asks_for(page):
    words = " ".join(page.texts["words"].split())
    assert re.search(r"when\d{4}-\d\d-\d\d \d\d:\d\d UTC", words)
    assert "assay report groups.json" in words
    assert "First partitions per member as even as they can be; then, without giving" in words
    assert "10 s for each solve" in words
    assert re.search(r"kafka-assay \d.*numpy \d.*ortools \d.*Python 3", words)


def test_what_was_assumed_is_said_with_the_groups_that_it_is_about(read):
    page = read([even(assumed=["t: 4 partitions, as seen"]), lopsided()])
    assert "t: 4 partitions, as seen (even)" in page.texts["groups"]
    assert "t: 4 partitions, as seen" in page.texts["group-2"]
    assert "as seen" not in page.texts["group-1"]


def test_even_loads_with_lag_that_could_fall_are_a_verdict_with_moves_of_its_own(read):
    lagging = holding([600, 600, 5, 5], {"a": [0, 1], "b": [2, 3]}, group="lagging")
    # Two captures of one group count as one group, and a rebalancing group counts, too.
    busy = Failure("f", "busy.txt:1", rebalancing("busy"), "busy")
    page = read([lagging, even(), lagging], unread=[busy])
    lead = "4 captures of 3 groups: 2 even, lag could fall; 1 as good as can be; "
    lead += "1 rebalancing (busy)."
    assert lead in page.words
    assert page.words.strip().startswith("3 consumer groups: ")
    says = "even, lag could fall"
    done = "let an assignor that looks at lag move 2 partitions: the lag of the busiest member "
    done += "falls from 1,200 to 605 records"
    rows = page.table("Groups, worst first")
    (row,) = [rows[name] for name in rows if name.startswith("lagging")]
    assert (row["verdict"], row["what to do"]) == (f"◇ {says}", done)
    assert row["partitions to move"] == "2"
    assert f"lagging: {done}" in page.words
    assert f"lagging ◇ {says}" in " ".join(page.texts["group-1"].split())
    detail = page.texts["group-1"]
    assert "What moves for less lag on one member: 2 partitions" in detail
    assert "no assignor of Kafka's, as none looks at lag" in detail
    assert "Why loads cannot be more even" in detail


def test_lag_that_rests_on_an_assumed_reset_is_said_to_beside_the_table(read):
    offsets = [{"beginning": 0, "end": 50, "committed": None}] * 4
    resting = even("resting") | {"topics": {"t": {"partitions": 4, "offsets": offsets}}}
    given = "(auto.offset.reset=latest, assumed for 4 partitions without a commit)."
    found = read([resting, even()])
    assert f"Lag of resting is as shown if consumers start at the end {given}" in found.words
    assert f"No lag, if consumers start at the end {given}" in found.words
    assert "assumed for" not in read([resting | {"auto_offset_reset": "latest"}, even()]).words
    assert "balanced assignment has" not in found.words


def test_what_waits_where_nobody_reads_is_said_beside_the_table_and_in_the_group(read):
    offsets = [{"beginning": 0, "end": 50, "committed": 8}]
    topics = {"t": 4, "left": {"partitions": 1, "offsets": offsets}}
    page = read([even("leaving") | {"topics": topics}, even()])
    said = "1 partition that nobody reads (left) has a commit; 42 records wait there."
    assert page.words.count(said) == 2
    assert f"leaving: {said}" in page.words
    rows = page.table("Groups, worst first")
    assert [row["partitions"] for row in rows.values()] == ["4", "4"]


def test_a_group_without_owners_says_what_waits_and_its_limit_is_within_the_bars(read):
    shown = read([holding([1, 2, 3, 4, 5, 6], {"a": [0], "b": []}, group="torn")])
    said = "5 partitions have no owner: t-1, t-2, t-3 and 2 more; 20 records wait there"
    assert said in shown.words
    assert "What happens next" not in shown.words
    limits = [tag for _, tag in shown.tags if tag.get("class") == "limit"]
    assert limits
    assert all(float(tag["style"].removeprefix("left:").rstrip("%")) <= 100 for tag in limits)


def test_a_group_shows_its_hosts_and_names_those_that_are_uneven(page_of, read):
    for hosts, uneven in (("aabb", True), ("abab", False)):
        (detail,) = page_of([orders(UNEVEN, hosts)]).details
        assert ("hosts are uneven: " in detail.line.uneven_hosts) == uneven
        assert any("Hosts are uneven: a has 6" in said for said in detail.sentences) is uneven
    shown = read([orders(UNEVEN, "aabb")], commands=Asked(sources=["it"], group=None))
    command = "assay solve it --group g --objective 'balance > host_balance > moves'"
    assert f"could have 5 each. {command} prints that assignment." in shown.words
    rows = shown.table("Hosts of g")
    assert [*rows["a"].values()] == ["a", "6", "2", "c0 3, c1 3"]
    assert [*rows["b"].values()] == ["b", "4", "2", "c2 2, c3 2"]
    lopsided = {"c0": [0, 1, 2, 3, 4], "c1": [5, 6, 7], "c2": [8], "c3": [9]}
    rows = read([orders(lopsided, "aabb")]).table("Hosts of g")
    assert [row["partitions after the moves"] for row in rows.values()] == ["6", "4"]


@pytest.mark.parametrize(
    ("assignors", "then"),
    [
        (None, "the assignor of the group assigns again; the input does not tell which."),
        (["range"], "range assigns again: 2-3 partitions each, as the group is now."),
        (["uniform"], "the broker's uniform assigns again."),
    ],
)
def test_a_page_says_who_assigns_at_the_next_rebalance(page_of, assignors, then):
    listed = {} if assignors is None else {"assignors": assignors}
    group = holding(5, {"a": [0, 1, 2, 3], "b": [4]}, group="orders")
    for member in group["members"].values():
        member |= listed
    page = page_of([group], assignors=("range",))
    assert f"or a topic changes. Then {then}" in page.details[0].next


def test_a_page_says_that_the_broker_assigns_a_group_of_kip_848(page_of):
    groups = {one["group"]: one for one in (g.to_dict() for g in read_groups(ALL_GROUPS))}
    page = page_of([groups["static848-d"]])
    assert (
        "Then the broker assigns again (KIP-848); the input does not tell how."
        in page.details[0].next
    )


def test_members_with_ids_that_say_nothing_are_in_the_grid_of_moves_by_client_id(page_of):
    """A page with a group of KIP-848 that has several moves was an error inside."""
    owned = {"Xk3": [0, 1, 2, 3, 4, 5], "Yk4": [], "Zk5": []}
    group = holding(6, owned)
    for number, member in enumerate(group["members"].values()):
        member["client_id"] = f"pod-{number}"
    page = page_of([group])
    (detail,) = page.details
    assert (detail.grid.gives, detail.grid.gets) == (
        (("Xk3 (pod-0)", "pod-0"),),
        (("Yk4 (pod-1)", "pod-1"), ("Zk5 (pod-2)", "pod-2")),
    )
    assert "pod-0" in rendered(page)
