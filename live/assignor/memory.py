"""Memory: what an assignor keeps of its consumer from one rebalance to the next."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from live.assignor.claim import LAST_GENERATION, Claim, Note, claim_after, packed
from live.assignor.planned import planned
from live.assignor.rebalance import Rebalance

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from live.assignor.planned import Solver
    from live.assignor.rebalance import Joined

# What a member gets: its topics, each with the numbers of its partitions, and user data.
Given = tuple[list[tuple[str, list[int]]], bytes]


@dataclass
class Memory:
    """What a consumer was given last, and what it knew if it led the last rebalance.

    Attributes
    ----------
    claim : what it was given last
    led : the topics of the plan that it made last; none where another member made the last one
    """

    claim: Claim = field(default_factory=Claim)
    led: frozenset[str] = frozenset()
    _has_led: bool = False

    def said(self, topics: Collection[str], *, holds: bool) -> bytes:
        """Return the user data with which the consumer joins.

        Parameters
        ----------
        holds : whether it goes on reading what it has (cooperative)
        """
        return packed(self.claim.about(topics, holds=holds))

    def given(self, partitions: Iterable[tuple[str, Iterable[int]]], user_data: object) -> None:
        """Remember an assignment."""
        self.claim = claim_after(partitions, user_data)
        if not self._has_led:
            self.led = frozenset()
        self._has_led = False

    def lead(
        self,
        members: Mapping[str, Joined],
        numbers_of: Callable[[str], Collection[int] | None],
        solver: Solver,
        *,
        time_limit: float,
    ) -> dict[str, Given]:
        """Return what each member gets, as the leader of the group.

        Parameters
        ----------
        numbers_of : as :meth:`live.assignor.rebalance.Rebalance.of` takes it
        time_limit : seconds for the solver
        """
        rebalance = Rebalance.of(members, numbers_of, gone=self.led)
        self.led, self._has_led = frozenset(rebalance.numbers), True
        plan = planned(rebalance, solver, time_limit=time_limit)
        now = rebalance.allowed_now(plan)
        note = partial(
            Note,
            generation=min(rebalance.generation + 1, LAST_GENERATION),
            unfinished=now != plan,
        )
        return {
            member: (
                sorted((topic, numbers) for topic, numbers in topics.items() if numbers),
                packed(note(member=member)),
            )
            for member, topics in now.items()
        }
