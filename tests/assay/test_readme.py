import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
# These start Spark, draw a page or set an environment up; other tests run them.
ELSEWHERE = re.compile(r"assay (run|report) |make ")


PAGES = {
    str(path.relative_to(ROOT)): path.read_text("utf-8")
    for path in sorted((ROOT / "docs").rglob("*.md"))
}


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


PROGRAMS = [
    pytest.param(program, id=f"{page}-{number}")
    for page, text in {"README.md": README, **PAGES}.items()
    for number, program in enumerate(blocks("python", text))
]


def commands() -> list[tuple[str, str]]:
    """Each command of the console blocks, in order, with the output that stands under it."""
    found: list[tuple[str, str]] = []
    for block in blocks("console"):
        if not block.startswith("$ "):
            assert ELSEWHERE.match(block), f"a console block without prompts: {block}"
            continue
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            found.append((command, shown))
    return found


def without_times(text: str) -> str:
    """The text with times as 0 and runs of spaces as one: times change, and widths with them."""
    return re.sub(r" +", " ", re.sub(r"\d+\.\d{4}", "0", text)).strip()


@pytest.fixture(scope="module")
def clone(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("clone")
    shutil.copytree(ROOT / "corpus", folder / "corpus")
    return folder


def test_there_are_commands_and_programs_to_run():
    assert len(commands()) >= 5
    assert all(command.startswith("assay ") for command, _ in commands())
    assert len(blocks("python")) >= 2
    assert len(PROGRAMS) > len(blocks("python"))


def test_every_command_succeeds_and_prints_what_stands_under_it(clone):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command, shown in commands():
        assert not ELSEWHERE.match(command)
        run = subprocess.run(
            ["bash", "-c", command],
            capture_output=True,
            text=True,
            cwd=clone,
            env=os.environ | {"PATH": path},
            check=False,
        )
        assert run.returncode == 0, f"{command}\n{run.stderr}"
        if shown:
            assert without_times(run.stdout) == without_times(shown), command


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_program_runs(clone, program):
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        cwd=clone,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")


def test_every_file_that_a_page_names_is_there():
    folders = "|".join(path.name for path in ROOT.iterdir() if path.is_dir())
    named = [
        (page, name)
        for page, text in {"README.md": README, **PAGES}.items()
        for name in re.findall(rf"`((?:{folders})/[\w./-]*)`", text)
    ]
    assert len(named) > 30
    # make report leaves out/, which need not be there.
    missing = [(page, name) for page, name in named if not (ROOT / name).exists()]
    assert [(page, name) for page, name in missing if not name.startswith("out/")] == []
