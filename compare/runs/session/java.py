"""Java: how the JVM of a session is started, and an archive of its classes that starts it faster.

Loading some ten thousand classes is most of what a session's start takes. The first session on a
machine leaves them in the user's cache as Java's class data sharing has them, and those after it
start in half the time. Environments with a Spark or a Java of their own each have an archive.
"""

from __future__ import annotations

import os
import shlex
import shutil
from contextlib import suppress
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

from heuristics.shipped.cache import cache_folder

QUIET = Path(__file__).with_name("log4j2.properties")
SUFFIX = ".jsa"
LEAST_BYTES = 1 << 20
MOST_ARCHIVES = 3


def java_options(java: Path, scratch: Path) -> list[str]:
    """Return the options of a session's JVM: quiet, quick to start, and nothing left outside.

    Parameters
    ----------
    java : home of the Java
    scratch : folder that goes away with the session
    """
    options = [
        f"-Dlog4j2.configurationFile={QUIET.resolve().as_uri()}",
        f"-Djava.io.tmpdir={scratch}",
        f"-XX:ErrorFile={scratch}/error.log",
        "-XX:-UsePerfData",
        # A JVM that passes rows on for seconds gains nothing from the optimising compiler.
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-XX:+IgnoreUnrecognizedVMOptions",
        "-Xlog:disable",
    ]
    archive = archive_of(java)
    if archive.is_file():
        options.append(f"-XX:SharedArchiveFile={archive}")
        with suppress(OSError):
            # Those used last stay.
            os.utime(archive)
    elif _has_room(archive.parent):
        options.append(f"-XX:ArchiveClassesAtExit={_made_at_exit(scratch)}")
    return [shlex.quote(option) for option in options]


def archive_of(java: Path) -> Path:
    """Return where the classes of this Spark on this Java are archived; nothing may be there."""
    jars = Path(_spark_home()) / "jars"
    with suppress(OSError):
        jars = jars.resolve()
    made_of = [str(java.resolve()), str(jars), version("pyspark")]
    with suppress(OSError):
        made_of.append((java / "release").read_text())
    name = blake2b("\n".join(made_of).encode(), digest_size=8).hexdigest()
    return cache_folder("spark", f"{name}{SUFFIX}")


def archive_is_missing(scratch: Path, options: list[str]) -> bool:
    """Whether the JVM of these options leaves an archive in the scratch folder when it ends."""
    return any(str(_made_at_exit(scratch)) in option for option in options)


def keep_archive(java: Path, scratch: Path) -> None:
    """Move what a JVM archived at its end to the cache, in place of those unused for longest.

    It is whole once the JVM has ended.
    Without an archive nothing but time is lost, so nothing that goes wrong here is an error.
    """
    made, archive = _made_at_exit(scratch), archive_of(java)
    part = archive.with_name(f"{archive.name}.{os.getpid()}")
    with suppress(OSError):
        if made.stat().st_size < LEAST_BYTES:
            return
        archive.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(made, part)
            part.replace(archive)
        finally:
            part.unlink(missing_ok=True)
        found = sorted(archive.parent.glob(f"*{SUFFIX}"), key=_used_at, reverse=True)
        for other in found[MOST_ARCHIVES:]:
            other.unlink(missing_ok=True)


def _used_at(file: Path) -> float:
    return file.stat().st_mtime


def _made_at_exit(scratch: Path) -> Path:
    return scratch / f"classes{SUFFIX}"


def _has_room(folder: Path) -> bool:
    """Whether the cache can take an archive, of which nothing is known before it is written."""
    above = next((one for one in (folder, *folder.parents) if one.is_dir()), folder)
    try:
        return os.access(above, os.W_OK) and shutil.disk_usage(above).free > 1 << 30
    except OSError:
        return False


def _spark_home() -> str:
    import pyspark

    return os.environ.get("SPARK_HOME") or str(Path(pyspark.__file__).parent)
