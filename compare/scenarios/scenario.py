"""Scenario: a group and a sequence of events, with all random draws already made."""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np

from compare.members import ids_meant
from compare.scenarios.course import NOW, START, held_now
from compare.scenarios.events import JOINS, happen
from compare.scenarios.upgrade_paths import ROLLOUTS
from groups import Group
from groups.arguments import taking
from groups.documents import fields
from groups.documents.json_files import parse_json
from groups.documents.texts import decode, named, read_bytes
from groups.errors import BadInput, require_one_of
from groups.files import read_group
from groups.unknown import settled
from groups.wording import RANDOM_ID

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.scenarios.events import StageDocument
    from groups.documents.assay_group import JsonObject

# The UUID that a consumer appends to its client id when it joins.
_ADDED = re.compile(r"-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


FORMAT = "assay-scenario/1"
MOST_REBALANCES = 10_000
_KEYS = {"format", "name", "seed", "group", "events", "rollout"}


@dataclass(frozen=True)
class Stage:
    """The group before one rebalance, without who owns what.

    Attributes
    ----------
    event : what happened since the rebalance before. For the first stage it is "now" if members
        begin with what they hold, else "start": each assignor begins with its own assignment
    document : ``assay-group/1``; only that of the first stage says who owns what
    """

    event: str
    document: StageDocument


@dataclass(frozen=True)
class Scenario:
    """A group and the events that happen to it.

    Attributes
    ----------
    stages : the given group, then one stage for each rebalance
    rollout : name of the rolling upgrade of KIP-726 to play instead of events, or None
    """

    name: str
    stages: tuple[Stage, ...]
    rollout: str | None = None

    @staticmethod
    @taking
    def read(
        path: str | Path, *, data: bytes | None = None, assume_equal: bool = False
    ) -> Scenario:
        """Read an ``assay-scenario/1`` file; paths in it start from its folder.

        Parameters
        ----------
        data : the file's content, if it has been read already

        Raises
        ------
        BadInput
            If the file is not one valid scenario; the message names the place.
        """
        name = named(str(path))
        folder = Path() if str(path) == "-" else Path(path).parent
        data = read_bytes(path) if data is None else data
        try:
            document = parse_json(decode(data))
            return Scenario.from_dict(document, folder=folder, assume_equal=assume_equal)
        except BadInput as error:
            raise error.within(name) from None

    @staticmethod
    @taking
    def from_dict(
        document: object, *, folder: Path | None = None, assume_equal: bool = False
    ) -> Scenario:
        """Build the scenario of an ``assay-scenario/1`` document; every draw is made here.

        Parameters
        ----------
        folder : the folder that a group's path is relative to
        assume_equal : take unknown subscriptions as all topics of the group

        Raises
        ------
        BadInput
            If the document breaks a rule of the format, or an event does not fit the group.
        """
        top = fields.mapping(document, "", allowed=_KEYS, required=("format", "name", "group"))
        if top["format"] != FORMAT:
            fields.refuse("format", f"{fields.shown(top['format'])}, expected {FORMAT!r}")
        name = fields.name(top["name"], "name")
        seed = fields.integer(top.get("seed", 1), "seed")
        rollout = None if top.get("rollout") is None else fields.name(top["rollout"], "rollout")
        if (rollout is None) == ("events" not in top):
            fields.refuse("", "expected either events or a rollout")
        if rollout is not None:
            require_one_of("rollout", rollout, ROLLOUTS)
        group = _group(top["group"], folder or Path())
        if assume_equal:
            group = group.with_equal_subscriptions()
        _require_consumers(group)
        group.require_subscriptions()
        now, rng = _start(group), np.random.default_rng(seed)
        stages = [Stage(START if held_now(group) is None else NOW, now)]
        claims = ("owned", "generation")
        members = {
            member: {key: value for key, value in details.items() if key not in claims}
            for member, details in now["members"].items()
        }
        now = {**now, "members": members}
        for i, given in enumerate(fields.listed(top.get("events", []), "events")):
            now, said, times = happen(given, f"events[{i}]", now, rng)
            if len(stages) + times > MOST_REBALANCES:
                fields.refuse(f"events[{i}]", f"more than {MOST_REBALANCES} rebalances")
            stages += [Stage(said, now)] * times
        return Scenario(name, tuple(stages), rollout)

    @staticmethod
    @taking
    def of_group(
        group: Group,
        *,
        seed: int = 1,
        restarts: int = 0,
        joins: int = 0,
        leaves: int | Sequence[str] = 0,
        rollout: str | None = None,
    ) -> Scenario:
        """Return rolling restarts of all members, then joins, then leaves; or a rolling upgrade.

        In a rolling restart one member after another leaves and joins again. It then holds nothing
        and, if its id is a UUID, alone as in KIP-848 or after its client id, it has another one.

        Parameters
        ----------
        seed : for the UUIDs and all other random draws
        restarts : number of rolling restarts, as of a nightly rotation or a deployment
        joins : number of new members; each reads what a member drawn at random reads
        leaves : number of members to draw at random, or the ids, client ids or globs of members

        Raises
        ------
        BadInput
            If a subscription is unknown, more members are to leave than there are, a name matches
            no member or one named before, or the group is of Kafka Streams.
        """
        group = settled(group)
        _require_consumers(group)
        document, rng = group.to_dict(), np.random.default_rng(seed)
        scenario = {"format": FORMAT, "name": group.name, "seed": seed, "group": document}
        if rollout is not None:
            return Scenario.from_dict({**scenario, "rollout": rollout})
        events: list[JsonObject] = []
        ids = {member: member for member in group.members}
        for _ in range(restarts):
            for member, details in document["members"].items():
                new_id = _restarted(ids[member], UUID(bytes=rng.bytes(16), version=4))
                joins_again = {key: value for key, value in details.items() if key in JOINS}
                events += [{"leave": [ids[member]]}, {"join": {new_id: joins_again}}]
                ids[member] = new_id
        events += [{"join": joins}] if joins else []
        if leaves:
            named = () if isinstance(leaves, int) else ids_meant(group, leaves, "leaves")
            events += [{"leave": [ids[member] for member in named] or leaves}]
        return Scenario.from_dict({**scenario, "events": events})

    @property
    def group(self) -> Group:
        """The given group."""
        return Group.from_dict(self.stages[0].document)


def _restarted(member: str, uuid: UUID) -> str:
    """Return the id of a member after a restart: it has this UUID if it had one."""
    if RANDOM_ID.fullmatch(member):
        return urlsafe_b64encode(uuid.bytes).decode().rstrip("=")
    return _ADDED.sub(f"-{uuid}", member)


def _require_consumers(group: Group) -> None:
    if group.of_streams:
        raise BadInput(
            f"group {group.name!r} is of Kafka Streams, and scenarios are for consumers"
        )


def _group(given: object, folder: Path) -> Group:
    try:
        if isinstance(given, str):
            return read_group(str(folder / fields.name(given, "")))
        return Group.from_dict(fields.mapping(given, ""))
    except BadInput as error:
        raise error.within("group") from None


def _start(group: Group) -> StageDocument:
    """Return the group's document with topics as objects, and with lags instead of offsets."""
    document = group.to_dict()
    topics: dict[str, JsonObject] = {}
    lag = None if group.lag_records is None else group.lag_records.tolist()
    for i, topic in enumerate(group.topics):
        given = document["topics"][topic]
        details: JsonObject = {"partitions": given} if isinstance(given, int) else given
        if "offsets" in details and lag is not None:
            del details["offsets"]
            part = lag[group.first[i] : group.first[i + 1]]
            details["lag"] = [None if records < 0 else records for records in part]
        topics[topic] = details
    return {**document, "topics": topics}
