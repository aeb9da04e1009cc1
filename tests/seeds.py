"""Seeds: one test for many drawn groups, which says of a failure the seed that it is of."""

from __future__ import annotations

from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def for_each(seeds: Iterable[int]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Have a test run for each of some seeds; its first parameter is the seed, others fixtures."""
    drawn = tuple(seeds)
    assert drawn

    def of(test: Callable[..., None]) -> Callable[..., None]:
        _, *fixtures = signature(test).parameters.values()

        @wraps(test)
        def each(**given: object) -> None:
            for seed in drawn:
                try:
                    test(seed, **given)
                except BaseException as error:
                    error.add_note(f"seed: {seed}")
                    raise

        each.__signature__ = signature(test).replace(parameters=fixtures)  # type: ignore[attr-defined]
        return each

    return of
