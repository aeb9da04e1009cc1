"""Write down what a real cluster is asked and answers: ``python -m tests.live.capture.record``.

python -m tests.live.capture.record HOST:PORT FILE [PATTERN ...]
"""

import json
import sys
import time
from pathlib import Path

from kafka.errors import KafkaError

from live.capture.cluster import Cluster
from live.capture.matching import capture_matching
from live.connection import Connection


class Recording(Cluster):
    """A cluster that keeps every question and its answer, as bytes."""

    def __init__(self, admin):
        super().__init__(admin)
        self.kept = []

    def _answers(self, questions):
        found = super()._answers(questions)
        for node, asked in questions.items():
            for question, answer in zip(asked, found[node], strict=True):
                assert not isinstance(answer, KafkaError), answer
                version = question.API_VERSION
                # An answer that was decoded has none, and none is written.
                answer._header = None  # noqa: SLF001
                self.kept.append(
                    {
                        "node": node,
                        "question": type(question).__name__,
                        "answer": type(answer).__name__,
                        "version": version,
                        "asked": question.encode(version=version).hex(),
                        "said": answer.encode(version=version).hex(),
                    }
                )
        return found


def main(bootstrap, path, *patterns):
    with Connection(bootstrap).admin() as admin:
        cluster = Recording(admin)
        deadline = time.monotonic()
        found = capture_matching(
            cluster, bootstrap, patterns or ("*",), lag=True, deadline=deadline
        )
    documents = [one.document for one in found.documents]
    lines = ",\n".join(json.dumps(line) for line in cluster.kept)
    said = ",\n".join(json.dumps(one) for one in documents)
    Path(path).write_text(f'{{"exchanges": [\n{lines}\n],\n"documents": [\n{said}\n]}}\n')


if __name__ == "__main__":
    main(*sys.argv[1:])
