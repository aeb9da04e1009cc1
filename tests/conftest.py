"""What holds for every test: no way out of this machine, and in CI no skip for want of set-up."""

import ipaddress
import os
import re
import sys

import pytest

REFUSED: list[str] = []
# What set-up cannot bring, as reasons of skips begin.
NOT_BROUGHT = re.compile(r"no Go toolchain|no Node on the PATH|no browser here|no Java for Spark")


class NotLoopback(OSError):
    """A connection that would leave this machine; what must fetch does so in a child process."""


def is_loopback(host: object) -> bool:
    if host is None or host in ("", "localhost"):
        return True
    text = host.decode() if isinstance(host, bytes) else str(host)
    try:
        return ipaddress.ip_address(text.partition("%")[0]).is_loopback
    except ValueError:
        return False


def refuse_what_leaves_this_machine(event: str, arguments: tuple) -> None:
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


sys.addaudithook(refuse_what_leaves_this_machine)


@pytest.fixture(autouse=True)
def refused():
    """What was refused so far; a test that leaves something in it has failed."""
    yield REFUSED
    found, REFUSED[:] = [*REFUSED], []
    assert found == []


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Let the tests of a file, and those that look at one run of Spark, share their fixtures."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            name = "spark" if "spark_runs" in item.fixturenames else item.location[0]
            item.add_marker(pytest.mark.xdist_group(name))


def no_skip_in_ci(report):
    if report.skipped and os.environ.get("CI", "").lower() == "true":
        reason = str(report.longrepr[2]).removeprefix("Skipped: ")
        if not NOT_BROUGHT.search(reason):
            report.outcome = "failed"
            report.longrepr = f"CI=true, and set-up should have brought it: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    return no_skip_in_ci((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    return no_skip_in_ci((yield))
