"""Sections: what is written by hand of each kind of finding, worst first."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Section:
    """Findings of one kind.

    Attributes
    ----------
    title : its heading, of letters, digits and spaces alone, so that every site links to it alike
    ids : patterns of the ids of its findings
    counted : what `how-often.csv` calls it
    effect : what happens to the user
    avoid : what to do today
    unplayed : why none of the groups that are played can show it; empty where they can
    why : the rule behind it, where no study records that; else empty
    """

    title: str
    ids: tuple[str, ...]
    counted: str
    effect: str
    avoid: str
    unplayed: str = ""
    why: str = ""

    @property
    def anchor(self) -> str:
        """What a link to it ends with."""
        return self.title.lower().replace(" ", "-")

    def has(self, finding: str) -> bool:
        """Return whether a finding belongs here, by its id."""
        return any(fnmatchcase(finding, pattern) for pattern in self.ids)


@dataclass(frozen=True)
class Words:
    """What is written by hand: the sections, and what stands above them."""

    top: str
    table: str
    enumerated: str
    program: str
    pictures: str
    sections: tuple[Section, ...]


@cache
def words() -> Words:
    """Return what is written by hand."""
    told = tomllib.loads((Path(__file__).parent / "sections.toml").read_text("utf-8"))
    sections = tuple(
        Section(
            one["title"],
            tuple(one["ids"]),
            one["counted"],
            one["effect"].strip(),
            one["avoid"].strip(),
            one.get("unplayed", "").strip(),
            one.get("why", "").strip(),
        )
        for one in told["section"]
    )
    above = {
        key: told[key].strip() for key in ("top", "table", "enumerated", "program", "pictures")
    }
    return Words(**above, sections=sections)
