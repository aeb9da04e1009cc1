"""Run a real Kafka Streams application, and write down what the console tool prints of it.

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
        for end, said in (("txt", done.stdout), ("err.txt", done.stderr)):
            if said.strip():
                (folder / f"{name}.{end}").write_text(said)

    def wait(members, state):
        """Wait until there are so many members in a state, and return what said so."""
        for _ in range(100):
            said = described("--group", "shop", "--state").stdout
            if re.search(rf"{state} +{members}$", said, re.MULTILINE):
                return said
        raise TimeoutError(f"{state} with {members}: {said}")

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
            # All is read and committed by then.
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
