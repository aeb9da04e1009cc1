"""Arrays: the types of columns, what -1 means in them, read-only copies, and sums over parts.

A part is a run of consecutive entries of a column, such as the partitions of one group of a fleet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from groups.errors import BadInput
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from _typeshed import DataclassInstance


Ints = npt.NDArray[np.integer[Any]]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
A = TypeVar("A", bound=npt.NDArray[Any])
S = TypeVar("S", bound=np.generic)
I = TypeVar("I", bound=np.integer[Any])  # noqa: E741 - the integer type of a column

NOBODY = -1
UNKNOWN = -1
NO_GENERATION = -1
GREATEST = 2**63 - 1
MOST_PARTITIONS = 100_000_000
# A lookup table over all possible values is worth it up to so many cells per value asked.
DENSE = 16
# Owners are counted run by run if the runs of equal owners have LONG partitions on average, judged
# by the first AT_ONCE: a million partitions in equal shares are solved in 6 ms, not 14 ms.
LONG, AT_ONCE = 16, 2**16


def column(
    values: npt.ArrayLike,
    place: str,
    integer: type[I],
    *,
    length: int | None = None,
    least: int = 0,
    below: tuple[int, str] | None = None,
) -> npt.NDArray[I]:
    """Return integers as a column that nobody can change.

    Parameters
    ----------
    place : where the values stand, for error messages
    length : the expected number of values
    least : the least value allowed
    below : what the values are indices of, and how many there are, such as ``(2, "members")``

    Raises
    ------
    BadInput
        If the values are something else; the message names the first bad one.
    """
    array = integers(values, place)
    _require_length(array, place, length)
    if array.size:
        low, high = int(np.minimum.reduce(array)), int(np.maximum.reduce(array))
        if low < least or high > GREATEST:
            bad = int(np.argmax((array < least) | (array > GREATEST)))
            raise BadInput(
                f"{place}[{bad}]: {array[bad]}, expected {least} or more, within 64 bits"
            )
        if below is not None and high >= below[0]:
            bad = int(np.argmax(array >= below[0]))
            raise BadInput(f"{place}[{bad}]: {array[bad]}, but there are {below[0]} {below[1]}")
    return as_immutable(array, integer)


def flags(values: npt.ArrayLike, place: str, length: int) -> Bools:
    """Return booleans as a column that nobody can change.

    Raises
    ------
    BadInput
        If the values are something else.
    """
    array = _one_dimensional(values, place, "b", "booleans")
    _require_length(array, place, length)
    return as_immutable(array, np.bool_)


def integers(values: npt.ArrayLike, place: str) -> npt.NDArray[Any]:
    """Return a one-dimensional array of integers of any type, as it is.

    Raises
    ------
    BadInput
        If the values are something else.
    """
    return _one_dimensional(values, place, "iu", "integers")


def check_total(partitions: Iterable[int]) -> int:
    """Return the number of all partitions; raise BadInput above `MOST_PARTITIONS`."""
    total = sum(partitions)
    if total > MOST_PARTITIONS:
        raise BadInput(f"topics: {total} partitions, more than the {MOST_PARTITIONS} supported")
    return total


def as_immutable(array: npt.NDArray[Any], kind: type[S]) -> npt.NDArray[S]:
    """Return the array itself if it has the type and is immutable, else a read-only copy.

    A read-only view of a writable array is copied, too.
    """
    dtype = np.dtype(kind)
    if array.dtype == dtype and _is_immutable(array):
        return array
    return frozen(np.array(array, dtype))


def frozen(array: A) -> A:
    """Make the array read-only and return it."""
    array.flags.writeable = False
    return array


def contains(entries: Int64, asked: Int64) -> Bools:
    """Return for each asked value whether it is among the ascending entries."""
    if not len(entries):
        return np.zeros(len(asked), bool)
    at = np.minimum(np.searchsorted(entries, asked), len(entries) - 1)
    return np.asarray(entries[at] == asked, bool)


def among(entries: Int64, asked: Int64, width: int) -> Bools:
    """Return for each asked value below `width` whether it is among the ascending entries."""
    if width > DENSE * len(asked):
        return contains(entries, asked)
    there = np.zeros(width, bool)
    there[entries] = True
    return np.asarray(there[asked], bool)


def count_owners(owner: Int32, members: int) -> Int64:
    """(members,) int64: how many partitions each member has; owner -1 is nobody."""
    if len(owner) > AT_ONCE and len(_runs(owner[:AT_ONCE])) * LONG < AT_ONCE:
        # bincount is slow on long runs of one member, so each run is counted as a whole.
        starts = _runs(owner)
        if len(starts) * LONG < len(owner):
            length = np.diff(starts, append=len(owner))
            found = np.bincount(owner[starts] + 1, length, members + 1)
            return frozen(found[1:].astype(np.int64))
    found, step = np.zeros(members + 1, np.int64), max(AT_ONCE, members + 1)
    for start in range(0, len(owner), step):
        found += np.bincount(owner[start : start + step] + 1, minlength=members + 1)
    return frozen(found[1:])


def _runs(owner: Int32) -> Int64:
    """Return the indices where runs of one owner begin, ascending."""
    return np.flatnonzero(np.append(True, owner[1:] != owner[:-1])[: len(owner)])


def constructor_call(part: DataclassInstance) -> tuple[type, tuple[object, ...]]:
    """Return the constructor and its arguments, so that a pickle or copy is checked as well."""
    return type(part), tuple(getattr(part, field.name) for field in fields(part))


def _one_dimensional(values: npt.ArrayLike, place: str, kinds: str, what: str) -> npt.NDArray[Any]:
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.empty((0, 0))
    if array.ndim != 1 or (array.size and array.dtype.kind not in kinds):
        raise BadInput(f"{place}: expected a one-dimensional array of {what}")
    return array


def _require_length(array: npt.NDArray[Any], place: str, length: int | None) -> None:
    if length is not None and len(array) != length:
        raise BadInput(f"{place}: {counted(len(array), 'value')}, expected {length}")


def _is_immutable(array: object) -> bool:
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return False
        array = array.base
    return array is None or isinstance(array, bytes)


def order_by(key: Ints) -> Int64:
    """Return the stable ascending order of a column of integers of 0 or more.

    Small keys are sorted by radix; larger ones share a 64-bit word with their position, so that
    the fastest sort there is leaves equal keys in order.
    """
    count = len(key)
    greatest = int(key.max(initial=0))
    if greatest < 2**16:
        return np.argsort(key.astype(np.uint16), kind="stable")
    bits = max(count - 1, 1).bit_length()
    if greatest.bit_length() + bits > 62:
        return np.argsort(key, kind="stable")
    words = (key.astype(np.int64) << bits) | np.arange(count)
    words.sort()
    return words & ((1 << bits) - 1)


def ranks(sizes: Int64) -> Int64:
    """Return the ranks 0, 1, ... inside runs of so many entries: (sum of sizes,) int64."""
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def numbered(key: Int64, width: int) -> tuple[Int64, Int64]:
    """Return (distinct keys ascending, number of each entry's key among them).

    Keys are below `width`. If that is not much more than the number of entries, a table of all
    keys is used: a million entries take 3 ms, and 35 ms if they are sorted.
    """
    if width > 4 * len(key) + 1024:
        distinct, number = np.unique(key, return_inverse=True)
        return distinct, number.astype(np.int64)
    there = np.zeros(width, bool)
    there[key] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[key]


# Bits of the low half when columns are summed in two halves, so that sums stay inside 64 bits.
HALF = 32
SAFE = 2.0**62


def sums(column: Ints | Bools, start: Int64) -> Int64:
    """Return the sum of a column over each part, (parts,) int64.

    Parameters
    ----------
    start : (parts + 1,) int64, where each part begins in the column; the first begins at 0
    """
    if len(start) == 2:
        counted = np.count_nonzero(column) if column.dtype == bool else column.sum(dtype=np.int64)
        return np.array([counted], np.int64)
    return np.diff(starts(column)[start])


def starts(lengths: Ints | Bools) -> Int64:
    """(..., parts + 1) int64: where parts of these lengths begin, and where the last one ends."""
    found = np.zeros((*lengths.shape[:-1], lengths.shape[-1] + 1), np.int64)
    np.cumsum(lengths, axis=-1, out=found[..., 1:])
    return found


def exact_sums(column: Int64 | Bools, start: Int64) -> npt.NDArray[Any]:
    """Return the sums that `sums` returns, as Python integers if one may leave 64 bits."""
    if column.dtype == bool:
        return sums(column, start)
    furthest = max(-float(column.min(initial=0)), float(column.max(initial=0)))
    if furthest * len(column) < SAFE:
        return sums(column, start)
    high, low = sums(column >> HALF, start), sums(column & (2**HALF - 1), start)
    return np.asarray((high.astype(object) << HALF) + low, object)


def any_in_parts(column: Bools, start: Int64) -> Bools:
    """Return for each part whether one of its entries is true, (parts,) bool."""
    return np.asarray(sums(column, start) > 0)


def greatest(column: npt.NDArray[Any], start: Int64) -> npt.NDArray[Any]:
    """Return the greatest of a column, 0 or more, in each part; 0 for an empty part."""
    return _reduced(np.maximum, column, start)


def least(column: npt.NDArray[Any], start: Int64) -> npt.NDArray[Any]:
    """Return the least of a column in each part; 0 for an empty part."""
    return _reduced(np.minimum, column, start)


def _reduced(by: np.ufunc, column: npt.NDArray[Any], start: Int64) -> npt.NDArray[Any]:
    found = np.zeros(len(start) - 1, column.dtype)
    there = np.flatnonzero(start[1:] > start[:-1])
    if len(there):
        found[there] = by.reduceat(column, start[there])
    return found


def names(given: Iterable[str], place: str) -> tuple[str, ...]:
    """Return distinct non-empty names of valid Unicode, in the order given.

    Raises
    ------
    BadInput
        If one is not, or they are a set, which has no order; the message says which.
    """
    if isinstance(given, (Set, str)):
        raise BadInput(f"{place}: {type(given).__name__}, expected a list of names")
    listed = tuple(given.tolist() if isinstance(given, np.ndarray) else given)
    bad = [] if set(map(type, listed)) <= {str} else [n for n in listed if not isinstance(n, str)]
    distinct = set() if bad else set(listed)
    if bad or "" in distinct:
        raise BadInput(f"{place}: {bad[0] if bad else ''!r}, expected a non-empty string")
    if len(distinct) < len(listed):
        twice = next(name for name, times in Counter(listed).items() if times > 1)
        raise BadInput(f"{place}: {twice!r} appears twice")
    try:
        "".join(listed).encode()
    except UnicodeEncodeError as error:
        raise BadInput(f"{place}: {error.object[error.start]!r} is not valid Unicode") from None
    return listed


def numbers(count: int) -> tuple[str, ...]:
    """Return ``"0"``, ``"1"``, ...: the names of the members, topics and racks of a fleet."""
    return tuple(map(str, range(count)))
