"""A cluster that answers requests with the recorded bytes of a real cluster."""

import json
import time
from pathlib import Path
from unittest.mock import patch

import kafka.protocol.admin as admin
import kafka.protocol.consumer as consumer
import kafka.protocol.metadata as metadata
from kafka.protocol.consumer import OffsetSpec

from live.capture import messages, rounds
from live.capture.cluster import Cluster

RECORDED = Path(__file__).with_name("recorded")
(FILE,) = RECORDED.glob("kafka-*.json")
REAL = json.loads(FILE.read_text())
_MODULES = (admin, consumer, metadata, messages)


def captured(*changes, patterns=("*",), lag=True, patience=0.0, by_any=False):
    """Return the documents by group, the whole capture, and the replayed cluster.

    `by_any` is whether any broker describes classic groups; in the recording the one asked does.
    """
    described = [e for e in REAL["exchanges"] if e["question"] == "DescribeGroupsRequest"]
    more = [described[0] | {"node": -1}] if by_any else []
    cluster = Replayed([*REAL["exchanges"], *more], *changes)
    with patch.object(rounds, "PAUSE_SECONDS", 0.0):
        found = rounds.capture_matching(
            cluster, "kafka:9092", patterns, lag=lag, deadline=time.monotonic() + patience
        )
    return {one.document["group"]: one.document for one in found.documents}, found, cluster


def message(name):
    return next(getattr(module, name) for module in _MODULES if hasattr(module, name))


class Replayed(Cluster):
    """A cluster with recorded answers.

    A request for a part of a recorded request gets that part of its answer. Each of `changes` is
    called with the request and its answer, and may change the answer in place or return an error
    to give instead. `asked` lists the names of all requests so far; `exact` is whether all had
    exactly the recorded bytes.
    """

    def __init__(self, exchanges, *changes):
        self.asked = []
        self._milliseconds = 7000
        self.exact = True
        self._changes = changes
        self._exchanges = exchanges
        self._versions = {e["question"]: e["version"] for e in exchanges}

    def tells_commits_of_several(self):
        return self._versions["OffsetFetchRequest"] >= messages.SEVERAL_GROUPS

    def _at(self, node):
        return ""

    def _answers(self, questions):
        return {
            node: [self._answer(node, question) for question in asked]
            for node, asked in questions.items()
        }

    def _answer(self, node, question):
        name = type(question).__name__
        self.asked.append(name)
        version = self._versions[name]
        asked = question.encode(version=version).hex()
        alike = [e for e in self._exchanges if (e["node"], e["question"]) == (node, name)]
        same = [e for e in alike if e["asked"] == asked]
        self.exact &= bool(same)
        answer = self.decoded(same[0]) if same else self._part(name, question, alike)
        for change in self._changes:
            answer = change(question, answer) or answer
        return answer

    @staticmethod
    def decoded(exchange):
        kind = message(exchange["answer"])
        return kind.decode(bytes.fromhex(exchange["said"]), version=exchange["version"])

    def _part(self, name, question, exchanges):
        answers = [self.decoded(e) for e in exchanges]
        if name == "MetadataRequest":
            answer = max(answers, key=lambda one: len(one.topics))
            names = {topic.name for topic in question.topics}
            answer.topics = [topic for topic in answer.topics if topic.name in names]
            return answer
        if name == "ListOffsetsRequest":
            answer = answers[1 if _is_end(question) else 0]
            names = {topic.name for topic in question.topics}
            answer.topics = [topic for topic in answer.topics if topic.name in names]
            return answer
        names = {
            "DescribeGroupsRequest": lambda: set(question.groups),
            "ConsumerGroupDescribeRequest": lambda: set(question.group_ids),
            "OffsetFetchRequest": lambda: {one.group_id for one in question.groups},
        }[name]()
        answer = answers[0]
        answer.groups = [group for group in answer.groups if group.group_id in names]
        return answer


def _is_end(question):
    return question.topics[0].partitions[0].timestamp == OffsetSpec.LATEST
