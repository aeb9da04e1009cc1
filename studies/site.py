"""Site: what the site generator changes of the docstrings that it shows."""

from __future__ import annotations

from griffe import Extension, Object

from studies.docstrings import described


class Described(Extension):  # type: ignore[misc]
    """Shows the docstrings of all objects as ours are meant."""

    def on_object(self, *, obj: Object, **_: object) -> None:
        """Change one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = described(obj.docstring.value)
