"""The command, for ``python -m assay`` and for ``spark-submit``, which starts files alone."""

from assay.cli import main

if __name__ == "__main__":
    main()
