import json
import socket
import time
from urllib.parse import urlsplit

import pytest

from assay.commands.watch import Watched
from assay.metrics import GAUGES, Metrics, serving
from compare.verdict import SHOWN
from groups.documents.assay_group import of_mapping
from groups.errors import Failure
from groups.importers import Imported, import_each
from groups.importers.seen import absent, rebalancing
from live.capture import Captured
from live.watch import Look
from tests.assay.calling import ALL_GROUPS, EVEN, LATE, LOPSIDED, assay, one_line, write
from tests.assay.scraping import Scraped
from tests.compare.conftest import holding
from tests.live.connection.listening import closed_port

AT, LATER = "2026-11-20T10:00:00Z", "2026-11-20T10:00:30Z"
SECONDS = 1795168800.0
# Three partitions each; after an exchange a has a lag of 700.
LAGGING = holding([600, 300, 200, 100, 60, 40], {"a": [0, 1, 2], "b": [3, 4, 5]}, group="lagging")
# t1-1 and t1-2 have no owner, though c0 and c1 read them.
LEFT = LOPSIDED | {
    "group": "left",
    "members": {
        "c0": {"subscription": ["t0", "t1"], "owned": {"t0": [0, 1]}},
        "c1": {"subscription": ["t1"], "owned": {"t1": [0]}},
    },
}


def documents(*given) -> tuple[Imported, ...]:
    return tuple(Imported(of_mapping({"captured_at": AT} | one), ("there",)) for one in given)


def looked(*found: Imported, failures=(), at=AT, is_partial=False) -> Look:
    return Look(at, Captured(found, tuple(failures), is_partial))


def why_not(reason: str, group: str | None, *, not_to_be_had: bool = False) -> Failure:
    return Failure("there", "there", reason, group, not_to_be_had)


@pytest.fixture(scope="module")
def served():
    """Metrics and the URL that serves them; one server, as it takes half a second to stop."""
    page = Metrics()
    with serving("127.0.0.1:0", page) as url:
        yield page, url


@pytest.fixture
def url(served):
    return served[1]


@pytest.fixture
def watched(served):
    """A watch without a cluster, to which tests give looks; its metrics are empty."""
    page = served[0]
    vars(page).update(vars(Metrics()))
    return Watched(("balance", "stickiness"), None, page, quiet=True)


def test_a_scrape_has_what_score_says_of_each_group(tmp_path, watched, url):
    found, failures = import_each([("captured", ALL_GROUPS.read_bytes())])
    assert (len(found), failures) == (11, [])
    found = [*documents(LOPSIDED, EVEN, LATE, LAGGING, LEFT), *found]
    lines = write(tmp_path, {"groups.jsonl": [one.document for one in found]})
    run = assay("score", lines / "groups.jsonl", "--format", "json")
    watched.take_in(looked(*found))
    scraped, seen = Scraped(url), set()
    for line in run.stdout.splitlines():
        told = json.loads(line)
        at, lag, says = (told["group"],), told["lag"] or {}, told["verdict"]["shown"]
        now = [row["terms"][0]["value"] for row in told["scores"] if row["valid"]]
        best = [term for term in told["optimum"]["terms"] if term["name"] == "balance"]
        could, plan = lag.get("could_fall"), told["plan"]
        for name, value in {
            "balance": now[0] if now else None,
            "balance_best": best[0]["value"] if best else None,
            "balance_best_proved": best[0]["value"] == best[0]["bound"] if best else None,
            "moves": len(plan) if plan else 0 if says == "as good as can be" else None,
            "peak_lag_records": lag.get("peak"),
            "peak_lag_after_moves_records": could and could["to"],
            "peak_lag_least_records": None if says == "not valid" else lag.get("lowest"),
        }.items():
            assert scraped[f"assay_group_{name}"].get(at) == value, (at, name)
        states = scraped["assay_group_verdict"]
        # For a running cluster it is known whether a group is rebalancing: no verdict is a maybe.
        sure = says.removeprefix("maybe ")
        assert {key[1] for key, on in states.items() if key[:1] == at and on} == {sure}
        seen.add(says)
    assert seen > {"improvable", "not valid", "even, lag could fall", "as good as can be"}
    assert len(states) == len(found) * len(SHOWN)


def test_what_is_not_known_of_a_group_has_no_sample(watched, url):
    """Where one lag is unknown, so is every sum with it."""
    partly = holding([600, None], {"a": [0], "b": [1]}, group="partly")
    moving = holding(4, {"a": [0, 1, 2], "b": [3]}, group="moving")
    for member, target in (("a", [0, 1]), ("b", [2, 3])):
        moving["members"][member]["target"] = {"t": target}
    watched.take_in(looked(*documents(EVEN, LEFT, LATE, partly, moving)))
    scraped = Scraped(url)
    for name in (name for name in scraped if "_lag_" in name):
        assert scraped[name].keys() == {("late",)}, name
    assert scraped["assay_group_lag_records"] == {("late",): 1300}
    assert scraped["assay_group_peak_lag_records"] == {("late",): 1200}
    known = {("even",): 0, ("late",): 0, ("partly",): 0, ("moving",): 0}
    assert scraped["assay_group_balance"] == known | {("late",): 2}
    assert scraped["assay_group_partitions_without_owner"] == known | {("left",): 2}
    assert scraped["assay_group_rebalancing"] == known | {("left",): 0, ("moving",): 1}
    assert ("left",) not in scraped["assay_group_moves"]


def test_a_group_that_is_gone_has_no_series_and_one_that_is_missed_has_no_values(watched, url):
    moving = why_not(rebalancing("late"), "late", not_to_be_had=True)
    watched.take_in(looked(*documents(EVEN, LATE)))
    assert Scraped(url).groups() == {"even", "late"}
    watched.take_in(looked(failures=[moving], at=LATER))
    missed = Scraped(url)
    assert missed.groups() == {"late"}
    assert {name for name, of in missed.items() if ("late",) in of} == {
        "assay_group_captured_timestamp_seconds"
    }
    assert missed["assay_group_captured_timestamp_seconds"] == {("late",): SECONDS}
    assert missed["assay_last_capture_timestamp_seconds"] == {(): SECONDS + 30}
    watched.take_in(looked(*documents(LATE)))
    again = Scraped(url)
    assert again["assay_group_failures_total"] == {("late", "rebalancing"): 1}
    assert again["assay_group_peak_lag_records"] == {("late",): 1200}
    silent = why_not("broker 3: no answer: groups there are not listed", None)
    watched.take_in(looked(failures=[silent], is_partial=True))
    assert Scraped(url).groups() == {"late", ""}
    watched.take_in(looked())
    assert Scraped(url).groups() == {""}


def test_failures_are_counted_by_reason_and_those_of_no_group_without_a_name(watched, url):
    failures = [
        why_not(absent("none"), "none", not_to_be_had=True),
        why_not("you may not describe group 'secret'", "secret"),
        why_not("broker 3: no answer: groups there are not listed", None),
    ]
    watched.tiers = ("peak_lag",)
    for _ in range(2):
        watched.take_in(looked(*documents(EVEN, LATE), failures=failures, is_partial=True))
    # That no group matches a pattern is its state: every broker listed its groups.
    unmatched = why_not("no group matches 'x*'", None)
    watched.take_in(looked(*documents(EVEN, LATE), failures=[unmatched]))
    scraped = Scraped(url)
    assert scraped["assay_group_failures_total"] == {
        ("", "state"): 1,
        ("", "error"): 2,
        ("even", "judgement"): 3,
    }
    assert scraped["assay_group_members"] == {("late",): 2}
    assert "assay_group_balance_best" not in scraped


def test_while_the_cluster_is_away_groups_have_the_time_of_their_capture_alone(watched, url):
    before = Scraped(url)
    assert before["assay_captures_total"] == {(): 0}
    assert "assay_last_capture_timestamp_seconds" not in before
    watched.take_in(looked(*documents(EVEN)))
    watched.missed_all()
    away = Scraped(url)
    assert away["assay_captures_total"] == {(): 2}
    assert away["assay_capture_failures_total"] == {(): 1}
    assert away["assay_last_capture_timestamp_seconds"] == {(): SECONDS}
    of_groups = [name for name in away if "_group_" in name]
    assert of_groups == ["assay_group_captured_timestamp_seconds"]
    watched.take_in(looked(*documents(EVEN), at=LATER))
    back = Scraped(url)
    assert back["assay_group_members"] == {("even",): 2}
    assert back["assay_judgement_seconds_count"] == {(): 2}
    assert back["assay_judgement_seconds_sum"][()] > 0


def test_a_group_may_have_any_name_and_a_scrape_may_ask_for_some_metrics(watched, url):
    name = 'a"b\\c\n{d="e"}'
    watched.take_in(looked(*documents(EVEN | {"group": name})))
    assert Scraped(url).groups() == {name}
    only = Scraped(f"{url}?name[]=assay_group_members&name[]=assay_captures_total")
    assert only == {"assay_group_members": {(name,): 2}, "assay_captures_total": {(): 1}}


def test_a_connection_that_says_nothing_keeps_neither_a_scrape_nor_the_end_waiting():
    started = time.monotonic()
    with serving("127.0.0.1:0", Metrics()) as url:
        port = urlsplit(url).port
        silent = socket.create_connection(("127.0.0.1", port))
        assert Scraped(url)["assay_captures_total"] == {(): 0}
    assert time.monotonic() - started < 5
    with silent, serving(f"127.0.0.1:{port}", Metrics()) as again:
        assert again == url


def test_names_are_as_prometheus_wants_them(watched, url):
    kinds = Scraped(url).kinds
    assert kinds.keys() > {one.name for one in GAUGES}
    for name, kind in kinds.items():
        assert name.startswith("assay_")
        assert (kind == "counter") == name.endswith(("captures", "failures"))


def test_an_address_that_is_none_or_taken_is_one_line():
    at = ("watch", "--bootstrap-server", closed_port(), "--metrics")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        said = one_line(assay(*at, address), 2)
    assert said == f"--metrics {address}: nothing can listen there: Address already in use"
    said = one_line(assay(*at, "a..b:9400"), 2)
    assert said.startswith("--metrics a..b:9400: nothing can listen there: ")
    for address in ("9400", ":", "host", ":65536", "::1:9400", ":-1", "http://a:1", ":9400/x"):
        said = one_line(assay(*at, address), 2)
        assert said == f"--metrics {address}: expected HOST:PORT or :PORT, as in :9400"


def test_a_watch_needs_a_folder_or_an_address_and_keeps_captures_in_a_folder_only():
    at = ("watch", "--bootstrap-server", closed_port())
    assert one_line(assay(*at), 2) == "Missing option '-o', or --metrics"
    said = one_line(assay(*at, "--metrics", "127.0.0.1:0", "--keep", 3), 2)
    assert said == "--keep: it is about the folder of captures; add -o DIR"
