"""Run a real Kafka Streams application, and record what Kafka's console tool prints about it.

``python -m tests.groups.record_streams VERSION`` rewrites the captures of that release.
"""

import re
import sys
import time
from pathlib import Path

from broker import Broker
from broker.streams import StreamsProcess

CAPTURES = Path(__file__).with_name("captures")
VIEWS = {
    "describe": (),
    "describe-verbose": ("--verbose",),
    "members": ("--members",),
    "members-verbose": ("--members", "--verbose"),
    "state": ("--state",),
    "state-verbose": ("--state", "--verbose"),
    "offsets": ("--offsets",),
    "offsets-verbose": ("--offsets", "--verbose"),
}


def main(version):
    folder = CAPTURES / f"streams-{version}"
    folder.mkdir(exist_ok=True)

    def described(*asked):
        return broker.tool("streams-groups", "--describe", *asked)

    def keep(name, *asked):
        done = described(*asked)
        for suffix, output in (("txt", done.stdout), ("err.txt", done.stderr)):
            if output.strip():
                (folder / f"{name}.{suffix}").write_text(output)

    def wait(members, state):
        """Wait until the group has a state and so many members; return the tool's output."""
        for _ in range(100):
            output = described("--group", "shop", "--state").stdout
            if re.search(rf"{state} +{members}$", output, re.MULTILINE):
                return output
        raise TimeoutError(f"{state} with {members}: {output}")

    with Broker.start(version) as broker:
        broker.create_topic("orders", 6)
        broker.produce("orders", {number: 10 * (number + 1) for number in range(6)})
        setting = ("--add-config", "streams.num.standby.replicas=1")
        broker.tool(
            "configs", "--alter", "--entity-type", "groups", "--entity-name", "shop", *setting
        )

        def process(group="shop", **options):
            return StreamsProcess(broker.bootstrap, group, version=version, **options)

        with process() as one, process() as two:
            wait(4, "Stable")
            # By then the application has read and committed everything.
            time.sleep(5)
            for name, view in VIEWS.items():
                keep(f"shop-{name}", "--group", "shop", *view)
            with process("till", threads=11):
                time.sleep(15)
                keep("two-groups-members", "--all-groups", "--members")
                keep("two-groups-members-verbose", "--all-groups", "--members", "--verbose")
                keep("two-groups-state", "--all-groups", "--state")
            with process(threads=1):
                state = wait(5, "(NotReady|Assigning|Reconciling)")
                keep("rebalancing-members-verbose", "--group", "shop", "--members", "--verbose")
                (folder / "rebalancing-state.txt").write_text(state)
                wait(5, "Stable")
                keep("five-members-verbose", "--group", "shop", "--members", "--verbose")
            one.stop()
            two.stop()
        wait(0, "Empty")
        for name in ("describe", "members-verbose", "state"):
            keep(f"empty-{name}", "--group", "shop", *VIEWS[name])
        keep("nosuch-describe", "--group", "nosuch")


if __name__ == "__main__":
    main(sys.argv[1])
