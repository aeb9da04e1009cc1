"""A separate program that resolves Maven coordinates and prints the paths of their jars.

The resolver leaves connections open until garbage collection, so it runs in a child process.
"""

import sys
from pathlib import Path

import jgo


def main(*coordinates: str) -> None:
    """Print the jars of the coordinates and of their dependencies, one release of each."""
    try:
        # Without "!" the resolver may settle on another version than the one asked for.
        jars = jgo.build("+".join(f"{each}!" for each in coordinates)).all_jars
    except Exception as error:
        sys.exit(" ".join(str(error).split()))
    sys.stdout.writelines(f"{Path(jar).resolve()}\n" for jar in jars)


if __name__ == "__main__":
    main(*sys.argv[1:])
