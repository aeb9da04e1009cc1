"""JSON documents on disk: one to a ``.json`` file, one to a line of a ``.jsonl`` file."""

from __future__ import annotations

import errno
import json
import os
import sys
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator


class RepeatedKeys(dict[str, Any]):
    """A JSON object that names a key twice; `repeated` is that key."""

    repeated: str


def parse_json(text: str) -> Any:
    """Parse one JSON document, keeping note of keys that appear twice.

    Raises
    ------
    BadInput
        Where the text is not JSON, with line and column.
    """
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise BadInput(f"{where}: not JSON: {error.msg}") from None
    except RecursionError:
        raise BadInput("not a snapshot: nested too deeply") from None
    except BadInput:
        raise
    except ValueError:
        # The only other one that the parser knows: more digits than Python makes an integer of.
        limit = sys.get_int_max_str_digits()
        raise BadInput(f"not JSON: a number of more than {limit} digits") from None


def decode(data: bytes) -> str:
    """Return the text of a file: UTF-8, or UTF-16 with a byte order mark.

    Raises
    ------
    BadInput
        Where the bytes are neither, with the place of the first bad one.
    """
    wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    try:
        return data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"byte {error.start}: not UTF-8 text") from None


def read_bytes(path: str | Path) -> bytes:
    """Return the bytes of a file, of standard input for ``-``.

    Raises
    ------
    BadInput
        Where there is no such file or it cannot be read.
    """
    name = "standard input" if str(path) == "-" else path
    if name != path and sys.stdin is None:
        raise BadInput(f"{name}: cannot be read: it is closed")
    try:
        return Path(path).read_bytes() if name == path else sys.stdin.buffer.read()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadInput(f"{name}: cannot be read: {reason}") from None


def make_folder(path: Path) -> None:
    """Make a folder that can be written to, where it is not there yet.

    Raises
    ------
    BadInput
        Where something else is there, or it may not be made or written to.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise BadInput(f"{path}: not a folder") from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise BadInput(f"{path}: cannot be written: {os.strerror(errno.EACCES)}")


def read_documents(data: bytes, name: str) -> Iterator[tuple[str, Any]]:
    """Return the JSON documents of a ``.json`` or ``.jsonl`` file, each with its place.

    A bad line of a ``.jsonl`` file is there as its BadInput, so that the others can be used.

    Raises
    ------
    BadInput
        Where the file is empty, is not text, or is not JSON as a whole.
    """
    try:
        text = decode(data)
        if not text.strip():
            raise BadInput("empty, expected a snapshot")
        if not name.endswith(".jsonl"):
            try:
                return iter([(name, parse_json(text))])
            except BadInput:
                if not _is_whole(text.lstrip().split("\n", 1)[0]):
                    raise
    except BadInput as error:
        raise error.within(name) from None
    return _lines(text, name)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
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


def _lines(text: str, name: str) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(StringIO(text), start=1):
        if line.strip():
            place = f"{name}:{number}"
            try:
                yield place, parse_json(line.rstrip("\r\n"))
            except BadInput as error:
                yield place, error.within(place)
