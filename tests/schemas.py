"""JSON Schemas; the package takes 5 s to load, so it is loaded where a test asks for it."""

import json
from functools import cache


@cache
def validator_of(path):
    """Return what holds documents against the schema of a file, which is one."""
    from jsonschema import Draft202012Validator

    schema = json.loads(path.read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)
