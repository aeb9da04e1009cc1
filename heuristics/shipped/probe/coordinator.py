"""Coordinator: answers a client so that it becomes the leader of one group after the other."""

from __future__ import annotations

import asyncio
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Protocol

from groups import Failed, Refused
from heuristics.shipped.probe import metadata, wire
from heuristics.shipped.probe.wire import Software

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from heuristics.shipped.probe.round import Round, Stopwatch
    from heuristics.shipped.probe.wire import Request


class HeldBack:
    """Requests whose answers are delayed, in the order of their arrival.

    Parameters
    ----------
    seconds : longest delay of an answer
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._held: list[tuple[object, Request, Callable[[], None]]] = []

    def add(self, peer: object, request: Request, answer: Callable[[], None]) -> None:
        """Delay the answer to a request; calling `answer` sends it."""
        self._held.append((peer, request, answer))
        asyncio.get_running_loop().call_later(self._seconds, partial(self.release, one=request))

    def forget(self, peer: object) -> None:
        """Drop the requests of a connection that has closed."""
        self._held = [held for held in self._held if held[0] is not peer]

    def release(
        self, *, of: object | None = None, one: Request | None = None, key: int | None = None
    ) -> None:
        """Answer the requests of one connection (`of`), one request, one API (`key`), or all."""
        held, self._held = self._held, []
        for peer, request, answer in held:
            if of in (None, peer) and one in (None, request) and key in (None, request.key):
                answer()
            else:
                self._held.append((peer, request, answer))


MOST_ATTEMPTS = 3
# After a plan made without metadata: how long a Metadata answer is delayed, to see whether the
# client waits for it; and how long the SyncGroup answer is, unless the client gets the metadata.
HOLD_SECONDS = 0.5


TOO_SOON = (
    "the client planned {} times before it had the metadata of the group's topics; one that deals "
    "out what it reads itself has to read what a member does"
)
NOBODY = {"leader": "", "member_id": "", "members": []}


class TooSoon(Refused):
    """The client made all its plans before it had the metadata of the group's topics."""


class Misread(Refused):
    """The client sent something that the probe cannot read, though a broker may."""


class Disconnected(Failed):
    """The client closed its connection before it sent a plan."""


class Peer(Protocol):
    """A client's connection, as the coordinator sees it."""

    received: float

    def reply(
        self,
        request: Request,
        fields: Mapping[str, object],
        sent: Callable[[], None] | None = None,
    ) -> None:
        """Send the answer to a request; `sent` is called when all of it has been written."""


class Coordinator:
    """Answers the requests that the leader of a group sends to a broker.

    All of it runs in one thread.

    Parameters
    ----------
    ports : returns the ports on loopback: the coordinator's, then one for each rack of a group
    before : rounds are numbered from the number after this one; topics are named after them
    """

    def __init__(self, ports: Callable[[], list[int]], before: int = 0) -> None:
        self._ports = ports
        self._rounds = before
        self._ended = False
        # The present round or else the last one, about whose topics clients may still ask.
        self._known: Round | None = None
        self._held_back = HeldBack(HOLD_SECONDS)
        # By client id, because not every connection names its software.
        self._software: dict[str, Software] = {}
        # Client ids of those known to assign only the topics that they read themselves.
        self._own_only: set[str] = set()
        self._round: Round | None = None
        self._leader: Peer | None = None
        # The last leader and its client id: as long as it is connected, no other client leads.
        self._last: tuple[Peer, str] | None = None
        # The client that has already led in this round.
        self._led: Peer | None = None
        self._generation = 0
        self._attempts = 0
        self._waiting: deque[tuple[Peer, Request]] = deque()

    def offer(self, round_: Round) -> None:
        """Make the client that waits, or the next that joins, the leader of a group."""
        self._rounds += 1
        round_.set_number(self._rounds)
        self._round, self._leader, self._led, self._attempts = round_, None, None, 0
        self._known = round_
        self._let_next_lead()

    def withdraw(self, round_: Round) -> None:
        """Give up a round."""
        if self._round is round_:
            self._round = self._leader = self._last = None

    def end(self) -> None:
        """Refuse all joins from now on, so that the clients leave."""
        self._ended = True
        while self._waiting:
            self._turn_away(*self._waiting.popleft())

    def left(self, peer: Peer, sent_what: str = "") -> None:
        """Forget a client whose connection has closed.

        Parameters
        ----------
        sent_what : what it sent that the probe could not read; empty if it closed by itself
        """
        self._held_back.forget(peer)
        if self._known is not None:
            self._known.watch.forget(peer)
        self._waiting = deque(waits for waits in self._waiting if waits[0] is not peer)
        if self._leader is peer and sent_what:
            self._end(Misread(f"the probe cannot read what the client sent: {sent_what}"))
        elif self._leader is peer:
            self._end(Disconnected("the client closed its connection before it sent a plan"))
        if self._last is not None and self._last[0] is peer:
            self._last = None
            self._let_next_lead()

    def answer(self, peer: Peer, request: Request) -> None:
        """Answer a request, at once or later."""
        if request.key != wire.SYNC_GROUP:
            self._held_back.release(of=peer)
        if request.body is None:
            peer.reply(
                request, {"error_code": wire.UNSUPPORTED_VERSION, "api_keys": wire.spoken()}
            )
        elif request.key in metadata.ABOUT_OFFSETS:
            peer.reply(request, metadata.no_offsets(request))
        else:
            answers = {
                wire.API_VERSIONS: self._api_versions,
                wire.METADATA: self._metadata,
                wire.FIND_COORDINATOR: self._find_coordinator,
                wire.JOIN_GROUP: self._join_group,
                wire.SYNC_GROUP: self._sync_group,
                wire.HEARTBEAT: self._heartbeat,
                wire.LEAVE_GROUP: self._with_nothing,
                wire.FETCH: self._with_nothing,
            }
            answers[request.key](peer, request)

    def _api_versions(self, peer: Peer, request: Request) -> None:
        called, said = request.client_id, request.body
        # The id may belong to another client now.
        self._own_only.discard(called)
        self._software[called] = Software(
            called, said.client_software_name or "", said.client_software_version or ""
        )
        peer.reply(request, {"api_keys": wire.spoken()})

    def _find_coordinator(self, peer: Peer, request: Request) -> None:
        where = {"node_id": 0, "host": metadata.HOST, "port": self._ports()[0]}
        peer.reply(request, {**where, "error_message": None})

    def _metadata(self, peer: Peer, request: Request) -> None:
        round_ = self._known
        if round_ is None:
            self._tell(peer, request)
            return
        round_.watch.pause(peer, peer.received)
        hold = round_.told[request.client_id].ask(metadata.asked(request, round_))
        if hold and self._leader is not None and request.client_id == round_.client_id:
            self._held_back.add(peer, request, partial(self._tell, peer, request, round_.watch))
        else:
            self._tell(peer, request, round_.watch)
            if round_.told[request.client_id].knows():
                self._held_back.release(key=wire.SYNC_GROUP)

    def _tell(self, peer: Peer, request: Request, watch: Stopwatch | None = None) -> None:
        round_ = self._known
        fields = metadata.answer(request, round_, self._ports())
        if round_ is not None:
            round_.told[request.client_id].answer(metadata.asked(request, round_))
        peer.reply(request, fields, sent=None if watch is None else partial(watch.go_on, peer))

    def _join_group(self, peer: Peer, request: Request) -> None:
        if request.body.protocols is None:
            raise ValueError("no assignors")
        if self._ended:
            self._turn_away(peer, request)
            return
        if self._leader is not None and self._leader is peer:
            self._attempts += 1
            if self._attempts >= MOST_ATTEMPTS:
                never = f"the client joined {MOST_ATTEMPTS} times without sending a plan"
                self._end(Failed(never))
            else:
                self._lead(peer, request)
                return
        self._waiting = deque(waits for waits in self._waiting if waits[0] is not peer)
        self._waiting.append((peer, request))
        self._let_next_lead()

    def _let_next_lead(self) -> None:
        """Make the client that waited longest the leader, unless the last leader is connected."""
        if self._round is None or self._leader is not None:
            return
        for waits in self._waiting:
            if self._last is None or self._last[1] == waits[1].client_id:
                self._waiting.remove(waits)
                self._lead(*waits)
                return

    def _lead(self, peer: Peer, request: Request) -> None:
        """Make a client that wants to join the leader of the group."""
        round_ = self._round
        assert round_ is not None
        listed = {str(one.name): one.metadata for one in request.body.protocols}
        chosen = round_.protocol or next(iter(listed), "")
        self._generation += 1
        answer: dict[str, object] = {
            "generation_id": self._generation,
            "protocol_name": chosen,
        }
        called = request.client_id
        round_.software = self._software.get(called, Software(called))
        if chosen not in listed:
            peer.reply(request, {"error_code": wire.INCONSISTENT_PROTOCOL, **answer, **NOBODY})
            names = ", ".join(listed) or "nothing"
            self._end(Failed(f"the client does not list {chosen or 'any assignor'}, but {names}"))
            return
        round_.chosen = chosen
        if self._led not in (None, peer):
            # Another client of the same id has not got the metadata that the first one got.
            round_.told.pop(called, None)
        self._leader, self._led, self._last = peer, peer, (peer, called)
        own = bytes(listed[chosen] or b"")
        try:
            round_.stand_for(own)
            members = round_.members(own)
            round_.told[called].lead(own_only=called in self._own_only)
            round_.wait_for_client()
            leads = {"leader": round_.me, "member_id": round_.me, "members": members}
            peer.reply(request, {**answer, **leads}, sent=round_.lead)
        except Refused as refusal:
            self._end(refusal)
            self._waiting.append((peer, request))
        except Exception as error:
            # The protocol cannot encode some number or name; nothing was sent.
            reason = wire.reason(error)
            self._end(Refused(f"the group cannot be put on the wire: {reason}"))
            self._waiting.append((peer, request))

    def _sync_group(self, peer: Peer, request: Request) -> None:
        body, round_ = request.body, self._round
        # This error makes the client join again at once, so it never gets partitions to read.
        join_again = {"error_code": wire.REBALANCE_IN_PROGRESS}
        if round_ is None or self._leader is None or body.generation_id != self._generation:
            self._held_back.release(of=peer)
            peer.reply(request, join_again)
            return
        try:
            taken = round_.take(wire.decode_plan(body.assignments, round_.index))
        except (Failed, Refused) as error:
            self._held_back.release()
            self._end(error)
            peer.reply(request, join_again)
            return
        seconds = round_.watch.stop(peer.received)
        if round_.told[round_.client_id].own_only:
            self._own_only.add(round_.client_id)
        # The client planned without waiting for these Metadata answers.
        self._held_back.release()
        if taken:
            round_.seconds = seconds
            self._end(None)
        elif round_.plans < MOST_ATTEMPTS:
            # The client joins and plans again, and by then has the metadata.
            self._leader, self._attempts = None, 0
            round_.wait_for_client()
            self._held_back.add(peer, request, partial(peer.reply, request, join_again))
            return
        else:
            self._end(TooSoon(TOO_SOON.format(round_.plans)))
        peer.reply(request, join_again)

    def _end(self, error: Failed | Refused | None) -> None:
        round_, self._round, self._leader = self._round, None, None
        if round_ is not None:
            round_.error = error
            round_.over.set()

    def _turn_away(self, peer: Peer, request: Request) -> None:
        """Refuse a join with an authorisation error, after which every client gives up."""
        fields = {"generation_id": -1, "protocol_name": ""}
        peer.reply(request, {"error_code": wire.GROUP_AUTHORIZATION_FAILED, **fields, **NOBODY})

    def _heartbeat(self, peer: Peer, request: Request) -> None:
        error = wire.NONE if self._leader is not None else wire.REBALANCE_IN_PROGRESS
        peer.reply(request, {"error_code": error})

    def _with_nothing(self, peer: Peer, request: Request) -> None:
        peer.reply(request, {})
