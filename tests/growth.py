"""Growth that is counted: how many calls a piece of work takes, whatever the machine."""

import sys


def calls(work, *arguments):
    """Return how many functions, of Python and of C, are called while some work is done."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work(*arguments)
    finally:
        sys.setprofile(before)
    return count
