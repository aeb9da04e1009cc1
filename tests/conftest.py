"""Fixtures and rules for all tests: only loopback connections, and no avoidable skips in CI."""

import gc
import ipaddress
import os
import re
import shutil
import signal
import sys

import hypothesis
import pytest
from xdist.scheduler import LoadScopeScheduling

# Starting and warming up Spark takes longer than most of these tests.
SHARE_ONE_SESSION = (
    "tests/compare/fleet/test_run.py",
    "tests/compare/fleet/test_report.py",
    "tests/compare/fleet/test_ending.py",
    "tests/compare/fleet/test_summaries.py",
    "tests/compare/fleet/test_frames.py",
    "tests/compare/fleet/test_from_python.py",
    "tests/compare/fleet/test_guest.py",
    "tests/compare/fleet/test_harm.py",
    "tests/compare/fleet/test_stores.py",
    "tests/compare/fleet/test_pool.py::test_the_rows_are_those_of_spark",
)
SHARES_NOTHING = "tests/compare/promises/test_program.py"
LONGEST = (
    *SHARE_ONE_SESSION,
    "tests/optimal/test_agreement.py",
    "tests/compare/fleet/",
    "tests/assay/test_documentation.py",
    "tests/studies/",
    SHARES_NOTHING,
    "tests/compare/test_verdict.py",
    "tests/live/assignor/test_on_broker.py",
    "tests/broker/test_consumer.py",
    "tests/live/test_streams.py",
    "tests/live/test_groups.py",
    "tests/broker/test_optimal_assignor.py",
)
REFUSED: list[str] = []
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# The time that an example takes depends on the machine, so Hypothesis sets no deadline.
hypothesis.settings.register_profile("anywhere", deadline=None)
hypothesis.settings.load_profile("anywhere")
# Reasons of skips for what set-up cannot install; these skips are allowed in CI.
ALLOWED_SKIPS = re.compile(
    r"no Go toolchain|no Node on the PATH|no browser here|no Java for Spark"
    r"|no mount namespace here|no (go|cargo|g\+\+) on the PATH|nlohmann/json is not here"
    r"|serde_json cannot be fetched"
)


# Garbage collection, with a million objects, takes a quarter of the time of test collection.
gc.disable()
# A process that a shell starts in the background ignores SIGINT, and its children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


class NotLoopback(OSError):
    """A test tried to connect beyond loopback; only child processes may fetch from the network."""


def is_loopback(host: object) -> bool:
    if host is None or host in ("", "localhost"):
        return True
    text = host.decode() if isinstance(host, bytes) else str(host)
    try:
        return ipaddress.ip_address(text.partition("%")[0]).is_loopback
    except ValueError:
        return False


def refuse_beyond_loopback(event: str, arguments: tuple) -> None:
    if event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = arguments[0]
    else:
        return
    if not is_loopback(host):
        REFUSED.append(f"{event} {host}")
        raise NotLoopback(f"{host} is beyond loopback")


sys.addaudithook(refuse_beyond_loopback)


def pytest_configure(config):
    """Refuse paths that do not exist; with several processes pytest says only "no tests ran"."""
    absent = [path for path in config.args if not os.path.exists(path.partition("::")[0])]
    if absent:
        raise pytest.UsageError(f"not there: {', '.join(absent)}")


@pytest.fixture(scope="module")
def chromium():
    """Start Debian's Chromium, or another of `BROWSERS` that is installed."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip(f"no browser here, looked for {', '.join(BROWSERS)}")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(
            executable_path=browser, args=["--no-sandbox"], timeout=60_000
        )
        yield opened
        opened.close()


@pytest.fixture(autouse=True)
def refused():
    """Give the list of refused connections; a test fails if any are left in it at its end."""
    yield REFUSED
    left, REFUSED[:] = [*REFUSED], []
    assert left == []


def pytest_collection_modifyitems(items):
    """Run the files that take longest first, so that no core waits for one of them at the end."""

    def place(item):
        places = (n for n, start in enumerate(LONGEST) if item.nodeid.startswith(start))
        return next(places, len(LONGEST))

    items.sort(key=place)


def pytest_collection_finish():
    """Turn garbage collection on again, but leave out the collected tests: they stay alive."""
    gc.freeze()
    gc.enable()


class FileByFile(LoadScopeScheduling):
    """Gives each xdist process whole files, so that module fixtures are set up only once."""

    def _split_scope(self, nodeid):
        file = nodeid.partition("::")[0]
        if nodeid.startswith(SHARE_ONE_SESSION):
            return SHARE_ONE_SESSION[0]
        return nodeid if file == SHARES_NOTHING else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return FileByFile(config, log)


def no_skip_in_ci(report):
    if report.skipped and os.environ.get("CI", "").lower() == "true":
        reason = str(report.longrepr[2]).removeprefix("Skipped: ")
        if not ALLOWED_SKIPS.search(reason):
            report.outcome = "failed"
            report.longrepr = f"CI=true, and set-up should have brought it: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    return no_skip_in_ci((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    return no_skip_in_ci((yield))


@pytest.fixture(scope="session")
def broker():
    """Share one broker among all tests of a process; each test names its own topics and groups."""
    from broker import Broker
    from groups import BadInput

    try:
        started = Broker.start()
    except BadInput as reason:
        pytest.skip(str(reason))
    with started:
        yield started


@pytest.fixture(scope="module")
def limit():
    """Share one process for each assignor among the tests of a file; a call may take a minute."""
    from heuristics.time_limit import TimeLimit
    from tests.clients import keeping_processes

    with keeping_processes(), TimeLimit(60) as shared:
        yield shared
