"""JSON documents in files: one per ``.json`` file, or one per line of a file of JSON lines."""

from __future__ import annotations

import errno
import json
import os
import sys
from io import StringIO
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NoReturn

from groups.documents.texts import decode, without_gz
from groups.errors import BadInput, writing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LINES = (".jsonl", ".ndjson")
# Matches the end of such a file's name, in Spark too.
END_OF_LINES = rf"[.]({'|'.join(one[1:] for one in LINES)})([.]gz)?$"


class RepeatedKeys(dict[str, Any]):
    """A JSON object that names a key twice; `repeated` is that key."""

    repeated: str


def parse_json(text: str) -> Any:
    """Parse one JSON document; an object with a key twice becomes `RepeatedKeys`.

    Raises
    ------
    BadInput
        If the text is not JSON, with line and column.
    """
    try:
        return json.loads(text, object_pairs_hook=_note_repeated_keys, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise BadInput(f"{where}: not JSON: {error.msg}") from None
    except RecursionError:
        raise BadInput("not a snapshot: nested too deeply") from None
    except BadInput:
        raise
    except ValueError:
        # The parser's only other ValueError: more digits than Python converts to an integer.
        limit = sys.get_int_max_str_digits()
        raise BadInput(f"not JSON: a number of more than {limit} digits") from None


def make_folder(path: Path) -> None:
    """Make a folder if it does not exist, and require that it can be written to.

    Raises
    ------
    BadInput
        If the path is not a folder, or the folder cannot be made or written to.
    """
    with writing(path):
        try:
            path.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise BadInput(f"{path}: not a folder") from None
        if not os.access(path, os.W_OK | os.X_OK):
            is_read_only = os.statvfs(path).f_flag & os.ST_RDONLY
            raise OSError(errno.EROFS if is_read_only else errno.EACCES, "")


def split_documents(data: bytes, name: str) -> Iterator[tuple[str, str]]:
    """Return the texts of the JSON documents in a file, each with its place.

    A ``.jsonl`` file has one per line, unless it is one document over several lines; any other
    file has one per line if its first line is a document. The place is the file, or the file and
    the line, from 1.

    Raises
    ------
    BadInput
        If the file is empty, or is not text.
    """
    try:
        text = decode(data)
        if not text.strip():
            raise BadInput("empty, expected a snapshot")
    except BadInput as error:
        raise error.within(name) from None
    numbered = enumerate(StringIO(text), start=1)
    lines = ((f"{name}:{n}", line.rstrip("\r\n")) for n, line in numbered if line.strip())
    first = list(islice(lines, 2))
    several = len(first) > 1
    if (several and _is_whole(first[0][1])) or (
        is_json_lines(name) and not (several and _is_whole(text))
    ):
        return chain(first, lines)
    return iter([(name, text)])


def is_json_lines(name: str) -> bool:
    """Return whether a file's name ends in one of `LINES`, perhaps with ``.gz`` after it."""
    return without_gz(name).endswith(LINES)


def _note_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: set[str] = set()
    marked = RepeatedKeys(found)
    marked.repeated = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return marked


def _no_constant(constant: str) -> NoReturn:
    raise BadInput(f"not JSON: {constant} is no number")


def _is_whole(line: str) -> bool:
    try:
        parse_json(line)
    except BadInput:
        return False
    return True
