"""PRACTICE: the assignors that people run or were promised; one assignor, one file, one function.

The catalogue names them. Each name is loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.exports import exports

if TYPE_CHECKING:
    from heuristics.assignor import Assignor as Assignor
    from heuristics.assignor import Plan as Plan
    from heuristics.catalogue import WRITTEN as WRITTEN
    from heuristics.catalogue import assignor_named as assignor_named
    from heuristics.catalogue import assignors as assignors
    from heuristics.catalogue import available as available
    from heuristics.catalogue import matching as matching
    from heuristics.own import AssignorFunction as AssignorFunction
    from heuristics.time_limit import assign as assign
    from heuristics.time_limit import plan as plan

# A type checker must see only the imports above: __getattr__ would hide a misspelt name.
if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = exports(__name__)
