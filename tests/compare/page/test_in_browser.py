"""The page in Debian's Chromium: wide and narrow, light and dark."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from compare.page.html import rendered
from compare.samples.families import Family
from groups.errors import Failure
from tests.compare.conftest import CLOSING, HOSTILE, lopsided, snapshot

pytestmark = pytest.mark.browser

VIEWS = [(1280, "light"), (400, "dark")]
SERIOUS = ("serious", "critical")
MILLISECONDS = 10_000


@dataclass
class Visit:
    """An open page, its console messages, and the addresses that it requested."""

    page: object
    console: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def written(page_of, tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    lag = lopsided("behind")
    lag["topics"] = {"t0": 2, "t1": {"partitions": 3, "lag": [500, 7, 0]}}
    healthy = snapshot(
        "healthy",
        {"t": 2},
        {m: {"subscription": ["t"], "owned": {"t": [i]}} for i, m in enumerate("ab")},
    )
    failure = Failure("f", "noise.txt:3", "no group in it", None)
    benchmark = [Family(6, 4, 5, "random", "join-one").group(n) for n in range(3)]
    sizes = [(9, 9, 3), (20, 9, 3), *((size, 4, 3) for size in range(3, 22))]
    benchmark += [Family(*size).group(1) for size in sizes]
    large = Family(60, 10, 12, "random", "join-many").group(3)
    pages = {
        "several": page_of(
            [lag, healthy, lopsided(HOSTILE, CLOSING, "<!-- <script>"), large],
            unread=[failure],
            benchmark=benchmark,
            assignors=("range", "kip-54-sticky"),
        ),
        "nothing": page_of([], unread=[failure]),
        "many": page_of([*(lopsided(f"the-group-{n:03}") for n in range(300)), healthy]),
    }
    for name, page in pages.items():
        (folder / f"{name}.html").write_text(rendered(page), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in pages}


@pytest.fixture(scope="module")
def visit(chromium, written):
    """Give a function that opens a page by name; `address` is added to its URL."""
    contexts = []

    def opened(name: str, width: int = 1280, theme: str = "light", address: str = "") -> Visit:
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=theme, accept_downloads=True
        )
        context.set_default_timeout(MILLISECONDS)
        contexts.append(context)
        found = Visit(context.new_page())
        found.page.on("console", lambda message: found.console.append(message.text))
        found.page.on("pageerror", lambda error: found.console.append(str(error)))
        found.page.on("request", lambda request: found.asked.append(request.url))
        found.page.goto(written[name].as_uri() + address)
        return found

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="module", params=VIEWS, ids=[f"{w}-{theme}" for w, theme in VIEWS])
def several(request, visit) -> Visit:
    return visit("several", *request.param)


def test_a_page_that_errs_or_asks_for_something_would_be_noticed(chromium, tmp_path):
    (tmp_path / "asks.html").write_text("<img src='x.png'><script>undefined.x</script>")
    page = chromium.new_page()
    said, asked = [], []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "asks.html").as_uri())
    assert any("undefined" in line for line in said)
    assert len(asked) == 2
    page.close()


def test_a_page_opens_without_a_message_and_asks_for_nothing_but_itself(several):
    assert several.console == []
    assert len(several.asked) == 1


def test_nothing_is_wider_than_the_screen(several):
    page = several.page
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    outside = page.evaluate(
        """[...document.querySelectorAll('main *, header *')].filter((one) => {
             const box = one.getBoundingClientRect();
             return box.width && !one.closest('.scroll') && box.right > innerWidth + 1;
           }).map((one) => one.outerHTML.slice(0, 90))"""
    )
    assert outside == []


def test_a_table_of_groups_needs_no_scrolling_sideways(several):
    cut = several.page.evaluate(
        """(() => {
             const room = document.querySelector('#table').closest('.scroll');
             const right = room.getBoundingClientRect().right;
             return [...document.querySelectorAll('#table tr > *')]
               .filter((one) => one.getBoundingClientRect().right > right + 1)
               .map((one) => one.outerHTML.slice(0, 90));
           })()"""
    )
    assert cut == []


def test_what_to_do_stands_on_the_first_screen_and_before_the_table(several):
    page = several.page
    (what, table) = (page.locator(one).bounding_box() for one in (".to-do", "#table"))
    assert what["y"] + what["height"] < min(844, table["y"])
    assert page.locator(".to-do li").count() == 3


def test_a_verdict_of_few_words_stands_in_one_line(several):
    says = several.page.locator("#table td.says", has_text="as good as can be")
    assert says.count() >= 1
    for box in (says.nth(i).bounding_box() for i in range(says.count())):
        assert box["height"] < 45


def test_every_figure_is_drawn(several):
    empty = several.page.evaluate(
        """[...document.querySelectorAll('.chosen .bars, .drawn, .chosen .strip, #table .strip')]
             .filter((one) => {
               const box = one.getBoundingClientRect();
               return box.width < 5 || box.height < 5 || !one.querySelector('path, i');
             }).map((one) => one.outerHTML.slice(0, 120))"""
    )
    assert empty == []
    for figure, least in ((".chosen .bars", 1), ("svg.drawn", 4), ("#table .strip", 4)):
        assert several.page.locator(figure).count() >= least


def test_axe_finds_no_serious_fault(several):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(several.page).response["violations"]
    serious = [
        (one["id"], node["html"][:120])
        for one in found
        if one["impact"] in SERIOUS
        for node in one["nodes"][:3]
    ]
    assert serious == []


def test_no_name_became_part_of_the_page(several):
    page = several.page
    assert page.locator("b", has_text="bold").count() == 0
    assert page.locator("#table a", has_text=HOSTILE).count() == 1


def opens(page, name: str) -> None:
    """Wait until the group `name` is open: the browser follows a link after the click returns."""
    page.locator("article:visible h2", has_text=re.compile(rf"^{re.escape(name)}")).wait_for()
    assert page.locator("article:visible h2").count() == 1


def shown(page) -> list[str]:
    return page.locator("#table tbody tr:visible th[scope=row]").all_inner_texts()


def test_filters_change_what_is_shown(visit):
    page = visit("many").page
    every = shown(page)
    page.get_by_label("Name").fill("OUP-25")
    assert len(shown(page)) == 10
    assert page.get_by_role("status").inner_text() == f"10 of {len(every)} lines"
    page.get_by_label("Name").fill("")
    page.get_by_label("Verdict").select_option("as good as can be")
    assert shown(page) == ["healthy"]
    page.get_by_label("Verdict").select_option("")
    assert shown(page) == every


def test_sorting_says_which_way_and_brings_the_first_order_back(visit):
    page = visit("several").page
    before = shown(page)
    moves = page.get_by_role("button", name="partitions to move", exact=True)
    head = page.locator("#table thead th", has=moves)
    for way in ("descending", "ascending"):
        moves.click()
        assert head.get_attribute("aria-sort") == way
        cells = page.locator("#table tbody tr:visible").evaluate_all(
            "(rows) => rows.map((row) => Number(row.cells[5]?.textContent)).filter((n) => n >= 0)"
        )
        assert cells == sorted(cells, reverse=way == "descending")
    page.get_by_role("button", name="verdict", exact=True).click()
    assert shown(page) == before
    assert page.locator("[aria-sort]").count() == 1


def test_the_worst_group_is_open_and_any_other_is_one_click_or_key_away(visit):
    page = visit("several").page
    opens(page, shown(page)[0])
    page.locator("#table a", has_text="healthy").click()
    opens(page, "healthy")
    assert page.evaluate("document.activeElement.tagName") == "ARTICLE"
    page.get_by_label("Group", exact=True).select_option(label="▲ behind")
    opens(page, "behind")
    page.go_back()
    opens(page, "healthy")


def test_the_keyboard_alone_sorts_and_opens_a_group(visit):
    page = visit("several").page
    page.get_by_role("button", name="group", exact=True).press("Enter")
    assert page.locator("#table thead th").first.get_attribute("aria-sort") == "ascending"
    page.locator("#table a", has_text="healthy").press("Enter")
    opens(page, "healthy")


def test_the_data_of_each_figure_can_be_saved_and_is_no_request(visit, tmp_path):
    found = visit("several")
    page = found.page
    buttons = page.locator("button.save:visible")
    names = []
    for number in range(buttons.count()):
        with page.expect_download() as saving:
            buttons.nth(number).click()
        names.append(saving.value.suggested_filename)
        saving.value.save_as(tmp_path / names[-1])
        assert (tmp_path / names[-1]).stat().st_size > 20
    assert {"groups.csv", "assignors.csv", "benchmark.csv"} <= set(names)
    assert all(address.startswith(("file:", "blob:")) for address in found.asked)


def test_a_group_that_is_packed_opens_by_its_address(visit):
    page = visit("many", address="#group-250").page
    page.locator("article:visible h2").wait_for()
    assert len(shown(page)) == 301
    opens(page, shown(page)[249])


def test_data_that_are_packed_can_be_saved(visit, tmp_path):
    page = visit("many").page
    with page.expect_download() as saving:
        page.get_by_role("button", name="all groups").click()
    saving.value.save_as(tmp_path / "groups.csv")
    assert len((tmp_path / "groups.csv").read_text().splitlines()) == 302


def test_a_page_of_nothing_opens_without_a_message(visit):
    found = visit("nothing", 400)
    assert found.console == []
    assert found.page.get_by_text("Nothing was solved: no input is a group.").count() == 1


def test_print_has_the_groups_and_one_group_and_not_the_rest(visit):
    page = visit("several").page
    page.emulate_media(media="print")
    for part, there in (("#groups", True), ("article.chosen", True), ("#assignors", False)):
        assert page.locator(part).is_visible() == there
    assert page.locator(".filters").is_hidden()
