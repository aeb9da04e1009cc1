"""Wording: names and sentences, as the parts of the page put them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.promises.findings import Finding


def names(findings: Sequence[Finding]) -> str:
    """Return the assignors of findings, without versions."""
    names = (f"`{finding.assignor.partition('@')[0]}`" for finding in findings)
    return ", ".join(dict.fromkeys(names))


def sentence(text: object) -> str:
    """Return a text with its stop at the end; nothing where there is none."""
    said = str(text or "").strip()
    return said if not said or said.endswith((".", "!", "?")) else f"{said}."


def upper(text: str) -> str:
    """Return a text that begins with a capital."""
    return text[:1].upper() + text[1:]


def plain(text: str) -> str:
    """Return a text of letters, digits and spaces."""
    return "".join(c if c.isalnum() else " " for c in text)
