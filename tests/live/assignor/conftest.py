"""Import kafka-python before the tests, without the DeprecationWarnings that its import raises."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import kafka  # noqa: F401
