"""An explanation on one screen: sentences, and the members line by line."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from assay.printing.table import Table
from assay.printing.terminal import width
from assay.streams import printable, put
from compare.reasons import words
from compare.reasons.member import about
from compare.reasons.peak import peak_of
from compare.sentences import spread
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.reasons.blocks import Block
    from compare.reasons.explanation import Explanation

WIDEST = 100
MOST_BLOCKS = 5
LONGEST = 28


def print_explanation(
    explanation: Explanation, member: str | None = None, *, lead: str | None = None
) -> None:
    """Print why the optimum cannot be better, for the group or for one member of it.

    Parameters
    ----------
    lead : what stands in front, such as what was assumed
    """
    lines = None if member is None else about(explanation, member)
    if lead:
        _say(lead)
    _say(words.headline(explanation))
    if len(explanation.blocks) > 1:
        _print_blocks(explanation)
    for line in words.reasons(explanation) if lines is None else lines:
        _say(line)
    peak = peak_of(explanation) if lines is None else None
    for line in (peak.found, peak.because) if peak else ():
        if line:
            _say(line)
    objective = explanation.solution.objective
    counted_out = peak is not None and bool(peak.because) and len(objective) == 1
    if explanation.moves is None and objective != ("balance",) and not counted_out:
        _say(words.other_proof(explanation))


def _say(sentence: str) -> None:
    """Print a sentence; a text of many is wrapped wherever it goes."""
    text, room = printable(sentence), min(width() or WIDEST, WIDEST)
    indent = "  " if text.startswith("- ") else ""
    put(
        textwrap.fill(
            text,
            room,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
    )


def _print_blocks(explanation: Explanation) -> None:
    blocks = explanation.blocks
    table = Table("line", "members", "topics", "partitions", "each holds", right=(0, 3, 4))
    cut = blocks if len(blocks) <= MOST_BLOCKS else (*blocks[: MOST_BLOCKS - 2], None, blocks[-1])
    for block in cut:
        if block is None:
            between = blocks[MOST_BLOCKS - 2 : -1]
            table.add("...", *_row(explanation, between))
        else:
            table.add(blocks.index(block) + 1, *_row(explanation, [block]))
    table.show()


def _row(explanation: Explanation, blocks: Sequence[Block]) -> tuple[str, str, str, str]:
    group = explanation.group
    members = [group.members[m] for block in blocks for m in block.members]
    topics = [group.topics[t] for block in blocks for t in block.topics]
    held = [load for block in blocks for load in (block.least, block.most)]
    return (
        _listed(members, "member"),
        _listed(topics, "topic"),
        f"{sum(block.partitions for block in blocks):,}",
        spread(held),
    )


def _listed(names: Sequence[str], noun: str) -> str:
    text = " ".join(names)
    return (text or "-") if len(text) <= LONGEST else counted(len(names), noun)
