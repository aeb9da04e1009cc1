from __future__ import annotations

import random
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from groups.errors import BadInput
from groups.importers import DIALECTS, import_each
from tests.groups.importers.imported import CAPTURES, OFFSETS, import_texts
from tests.growth import calls

if TYPE_CHECKING:
    from collections.abc import Callable

TEXTS = [
    (path.name, path.read_bytes())
    for path in sorted(CAPTURES.glob("*/*"))
    if path.suffix in (".txt", ".json") and path.name != "all-describe.txt"
]


def flip_bytes(rng: random.Random, data: bytes) -> bytes:
    found = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5, 40])):
        found[rng.randrange(len(found))] = rng.randrange(256)
    return bytes(found)


def change_characters(rng: random.Random, data: bytes) -> bytes:
    found = bytearray(data)
    for _ in range(rng.choice([1, 2, 5])):
        found[rng.randrange(len(found))] = rng.choice(b'0123456789-:,;()[]{}" \n\tt')
    return bytes(found)


def drop_lines(rng: random.Random, data: bytes) -> bytes:
    return b"\n".join(line for line in data.split(b"\n") if rng.random() < 0.85)


def repeat_lines(rng: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    return b"\n".join(line for line in lines for _ in range(1 + (rng.random() < 0.1)))


def cut_columns(rng: random.Random, data: bytes) -> bytes:
    width = rng.randrange(1, 160)
    return b"\n".join(line[:width] for line in data.split(b"\n"))


def cut_the_end(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data))]


def wrap_lines(rng: random.Random, data: bytes) -> bytes:
    width = rng.randrange(20, 150)
    pieces = [
        line[i : i + width]
        for line in data.split(b"\n")
        for i in range(0, max(len(line), 1), width)
    ]
    return b"\n".join(piece.rstrip() if rng.random() < 0.5 else piece for piece in pieces)


def mix_with_another(rng: random.Random, data: bytes) -> bytes:
    other = rng.choice(TEXTS)[1]
    if rng.random() < 0.5:
        return data[: rng.randrange(len(data))] + other[rng.randrange(len(other)) :]
    lines = [*data.split(b"\n"), *other.split(b"\n")]
    return b"\n".join(line for line in lines if rng.random() < 0.95)


def drop_a_word(rng: random.Random, data: bytes) -> bytes:
    words = list(re.finditer(rb"\S+", data))
    word = rng.choice(words)
    return data[: word.start()] + data[word.end() :]


MUTATIONS = [
    flip_bytes, change_characters, drop_lines, repeat_lines, cut_columns, cut_the_end,
    wrap_lines, mix_with_another, drop_a_word,
]  # fmt: skip


def words_of(data: bytes) -> Counter[str]:
    text = data.decode("utf-8", "replace")
    return Counter(re.findall(r"[^\s\"',:;()\[\]{}]+", text.replace("\\", "")))


def check_nothing_is_made_up(document: dict[str, Any], data: bytes) -> None:
    text, words = data.decode("utf-8", "replace"), words_of(data)
    squeezed = re.sub(r"\s", "", text)
    streams = "subtopologies" in document
    for topic, said in document["subtopologies" if streams else "topics"].items():
        count = said if isinstance(said, int) else said["tasks" if streams else "partitions"]
        assert topic in text or topic in squeezed
        assert count == 0 or {str(count - 1), str(count)} & words.keys() or str(count) in squeezed
    for member, said in document["members"].items():
        assert member in text or member in squeezed
        for topic, numbers in (said["tasks"]["active"] if streams else said["owned"]).items():
            assert topic in text or topic in squeezed
            for number in numbers:
                assert str(number) in words or str(number) in squeezed


@pytest.mark.parametrize("rounds", [200, pytest.param(3000, marks=pytest.mark.exhaustive)])
def test_mutated_texts_give_groups_or_one_line_each_and_never_stop_good_ones(rounds: int) -> None:
    rng = random.Random(5)
    good = (CAPTURES / "3.6.2/coop-a-members-verbose.txt").read_bytes()
    good = good.replace(b"coop-a ", b"good-a ")
    outcomes: Counter[str] = Counter()
    for _ in range(rounds):
        name, data = rng.choice(TEXTS)
        mutated = rng.choice(MUTATIONS)(rng, data)
        dialect = "auto" if rng.random() < 0.8 else rng.choice(DIALECTS)
        beside = [("good.txt", good)] * (dialect == "auto")
        imported, failures = import_each([(name, mutated), *beside], dialect=dialect)
        named = {found.snapshot.group for found in imported}
        assert not beside or "good-a" in named or any(one.source == name for one in failures)
        for found in imported:
            found.group()
            check_nothing_is_made_up(found.document, mutated + good)
        for failure in failures:
            assert failure.place.startswith(failure.source)
            assert "\n" not in str(failure)
            assert failure.group not in named or failure.group is None
        outcomes["refused"] += bool(failures)
        outcomes["imported"] += bool(named - {"good-a"})
    assert min(outcomes["refused"], outcomes["imported"]) > rounds / 8


NOISE: dict[str, Callable[[int], bytes]] = {
    "random bytes": lambda size: random.Random(1).randbytes(size),
    "one long line": lambda size: b"a " * (size // 2),
    "lines of letters": lambda size: b"lorem ipsum dolor sit amet\n" * (size // 27),
    "open brackets": lambda size: b"[" * size,
    "numbers": lambda size: b"[" + b"1," * (size // 2) + b"1]",
    "headers": lambda size: b"GROUP TOPIC PARTITION\n" * (size // 22),
    "a header and a long line": lambda size: OFFSETS.encode() + b"g " * (size // 2),
    "prompts": lambda size: b"$ \n" * (size // 3),
    "topics": lambda size: b"Topic: a\n" * (size // 9),
    "blanks": lambda size: b" " * size,
    "quotes": lambda size: b"Consumer group '" * (size // 16),
}


@pytest.mark.parametrize("kind", NOISE)
@pytest.mark.parametrize("dialect", ["auto", "console", "rpk", "kafka-python"])
def test_noise_is_refused_with_work_that_grows_with_its_size_only(kind: str, dialect: str) -> None:
    def refuse(size: int) -> None:
        with pytest.raises(BadInput, match=r"^noise"):
            import_texts([("noise", NOISE[kind](size))], dialect=dialect)

    refuse(500_000)
    less, more = (calls(refuse, size) for size in (20_000, 40_000))
    assert more < 2.2 * less
