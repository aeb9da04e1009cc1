"""A cluster that is asked: requests to its brokers through kafka-python, answers typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec
from kafka.errors import IncompatibleBrokerVersion, KafkaError

from live.capture import answers, requests

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kafka import KafkaAdminClient
    from kafka.protocol.api_message import ApiMessage

T = TypeVar("T")
ANY_BROKER = -1


class Unanswered(Exception):
    """A broker that did not answer, or not in a way that can be read; says who and why."""


class Cluster:
    """The brokers of a cluster, of which only questions are asked.

    Attributes
    ----------
    sent : how many requests were sent
    """

    def __init__(self, admin: KafkaAdminClient) -> None:
        # Its public methods decode, merge and raise as they see fit: what is needed is the answer.
        self._manager = admin._manager  # noqa: SLF001
        self.sent = 0

    def answers_to(self, question: type[ApiMessage], version: int = 0) -> bool:
        """Say whether brokers know a question, at a version or a later one."""
        try:
            known = self._manager.broker_version_data.api_version(question)
        except IncompatibleBrokerVersion:
            return False
        return int(known) >= version

    def ask_any(self, question: ApiMessage, kind: type[T]) -> T:
        """Return the answer of the broker that is least busy.

        Raises
        ------
        Unanswered
            Where there is none.
        """
        (answer,) = self.ask({ANY_BROKER: [question]}, kind)[ANY_BROKER]
        if isinstance(answer, Unanswered):
            raise answer
        return answer

    def ask(
        self, questions: Mapping[int, Sequence[ApiMessage]], kind: type[T]
    ) -> dict[int, list[T | Unanswered]]:
        """Return the answers by broker, in the order of the questions.

        All brokers are asked at the same time, each for one answer after the other.
        """
        if not all(
            isinstance(q, requests.QUESTIONS) for asked in questions.values() for q in asked
        ):
            raise TypeError("only questions are asked")
        self.sent += sum(map(len, questions.values()))
        found = self._answers(questions)
        return {
            node: [self._typed(node, answer, kind) for answer in answers]
            for node, answers in found.items()
        }

    def _answers(self, questions: Mapping[int, Sequence[ApiMessage]]) -> dict[int, list[object]]:
        found: dict[int, list[object]] = self._manager.run(self._of_all, questions)
        return found

    async def _of_all(
        self, questions: Mapping[int, Sequence[ApiMessage]]
    ) -> dict[int, list[object]]:
        waiting = {
            node: self._manager.call_soon(self._in_turn, node, asked)
            for node, asked in questions.items()
        }
        return {node: await future for node, future in waiting.items()}

    async def _in_turn(self, node: int, asked: Sequence[ApiMessage]) -> list[object]:
        answers: list[object] = []
        for question in asked:
            try:
                whom = None if node == ANY_BROKER else node
                answers.append(await self._manager.send(question, node_id=whom))
            except KafkaError as error:
                # One that does not answer now would let each further question wait as long.
                return [*answers, *[error] * (len(asked) - len(answers))]
        return answers

    def _typed(self, node: int, answer: object, kind: type[T]) -> T | Unanswered:
        who = "the cluster" if node == ANY_BROKER else f"broker {node}"
        if isinstance(answer, KafkaError):
            return Unanswered(f"{who} does not answer: {answer}")
        try:
            return answers.read(answer, kind)
        except msgspec.ValidationError as error:
            return Unanswered(f"{who} answers what cannot be read: {error}")
