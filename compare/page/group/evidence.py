"""Evidence: why a best assignment cannot be better, in words, and what proves it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from compare.page.group.contents import Evidence, Lines
from compare.reasons import words
from compare.sentences import spread
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.reasons.explanation import Block, Explanation
    from optimal.solution import Solution

MOST_LINES = 12
LONGEST = 90
LONGEST_DOCUMENT = 120_000


def why(explanation: Explanation, lead: str | None) -> tuple[str, ...]:
    """Return why it cannot be better, a sentence or a count each, in the nouns of the group."""
    found = [] if lead is None else [lead]
    found += words.reasons(explanation)
    if explanation.moves is None and explanation.solution.objective != ("balance",):
        found.append(words.other_proof(explanation))
    return tuple(map(explanation.group.nouns.said, found))


def lines_of(explanation: Explanation) -> tuple[Lines, ...]:
    """Return the members that share topics, line by line; nothing where all are in one."""
    blocks = explanation.blocks
    if len(blocks) < 2:
        return ()
    if len(blocks) <= MOST_LINES:
        return tuple(_line(explanation, str(i), [one]) for i, one in enumerate(blocks, start=1))
    first, between = blocks[: MOST_LINES - 2], blocks[MOST_LINES - 2 : -1]
    return (
        *(_line(explanation, str(i), [one]) for i, one in enumerate(first, start=1)),
        _line(explanation, f"{len(first) + 1} to {len(blocks) - 1}", between),
        _line(explanation, str(len(blocks)), [blocks[-1]]),
    )


def evidence_of(solution: Solution, *, documents: bool) -> Evidence:
    """Return what a solution rests on.

    Parameters
    ----------
    documents : whether with the documents with which anybody can check it
    """
    proof, group = solution.proof, solution.group
    integers: tuple[tuple[str, int, int | None], ...] = ()
    if proof.level is not None:
        price = [None] * len(proof.level) if proof.price is None else proof.price.tolist()
        integers = tuple(zip(group.members, proof.level.tolist(), price, strict=True))
    texts = [
        json.dumps(one.to_dict(), ensure_ascii=False) for one in (group, solution) if documents
    ]
    fits = documents and sum(map(len, texts)) <= LONGEST_DOCUMENT
    return Evidence(
        kind=str(proof.kind),
        method=solution.method,
        terms=tuple((term.name, term.value, term.bound) for term in solution.terms),
        integers=integers,
        group=texts[0] if fits else None,
        solution=texts[1] if fits else None,
    )


def _line(explanation: Explanation, number: str, blocks: Sequence[Block]) -> Lines:
    group = explanation.group
    return Lines(
        number=number,
        members=_listed(
            [group.members[m] for one in blocks for m in one.members], group.nouns.member
        ),
        topics=_listed([group.topics[t] for one in blocks for t in one.topics], group.nouns.topic),
        partitions=sum(one.partitions for one in blocks),
        holds=spread([load for one in blocks for load in (one.least, one.most)]),
    )


def _listed(names: Sequence[str], noun: str) -> str:
    text = ", ".join(names)
    return (text or "-") if len(text) <= LONGEST else counted(len(names), noun)
