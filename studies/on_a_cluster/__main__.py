"""Play courses on a real broker: ``python -m studies.on_a_cluster [COURSE ...]``.

Each course that is named, all of them where none is, is played anew; the others stay as they were
measured.
"""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from broker import NEWEST
from studies.on_a_cluster.course import COURSES
from studies.on_a_cluster.effects import effects
from studies.on_a_cluster.play import play
from studies.on_a_cluster.stage import RATE, RELEASE

FORMAT = "assay-on-a-cluster/1"
DATA = Path("docs/findings/on-a-cluster.json")
PYTHON_CLIENTS = ("aiokafka", "confluent-kafka", "kafka-python")


def main(names: list[str]) -> int:
    """Play the courses of these names; return the exit code."""
    known = [course.name for course in COURSES]
    wrong = [name for name in names if name not in known]
    if wrong:
        sys.stderr.write(f"{wrong[0]}: not a course; there are {', '.join(map(repr, known))}\n")
        return 2
    for course in COURSES:
        if not names or course.name in names:
            sys.stderr.write(f"{course.name}: {course.told}\n")
            keep({course.name: {**effects(play(course, _say)), **_where()}})
    return 0


def keep(played: dict[str, dict[str, object]]) -> None:
    """Write what was measured of these courses, by name, beside the others."""
    # Read again each time: another course may have been played beside this one.
    told = json.loads(DATA.read_text(encoding="utf-8")) if DATA.is_file() else {"courses": []}
    found = {each["course"]: each for each in told["courses"]} | played
    courses = [found[course.name] for course in COURSES if course.name in found]
    document = {
        "format": FORMAT,
        "records_a_second_to_each_partition": RATE,
        "courses": courses,
    }
    DATA.write_text(f"{json.dumps(document, indent=1)}\n", encoding="utf-8")


def _where() -> dict[str, object]:
    """Return when and with what a course was played."""
    loaded = os.getloadavg()[0]
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "broker": NEWEST,
        "clients": {"java": RELEASE, **{name: version(name) for name in PYTHON_CLIENTS}},
        "processors": os.cpu_count(),
        "runnable": round(loaded, 1),
    }


def _say(line: str) -> None:
    sys.stderr.write(f"  {line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
