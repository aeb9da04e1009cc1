"""The README and the pages: what they tell people to type runs, and what they name is there."""

import ast
import importlib
import importlib.util
import inspect
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from contextlib import chdir
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pytest
import typer
from typer.main import get_command

import assay
from assay.cli import app
from assay.menu import COMMANDS
from groups.importers import DIALECTS
from groups.tiers import MOVES, PRESETS, TIERS, called
from optimal.cpsat import CONSTRAINT_TIERS
from optimal.enumeration import ENUMERATED_TIERS
from tests.assay import calling
from tests.seeds import for_each

ROOT = Path(__file__).parents[2]
PAGES = {
    str(path.relative_to(ROOT)): path.read_text("utf-8")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
}
# Commands in a block of `sh` and what is in one of `text` are only shown: they need a cluster,
# set an environment up, start Spark or take minutes. Other tests run what they can of them.
LANGUAGES = {"console", "python", "json", "sh", "text"}
ELSEWHERE = "make report\n"
# The broker that readers ask; tests/live/test_documented_commands.py runs such a block on one.
LIVE = "--bootstrap-server localhost:9092"


def blocks(language: str, page: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGES[page], re.MULTILINE | re.DOTALL)


PROGRAMS = [
    pytest.param(program, id=f"{page}-{number}")
    for page in PAGES
    for number, program in enumerate(blocks("python", page))
    # tests/compare/fleet/test_frames.py runs programs with Spark, in another process.
    if "SparkSession" not in program
]


def commands(page: str, *, live: bool = False) -> list[tuple[str, str]]:
    """Return the commands of a page's console blocks in order, each with the output below it.

    Those of blocks that ask a broker or, where `live`, those alone: they run beside a real one.
    """
    found: list[tuple[str, str]] = []
    for block in blocks("console", page):
        if block == ELSEWHERE or (LIVE in block) != live:
            continue
        assert block.startswith("$ "), f"a console block without prompts: {block}"
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            found.append((command, shown))
    return found


def without_times(text: str) -> str:
    """Return the text with times as 0 and single spaces: times change, and widths with them."""
    return re.sub(r" +", " ", re.sub(r"\d+\.\d{4}", "0", text)).strip()


# A call, and what a shell does with its output; not `run`, as Spark keeps its first folder.
CALL = re.compile(r"assay (?!run )((?:'[^']*'|[^|<>;&$*?`~#'])+?)( *(?:[|>].*)?)")
# Calls that several pages show: they write nothing, and read what every clone has.
SHARED = re.compile(r"(?:explain|frontier|score) (?:corpus|docs)/.*")


@cache
def shared(call: str) -> subprocess.CompletedProcess[str]:
    return calling.assay(*shlex.split(call), cwd=ROOT)


def ran(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as a reader with `assay` on the path would; it must succeed.

    The call is made in this process, and a shell has its output and exit code.
    """
    call = CALL.fullmatch(command)
    if call is None:
        return in_shell(command, folder)
    if SHARED.fullmatch(call[1]):
        run = shared(call[1])
    else:
        run = calling.assay(*shlex.split(call[1]), cwd=folder)
    if call[2]:
        return in_shell(f"(cat; exit {run.returncode}){call[2]}", folder, run.stdout)
    assert run.returncode == 0, run.stderr
    return run


def in_shell(command: str, folder: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command in a shell; it must succeed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        input=stdin,
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | {"PATH": path},
        check=False,
    )
    # If `head` has read enough, the command ends with 141, as other programs in a pipe do.
    assert run.returncode in ((0, 141) if "| head" in command else (0,)), run.stderr
    return run


@pytest.fixture
def clone(tmp_path) -> Path:
    for folder in ("corpus", "docs"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    return tmp_path


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)])
def test_every_command_succeeds_and_prints_what_stands_under_it(clone, page):
    for program in blocks("python", page):
        named = re.match(r"# (\w+\.py)\n", program)
        if named:
            (clone / named[1]).write_text(program)
    differing = {}
    for command, shown in commands(page):
        made = without_times(ran(command, clone).stdout)
        if shown and made != without_times(shown):
            differing[command] = made
    assert not differing, "\n\n".join(f"$ {c}\n{made}" for c, made in differing.items())


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_program_runs(clone, program, capfd):
    # Some programs add a tier.
    with (
        chdir(clone),
        patch.dict(TIERS),
        patch.dict(ENUMERATED_TIERS),
        patch.dict(CONSTRAINT_TIERS),
    ):
        exec(compile(program, "program", "exec"), {"__name__": "__main__"})
    assert capfd.readouterr().err == ""


@for_each(PAGES)
def test_every_block_says_whether_it_is_run(page):
    fences = re.findall(r"^```(.*)$", PAGES[page], re.MULTILINE)
    assert set(fences[::2]) <= LANGUAGES
    assert set(fences[1::2]) <= {""}


@for_each(page for page in PAGES if page != "README.md")
def test_every_page_says_first_whom_it_is_for(page):
    title, first = PAGES[page].split("\n\n")[:2]
    assert re.fullmatch(r"# .+", title)
    assert first.startswith("For "), first


@cache
def docstrings() -> dict[str, str]:
    """Return the docstrings of all packages, by file and name."""
    found: dict[str, str] = {}
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                found[f"{path}:{getattr(node, 'name', '')}"] = ast.get_docstring(node) or ""
    return found


@cache
def trees() -> dict[Path, ast.Module]:
    """Return the syntax tree of each module of the packages."""
    rooms = [one.parent for one in ROOT.glob("*/__init__.py") if one.parent.name != "tests"]
    paths = sorted(path for room in rooms for path in room.rglob("*.py"))
    return {path.relative_to(ROOT): ast.parse(path.read_text("utf-8")) for path in paths}


# Programs that readers write, and options of other projects' tools.
READERS = {"mine.py", "consumer.py"}
OTHERS = {"--describe", "--verbose", "--py-files"}


def test_every_file_that_a_page_or_a_docstring_names_is_there():
    folders = "|".join(path.name for path in ROOT.iterdir() if path.is_dir())
    seen, missing = 0, []
    for where, text in (PAGES | docstrings()).items():
        # For a link the target counts, not the text.
        plain = re.sub(r"\[[^]]*\]\(([^)]*)\)", r" \1 ", text)
        named = re.findall(rf"`((?:{folders})/[\w./-]*)`", plain)
        named += re.findall(r"[\w./-]*\w\.(?:py|md|toml|jinja)\b", plain)
        seen += len(named)
        for name in set(named) - READERS:
            # make report leaves out/, which need not be there.
            there = (ROOT / name).exists() or (ROOT / where).parent.joinpath(name).exists()
            if not there and not name.startswith("out/"):
                missing.append((where, name))
    assert seen > 300
    assert missing == []


def options_of_commands() -> dict[str, set[str]]:
    main = get_command(app)
    context = typer.Context(main)
    return {
        command: {"--help"}.union(*(one.opts + one.secondary_opts for one in found.params))
        for command in COMMANDS
        if (found := main.get_command(context, command)) is not None
    }


def test_every_command_option_module_and_target_that_is_named_is_there():
    options = options_of_commands()
    every = OTHERS.union(*options.values())
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    missing: list[tuple[str, str]] = []
    for where, text in (PAGES | docstrings()).items():
        calls = re.findall(r"\bassay ([a-z]+)\b([^`\n]*)", text)
        asked = re.findall(r"(?:`|^\$ )assay ([a-z]+)", text, re.MULTILINE)
        named = [
            *(f"assay {one}" for one in asked if one not in options),
            *(
                f"{command} {option}"
                for command, rest in calls
                for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", rest.split("|")[0])
                if option not in options.get(command, (option,))
            ),
            *(f"make {one}" for one in re.findall(r"`make ([a-z-]+)", text) if one not in targets),
            *(
                f"python -m {one}"
                for one in re.findall(r"python -m ([a-z]\w*(?:\.\w+)*)", text)
                if importlib.util.find_spec(one) is None
            ),
        ]
        if where in PAGES:
            named += {*re.findall(r"`(--[a-z][a-z-]+)", text)} - every
        missing += [(where, one) for one in named]
    assert missing == []


# Options of Kafka's and Spark's tools, and of the command that a finding is reproduced with.
THEIRS = re.compile(r"kafka-|--describe|--verbose|--group\[|spark-submit")
RERUN = Path("compare/promises/hunt.py")


def test_what_people_read_from_python_names_no_option_of_the_command():
    options = set().union(*options_of_commands().values())
    assert "--like" in options
    named = []
    for path, tree in trees().items():
        if path == RERUN or path.parts[0] not in ("groups", "optimal", "heuristics", "compare"):
            continue
        documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and id(node) not in documented:
                text = str(node.value)
                asked = options & {*re.findall("--[a-z-]+", text)}
                if asked and " " in text and not THEIRS.search(text):
                    named.append(f"{path}: {text}")
    assert not named


def anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", head) for head in heads)
    return {re.sub(r"[^\w -]", "", head).strip().lower().replace(" ", "-") for head in plain}


# Its anchors are those of functions, which the site makes.
SIGNATURES = ROOT / "docs/reference/signatures.md"


def test_every_link_of_a_page_leads_somewhere():
    seen, wrong = 0, []
    for page, text in PAGES.items():
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            if link.startswith("https://"):
                continue
            file, _, anchor = link.partition("#")
            path = (ROOT / page).parent.joinpath(file).resolve() if file else ROOT / page
            seen += 1
            known = anchor in anchors(path) if path.suffix == ".md" and path.exists() else False
            if not path.exists() or (anchor and not known and path != SIGNATURES):
                wrong.append((page, link))
    assert seen > 400
    assert wrong == []


def test_the_site_leads_to_every_page():
    site = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))
    text = json.dumps(site["project"]["nav"])
    assert {f"docs/{page}" for page in re.findall(r'"([^"]+[.]md)"', text)} == {*PAGES} - {
        "README.md"
    }


def test_the_picture_of_the_page_is_small_enough_to_load_at_once():
    picture = (ROOT / "docs/images/page.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < 200_000


def test_the_page_of_commands_has_every_command_tier_and_preset():
    page = PAGES["docs/reference/commands.md"]
    assert sorted(re.findall(r"^\| `assay ([a-z]+)\b", page, re.MULTILINE)) == sorted(COMMANDS)
    for head, known in (("tier", {*TIERS, called(MOVES)}), ("preset", PRESETS)):
        table = page.partition(f"\n| {head} |")[2].partition("\n\n")[0]
        cells = re.findall(r"^\| (.+?) \|", table, re.MULTILINE)
        assert {*re.findall(r"`([\w-]+)`", " ".join(cells))} == {*known}


def test_the_page_on_importing_names_every_dialect():
    named = f"(`--from` names it: {', '.join(one for one in DIALECTS if one != 'auto')})"
    assert named in PAGES["docs/reference/importing.md"]


def test_the_page_on_changing_names_files_and_what_stands_in_them():
    for row in re.findall(r"^\| (.+) \|$", PAGES["docs/reference/changing.md"], re.MULTILINE):
        named = re.findall(r"`([\w./]+)`", row)
        there = [path for one in named if (path := ROOT / one).exists()]
        text = "".join(path.read_text("utf-8") for path in there if path.is_file())
        beside = [path if path.is_dir() else path.parent for path in there]
        for one in named:
            is_file = any((folder / one).exists() for folder in (ROOT, *beside))
            assert is_file or re.search(rf"\b{one}\b", text), f"{one}: in {row}"


def described(page: str) -> dict[str, str]:
    """Return the text of each function's and class's row on a page, by its anchor."""
    row = r"^\| \[`[\w.]+`\]\(signatures\.md#(\S+)\) \| (.*) \|$"
    return dict(re.findall(row, PAGES[page], re.MULTILINE))


def test_the_page_on_python_has_all_that_the_package_hands_out():
    named = described("docs/reference/python.md")
    assert "live.kafka_python.OptimalAssignor" in named
    fleet = "compare.fleet.frames"
    public = set(assay.__all__)
    shown = {name.rpartition(".")[2] for name in named if not name.startswith("live.")}
    of_fleet = {name.rpartition(".")[2] for name in named if name.startswith(f"{fleet}.")} - public
    assert public == shown - of_fleet - {"Unreadable"}
    made = {
        name
        for name, one in vars(assay.fleet).items()
        if callable(one) and name[0] != "_" and one.__module__ == fleet
    }
    assert of_fleet == (made - public) | {"FleetTables"}


def test_the_page_on_figures_has_all_of_them_and_all_that_makes_their_tables():
    named = described("docs/reference/figures.md")
    assert sorted(name.rpartition(".")[2] for name in named) == assay.figures.__all__


def test_pages_say_of_a_function_or_class_what_its_docstring_says_first():
    named = described("docs/reference/python.md") | described("docs/reference/figures.md")
    for path, said in named.items():
        module, _, name = path.rpartition(".")
        one = getattr(importlib.import_module(module), name)
        # A type that only has another name has no docstring.
        if inspect.isclass(one) or inspect.isfunction(one):
            first = " ".join((inspect.getdoc(one) or "").split("\n\n")[0].split())
            assert said == re.sub(r":\w+:`[~.]?([^`]*)`", r"`\1`", first).replace("``", "`"), path
    listed = re.findall(r"^::: (\S+)$", PAGES["docs/reference/signatures.md"], re.MULTILINE)
    errors = {path for path in named if path.startswith("groups.errors.")}
    assert set(listed) == set(named) - errors | {"groups.errors"}
