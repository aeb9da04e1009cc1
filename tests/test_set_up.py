"""What the suite needs from its machine, and what it does when it is not there."""

import os
import re
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

CONFTEST = Path(__file__).with_name("conftest.py")
SKIPS = """
import pytest

@pytest.mark.skipif(True, reason="not built: assay fetch franz-go@1.22.2")
def test_a(): ...

@pytest.mark.skipif(True, reason="no Go toolchain on the PATH: install Go")
def test_b(): ...

def test_c():
    pytest.skip("no browser here, looked for chromium")

def test_d():
    pytest.skip("the jars of kafka-clients 4.4.0 are not here")

def test_e(): ...
"""
SKIPPED_FILE = "import pytest\npytest.skip('the package is not here', allow_module_level=True)\n"


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1", "example.org", b"example.org"])
def test_a_connection_that_leaves_this_machine_is_refused_and_noted(refused, host):
    with pytest.raises(OSError, match="beyond loopback"):
        socket.create_connection((host, 9), timeout=1)
    assert len(refused) == 1
    refused.clear()


def test_a_refusal_in_another_thread_that_nobody_looks_at_is_noted_too(refused):
    def quiet():
        with pytest.raises(OSError, match="beyond loopback"):
            socket.gethostbyname("example.org")

    thread = threading.Thread(target=quiet)
    thread.start()
    thread.join()
    assert refused == ["socket.gethostbyname example.org"]
    refused.clear()


def test_loopback_is_open():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        for host in ("127.0.0.1", "localhost"):
            socket.create_connection((host, port), timeout=5).close()


def outcomes(folder: Path, ci: str) -> tuple[str, dict[str, int]]:
    (folder / "conftest.py").write_text(CONFTEST.read_text())
    (folder / "test_skips.py").write_text(SKIPS)
    (folder / "test_file.py").write_text(SKIPPED_FILE)
    without = ("-p", "no:cacheprovider", "-p", "no:nbmake")
    command = [sys.executable, "-m", "pytest", "-rfEs", *without]
    run = subprocess.run(
        [*command, "--continue-on-collection-errors", "--rootdir", folder, folder],
        capture_output=True,
        text=True,
        env=os.environ | {"CI": ci},
        check=False,
    )
    counts = re.findall(r"(\d+) (passed|skipped|errors?|failed)", run.stdout.splitlines()[-1])
    return run.stdout, {word.rstrip("s"): int(number) for number, word in counts}


def test_elsewhere_what_is_not_there_is_skipped_by_its_reason(tmp_path):
    said, counts = outcomes(tmp_path, "")
    assert counts == {"passed": 1, "skipped": 5}
    assert "not built: assay fetch franz-go@1.22.2" in said


def test_in_ci_only_what_set_up_cannot_bring_may_be_skipped(tmp_path):
    said, counts = outcomes(tmp_path, "true")
    brought = "CI=true, and set-up should have brought it"
    for reason in ("not built: assay fetch franz-go@1.22.2", "the package is not here"):
        assert f"{brought}: {reason}" in said
    assert "no Go toolchain" in said
    assert counts == {"passed": 1, "skipped": 2, "failed": 1, "error": 2}
