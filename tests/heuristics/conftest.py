from collections.abc import Callable

import pytest

from groups import Group


def build_group(topics, subscriptions, owned=None, generation=None, **more) -> Group:
    members = {}
    for member, subscription in subscriptions.items():
        members[member] = {"subscription": list(subscription)}
        if owned and member in owned:
            members[member]["owned"] = owned[member]
        if generation is not None:
            born = generation[member] if isinstance(generation, dict) else generation
            members[member]["generation"] = born
    document = {"format": "assay-group/1", "group": "g", "topics": topics, "members": members}
    return Group.from_dict(document | more)


@pytest.fixture(scope="session")
def group_of() -> Callable[..., Group]:
    return build_group
