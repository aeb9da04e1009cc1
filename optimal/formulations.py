"""Formulations: how a method expresses each tier, by the tier's name."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, TypeVar

from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Formulation = TypeVar("Formulation")
# How the error ends if a method does not serve a tier.
AUTO_DOES = "auto takes a method that does"


class Formulations(dict[str, Formulation]):
    """The formulations of a method, by the tiers' names; a missing tier raises BadInput.

    Parameters
    ----------
    method : the method's name
    place : the table in the code to which a formulation can be added, for the error message
    entries : a formulation for each tier
    """

    def __init__(self, method: str, place: str, entries: Mapping[str, Formulation]) -> None:
        super().__init__(entries)
        self.method, self.place = method, place

    def __missing__(self, tier: str) -> NoReturn:
        """Raise BadInput for a tier without a formulation."""
        raise BadInput(f"{self.method} has no formulation of {tier}: add one to {self.place}")

    def covers(self, tiers: Iterable[str]) -> bool:
        """Return whether every tier has a formulation."""
        return {*tiers} <= self.keys()
