"""Wheels: releases of Python packages, each unpacked into a folder of its own in the cache."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from groups import BadInput
from groups.documents.json_files import make_folder
from heuristics.shipped.cache import cache_folder
from studies.since_when.releases import asked, date_in_archive

if TYPE_CHECKING:
    from collections.abc import Sequence

# The newest Python for which the oldest release that matters here has a wheel.
OF_OLD = "3.8"
DATE = "made-on.txt"


def unpacked(package: str, version: str, pythons: Sequence[str] = ("",)) -> Path:
    """Return the folder of a release, whose wheel is fetched if it is not here.

    Parameters
    ----------
    pythons : versions of Python to look for a wheel for, one after the other; "" is this one

    Raises
    ------
    BadInput
        Where its registry has no wheel of it for any of them.
    """
    folder = cache_folder("wheels", f"{package}-{version}")
    if (folder / DATE).is_file():
        return folder
    for python in pythons:
        with TemporaryDirectory() as to:
            try:
                _download(f"{package}=={version}", python, to)
            except BadInput as error:
                reason = error
                continue
            (wheel,) = Path(to).glob("*.whl")
            make_folder(folder)
            with zipfile.ZipFile(wheel) as opened:
                opened.extractall(folder)
            (folder / DATE).write_text(date_in_archive(wheel) or "", "utf-8")
            return folder
    raise BadInput(f"no wheel: {reason}")


def date_of(folder: Path) -> str | None:
    """Return the day on which the wheel of a folder was made, None where that cannot be told."""
    return (folder / DATE).read_text("utf-8") or None


def _download(requirement: str, python: str, folder: str) -> None:
    of_python = ["--python-version", python] if python else []
    asked(
        [
            *(sys.executable, "-m", "pip", "download", "-q", "--no-deps"),
            *("--only-binary=:all:", *of_python, "-d", folder, requirement),
        ]
    )
