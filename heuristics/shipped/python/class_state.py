"""ClassState: members and metadata of the clients whose assignors keep their state on the class.

In the client each process has one member, so the class has one to remember. Here each member has a
class of its own that inherits from the client's, so that nothing travels from one to the other.
Such are aiokafka, and kafka-python before 3.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from heuristics.shipped.joining import Joining


def joined(
    assignor: Any, members: Sequence[Joining], protocol: Any, *, generations: bool
) -> tuple[Any, dict[str, object]]:
    """Return the leader's assignor, and by member what it decodes of what that member sends.

    Parameters
    ----------
    assignor : the client's class
    protocol : the client's class of the consumer protocol, with METADATA and ASSIGNMENT
    generations : whether the client tells a sticky assignor of which generation its claims are
    """
    sent = {
        said.member_id: _metadata(_of_one_member(assignor), said, protocol, generations)
        for said in members
    }
    return _of_one_member(assignor), sent


def cluster(metadata: Any, response: Any, topics: Iterable[tuple[str, int]]) -> object:
    """Return the cluster's metadata, as it comes of a Metadata response.

    Parameters
    ----------
    metadata, response : the client's classes ``ClusterMetadata`` and ``MetadataResponse_v1``
    """
    listed = [
        (0, topic, False, [(0, number, 1, [1], [1]) for number in range(count)])
        for topic, count in topics
    ]
    made = metadata()
    made.update_metadata(response([(1, "localhost", 9092, None)], 1, listed))
    return made


def _of_one_member(assignor: Any) -> Any:
    """Return a class that takes everything from the client's and keeps its state to itself."""
    return type(assignor.__name__, (assignor,), {})


def _metadata(assignor: Any, said: Joining, protocol: Any, generations: bool) -> object:
    if said.owned or said.generation >= 0:
        assignor.on_assignment(protocol.ASSIGNMENT(0, list(said.owned.items()), b""))
        if generations and assignor.name == "sticky":
            assignor.on_generation_assignment(said.generation)
    # Before kafka-python 3.0 what is encoded is held weakly: it needs a name.
    metadata = assignor.metadata(said.subscription)
    return protocol.METADATA.decode(metadata.encode())
