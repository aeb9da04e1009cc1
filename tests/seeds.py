"""Tests that run once for each of many seeds, and name the seed if they fail."""

from __future__ import annotations

from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def for_each(seeds: Iterable[int]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for each seed; its first parameter is the seed, the others are fixtures."""
    all_seeds = tuple(seeds)
    assert all_seeds

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        _, *fixtures = signature(test).parameters.values()

        @wraps(test)
        def run_all(**values: object) -> None:
            for seed in all_seeds:
                try:
                    test(seed, **values)
                except BaseException as error:
                    error.add_note(f"seed: {seed}")
                    raise

        run_all.__signature__ = signature(test).replace(parameters=fixtures)  # type: ignore[attr-defined]
        return run_all

    return decorate
