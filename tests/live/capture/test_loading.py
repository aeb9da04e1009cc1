import subprocess
import sys

from tests.live.connection.listening import closed_port

CAPTURE = """
import sys
from groups import BadInput
from live.capture import capture
from live.connection import Connection

try:
    capture(Connection(sys.argv[1]))
except BadInput as reason:
    print(reason)
"""


def test_a_capture_brings_no_warning_of_its_client_to_whoever_makes_errors_of_them():
    command = [sys.executable, "-W", "error", "-c", CAPTURE, closed_port()]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.stderr == ""
    assert "connection refused" in run.stdout
