"""What sarama's own code does, with a line printed for each move.

The module is copied, and three statements are put into the copy that print: what the code is about
to move, how many partitions each member has, and what it moves. Nothing else is changed.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from groups import Failed
from heuristics.shipped.consumers.go_driver import go
from heuristics.shipped.consumers.library import SARAMA, as_joined
from studies.loops.turn import RECORDED, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from groups import Group

FILE = "balance_strategy.go"
SAID = "assay-turn"
# Each line of the module's, once in the file, and what is put in after it.
PUT_IN = {
    "partitionToBeMoved := s.movements.getTheActualPartitionToBeMoved("
    "partition, consumer, newConsumer)": f'println("{SAID}", "asked", partition.Topic, '
    "partition.Partition, consumer, newConsumer)",
    "oldConsumer := currentPartitionConsumer[partition]\n"
    "\ts.movements.movePartition(partition, oldConsumer, newConsumer)": "for member, held := "
    f'range currentAssignment {{ println("{SAID}", "load", member, len(held)) }}\n'
    f'\tprintln("{SAID}", "moved", partition.Topic, partition.Partition, oldConsumer)',
}


def recorded(assignor: str, group: Group) -> list[Turn]:
    """Return the turns of one of sarama's sticky assignors on a group, at most `RECORDED`.

    Raises
    ------
    BadInput
        Where there is no Go, or not the version that the driver is recorded for.
    Failed
        Where the client's file has another wording.
    """
    with TemporaryDirectory() as name:
        program = _built(Path(name), assignor.partition("@")[2])
        kind = assignor.partition("/")[2].partition("@")[0]
        with subprocess.Popen(
            [program], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as called:
            assert called.stdin is not None
            assert called.stderr is not None
            try:
                called.stdin.write(json.dumps({"assignor": kind, **as_joined(group)}))
                called.stdin.flush()
                lines = (line.split() for line in called.stderr if line.startswith(SAID))
                return [turn for turn, _ in zip(_turns(lines), range(RECORDED), strict=False)]
            finally:
                called.kill()


def _turns(lines: Iterator[list[str]]) -> Iterator[Turn]:
    loads: dict[str, int] = {}
    asked = ("", "", "")
    for _, what, *words in lines:
        if what == "load":
            loads[words[0]] = int(words[1])
        elif what == "asked":
            asked = (f"{words[0]}-{words[1]}", words[2], words[3])
        else:
            yield Turn(*asked, f"{words[0]}-{words[1]}", words[2], dict(sorted(loads.items())))


def _built(folder: Path, version: str) -> Path:
    SARAMA.driver.take_recorded(version, folder)
    for source in SARAMA.driver.sources:
        shutil.copy(source, folder)
    module = Path(go(folder, "list", "-m", "-f", "{{.Dir}}", SARAMA.driver.module).strip())
    copy = folder / "sarama"
    shutil.copytree(module, copy, copy_function=shutil.copyfile)
    copy.chmod(0o755)
    text = (copy / FILE).read_text("utf-8")
    for line, more in PUT_IN.items():
        if text.count(line) != 1:
            raise Failed(f"sarama {version}: {FILE} has another wording")
        text = text.replace(line, f"{line}\n\t{more}")
    (copy / FILE).write_text(text, "utf-8")
    go(folder, "mod", "edit", f"-replace={SARAMA.driver.module}=./sarama")
    go(folder, "build", "-o", "called", ".")
    return folder / "called"
