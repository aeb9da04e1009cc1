"""A cluster that answers as a real one did: the bytes that were recorded, question by question."""

import copy
import json
from pathlib import Path

import kafka.protocol.admin as admin
import kafka.protocol.consumer as consumer
import kafka.protocol.metadata as metadata

from live.capture import messages
from live.capture.cluster import Cluster

RECORDED = Path(__file__).with_name("recorded")
_MODULES = (admin, consumer, metadata, messages)


def recorded(name):
    return json.loads((RECORDED / name).read_text())


def message(name):
    return next(getattr(module, name) for module in _MODULES if hasattr(module, name))


class Replayed(Cluster):
    """A cluster whose answers were recorded.

    A question must be one that was asked: the same broker, the same bytes. Each of `changes` is
    called with question and decoded answer before the answer is given, and may change it; where
    it returns an error, that is the answer. `asked` holds the names of all questions.
    """

    def __init__(self, exchanges, *changes):
        self.sent = 0
        self.asked = []
        self._changes = changes
        self._said = {(e["node"], e["question"], e["asked"]): e for e in exchanges}
        self._versions = {e["question"]: e["version"] for e in exchanges}

    def answers_to(self, question, version=0):
        return self._versions[question.__name__] >= version

    def _answers(self, questions):
        return {
            node: [self._answer(node, question) for question in asked]
            for node, asked in questions.items()
        }

    def _answer(self, node, question):
        name = type(question).__name__
        version = self._versions[name]
        self.asked.append(name)
        said = self._said[node, name, question.encode(version=version).hex()]
        answer = message(said["answer"]).decode(bytes.fromhex(said["said"]), version=version)
        for change in self._changes:
            answer = change(question, copy.copy(answer)) or answer
        return answer
