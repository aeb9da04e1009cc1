"""JSON Schema validators; `jsonschema` takes 5 s to import, so it is imported on first use."""

import json
from functools import cache


@cache
def validator_of(path):
    """Return a validator for the schema in a file, which must be a valid schema."""
    from jsonschema import Draft202012Validator

    schema = json.loads(path.read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)
