"""Short names: what members are called on a page, without what only makes them unlike."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Mapping

    from groups.group import Group

# At the end of an id, or before the thread in the client id of Kafka Streams.
_UUID = re.compile(
    r"-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"(?:(?P<thread>-StreamThread-\d+)-consumer)?$",
    re.I,
)
_WORD = re.compile(r"[^\s,;:()?\u201c\u201d]+")
DIGITS = 4


def labels_of(group: Group) -> list[str]:
    """Return what each member is called on a page, all of them different.

    That is its client id where no other has it; else its id without the UUID at its end; else its
    id with the first digits of the UUID.
    """
    details = group.details or [None] * len(group.members)
    clients = [None if one is None else one.client_id for one in details]
    stems = [
        cut(client) if client else _UUID.sub("", name)
        for client, name in zip(clients, group.members, strict=True)
    ]
    often = Counter(stems)
    labels = [
        stem if often[stem] == 1 else cut(name)
        for stem, name in zip(stems, group.members, strict=True)
    ]
    return labels if len(set(labels)) == len(labels) else list(group.members)


def cut(name: str) -> str:
    """Return a name with the first digits of the UUID at its end.

    Examples
    --------
    >>> uuid = "9e9480e3-fb86-495b-a540-9a7c10bdb384"
    >>> cut(f"app-0-{uuid}"), cut("app-1"), cut(f"shop-{uuid}-StreamThread-2-consumer")
    ('app-0-9e94…', 'app-1', 'shop-9e94…-StreamThread-2')
    """
    return _UUID.sub(lambda found: f"{found[0][: 1 + DIGITS]}…{found['thread'] or ''}", name)


def in_short(text: str, labels: Mapping[str, str]) -> Markup:
    """Return a text in which each id of a member is short, and in full when it is hovered over.

    Parameters
    ----------
    labels : of ids what their members are called; a UUID at the end of another word is cut
    """
    found = Markup()
    end = 0
    words = [(text, 0)] if text in labels else [(w[0], w.start()) for w in _WORD.finditer(text)]
    for word, start in words:
        name = word if word in labels else word.rstrip(".")
        label = labels.get(name, cut(name))
        if label != name:
            found += text[end:start] + Markup('<span title="{}">{}</span>').format(name, label)
            end = start + len(name)
    return found + text[end:]
