"""Write docs/findings/shipped.md out of what the studies left: ``make shipped-page``."""

from __future__ import annotations

from pathlib import Path

from studies.findings_page.measured import read
from studies.findings_page.page import page_of


def main() -> None:
    """Write the page."""
    page = Path("docs/findings/shipped.md")
    page.write_text(page_of(read(Path())), encoding="utf-8")


if __name__ == "__main__":
    main()
