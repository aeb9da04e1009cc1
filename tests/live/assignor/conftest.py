"""The clients, loaded before the tests: kafka-python's import warns of its own use of Python."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import kafka  # noqa: F401
