"""Cluster: sends requests to brokers through kafka-python, and returns typed answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec
from kafka.errors import (
    IncompatibleBrokerVersion,
    InvalidReceiveError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    NodeNotReadyError,
    RequestTimedOutError,
    SaslAuthenticationFailedError,
)
from kafka.protocol.consumer import OffsetFetchRequest

from live.capture import messages
from live.capture.obstacles import Obstacle
from live.connection.contact import at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kafka import KafkaAdminClient
    from kafka.protocol.api_message import ApiMessage


K = TypeVar("K")
T = TypeVar("T")
D = TypeVar("D")
G = TypeVar(
    "G",
    messages.ClassicGroup,
    messages.ConsumerGroup,
    messages.StreamsGroup,
    messages.CommittedGroup,
)
# Groups described by one request: hundreds of members with hundreds of topics make long answers.
MOST_GROUPS = 25
ANY_BROKER = -1
_ATTEMPTS = 3


class Unanswered(Exception):
    """A broker gave no answer, or one that cannot be read; the message says which and why.

    Attributes
    ----------
    error : what kafka-python raised; None if the answer cannot be read
    """

    def __init__(self, reason: str, error: KafkaError | None = None) -> None:
        super().__init__(reason)
        self.error = error


def unanswered(group: str, why: Unanswered | str) -> Obstacle:
    """Return that a broker does not answer for a group now."""
    return Obstacle(f"group {group!r}: {why}", passing=True)


class Cluster:
    """The brokers of a cluster, which get only requests that change nothing."""

    def __init__(self, admin: KafkaAdminClient) -> None:
        # The admin client's public methods merge answers and raise; we need each answer itself.
        self._manager = admin._manager  # noqa: SLF001
        self._milliseconds = int(admin.config["request_timeout_ms"])

    def tells_commits_of_several(self) -> bool:
        """Return whether brokers answer for several groups at once, as they do since Kafka 3.0."""
        try:
            known = self._manager.broker_version_data.api_version(OffsetFetchRequest)
        except IncompatibleBrokerVersion:
            return False
        return int(known) >= messages.SEVERAL_GROUPS

    def ask_any(self, question: ApiMessage, kind: type[T]) -> T:
        """Return the answer of the least busy broker, or of another if that one fails.

        Raises
        ------
        Unanswered
            If three attempts fail, or an answer cannot be read.
        """
        for last in (False,) * (_ATTEMPTS - 1) + (True,):
            (answer,) = self.ask({ANY_BROKER: [question]}, kind)[ANY_BROKER]
            if not isinstance(answer, Unanswered):
                return answer
            # The client does not choose a failed broker again for some time.
            if last or answer.error is None:
                raise answer
        raise AssertionError("the last attempt returns or raises")

    def ask(
        self, questions: Mapping[int, Sequence[ApiMessage]], kind: type[T]
    ) -> dict[int, list[T | Unanswered]]:
        """Return the answers of each broker, in the order of its requests.

        All brokers are asked at the same time, each one request after the other.
        """
        if not all(
            isinstance(q, messages.QUESTIONS) for asked in questions.values() for q in asked
        ):
            raise TypeError("only questions are asked")
        found = self._answers(questions)
        return {
            node: [self._typed(node, answer, kind) for answer in answers]
            for node, answers in found.items()
        }

    def ask_in_parts(
        self,
        asked_of: Mapping[int, Sequence[K]],
        most: int,
        question: Callable[[Sequence[K]], ApiMessage],
        kind: type[T],
    ) -> Iterator[tuple[int, Sequence[K], T | Unanswered]]:
        """Ask for many keys in requests of at most `most`; yield (broker, keys, answer).

        Parameters
        ----------
        asked_of : keys to ask each broker for, such as names of groups
        question : makes the request for some keys
        """
        parts = {node: list(batches(keys, most)) for node, keys in asked_of.items()}
        answered = self.ask({node: list(map(question, of)) for node, of in parts.items()}, kind)
        for node, of in parts.items():
            for keys, answer in zip(of, answered[node], strict=True):
                yield node, keys, answer

    def ask_for_groups(
        self,
        groups_of: Mapping[int, Sequence[str]],
        question: Callable[[Sequence[str]], ApiMessage],
        kind: type[messages.Groups[G]],
        read: Callable[[G], D | Obstacle],
        most: int = MOST_GROUPS,
    ) -> dict[str, D | Obstacle]:
        """Ask coordinators about groups, at most `most` in one request.

        A group that is missing in an answer gets a passing Obstacle.

        Parameters
        ----------
        groups_of : names of groups, by coordinator
        read : returns what is said of a group
        """
        found: dict[str, D | Obstacle] = {}
        for node, names, answer in self.ask_in_parts(groups_of, most, question, kind):
            why = answer if isinstance(answer, Unanswered) else f"broker {node} leaves it out"
            found |= {name: unanswered(name, why) for name in names}
            if not isinstance(answer, Unanswered):
                found |= {
                    one.group_id: read(one) for one in answer.groups if one.group_id in names
                }
        return found

    def _answers(self, questions: Mapping[int, Sequence[ApiMessage]]) -> dict[int, list[object]]:
        found: dict[int, list[object]] = self._manager.run(self._ask_all, questions)
        return found

    async def _ask_all(
        self, questions: Mapping[int, Sequence[ApiMessage]]
    ) -> dict[int, list[object]]:
        waiting = {
            node: self._manager.call_soon(self._ask_in_turn, node, asked)
            for node, asked in questions.items()
        }
        return {node: await future for node, future in waiting.items()}

    async def _ask_in_turn(self, node: int, asked: Sequence[ApiMessage]) -> list[object]:
        answers: list[object] = []
        for question in asked:
            try:
                whom = None if node == ANY_BROKER else node
                # A limit of our own, because the client's limit for connecting is longer.
                sent = self._manager.send(question, node_id=whom)
                answers.append(await self._manager.wait_for(sent, self._milliseconds))
            except KafkaError as error:
                # The broker's other requests would each wait as long, so they fail too.
                return [*answers, *[error] * (len(asked) - len(answers))]
        return answers

    def _typed(self, node: int, answer: object, kind: type[T]) -> T | Unanswered:
        who = "the cluster" if node == ANY_BROKER else f"broker {node}{self._at(node)}"
        if isinstance(answer, KafkaError):
            return Unanswered(f"{who}: {self._why(answer)}", answer)
        try:
            return messages.read(answer, kind)
        except msgspec.ValidationError as error:
            return Unanswered(f"{who} answers what cannot be read: {error}")

    def _at(self, node: int) -> str:
        broker = self._manager.cluster.broker_metadata(node)
        return "" if broker is None else f" at {at(broker.host, broker.port)}"

    def _why(self, error: KafkaError) -> str:
        if isinstance(error, (KafkaTimeoutError, RequestTimedOutError)):
            return f"no answer within {self._milliseconds / 1000:g} s"
        if isinstance(error, (KafkaConnectionError, NodeNotReadyError)):
            return "it cannot be reached"
        if isinstance(error, SaslAuthenticationFailedError):
            return "it refuses the login"
        if isinstance(error, InvalidReceiveError):
            return "its answer is longer than receive_message_max_bytes"
        if isinstance(error, IncompatibleBrokerVersion):
            return f"it is too old: {error}"
        # The message may come from the other end or a plug-in, so it is not shown.
        return f"the client failed with {type(error).__name__}"


def batches(of: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    """Yield consecutive parts of a list of at most `most` items.

    Examples
    --------
    >>> list(batches([1, 2, 3], 2))
    [[1, 2], [3]]
    """
    return (of[start : start + most] for start in range(0, len(of), most))
