import re
from types import SimpleNamespace

import pytest
from kafka.coordinator.assignors.abstract import AbstractPartitionAssignor, RebalanceProtocol
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.consumer import ConsumerCoordinator
from kafka.errors import KafkaConfigurationError

import live.aiokafka
import live.kafka_python
from groups import BadInput
from live.connection import Connection

OptimalAssignor = live.kafka_python.OptimalAssignor


def test_a_class_with_other_settings_leaves_the_first_as_it_was():
    quick = OptimalAssignor.with_(time_limit=0.5, protocol="eager")
    assert (quick.time_limit, quick.protocol, quick.name) == (0.5, "eager", "assay-optimal")
    assert (OptimalAssignor.time_limit, OptimalAssignor.protocol) == (2.0, "cooperative")
    assert quick().supported_protocols() == [RebalanceProtocol.EAGER]
    assert OptimalAssignor().supported_protocols() == [RebalanceProtocol.COOPERATIVE]
    assert isinstance(quick(), AbstractPartitionAssignor)


def test_a_subclass_may_say_its_settings_itself():
    class Quick(OptimalAssignor):
        time_limit = 1

    assert Quick.time_limit == 1
    with pytest.raises(BadInput, match="Slow: time_limit: 0, expected seconds above 0"):

        class Slow(OptimalAssignor):
            time_limit = 0


ASYNC, ASYNC_LAG = live.aiokafka.OptimalAssignor, live.aiokafka.LagAwareAssignor
LAG = live.kafka_python.LagAwareAssignor


@pytest.mark.parametrize(
    ("assignor", "settings", "said"),
    [
        (OptimalAssignor, {"time_limit": "2"}, "OptimalAssignor: time_limit: '2', expected sec"),
        (OptimalAssignor, {"time_limit": True}, "time_limit: True, expected seconds above 0"),
        (OptimalAssignor, {"time_limit": float("nan")}, "time_limit: nan, expected"),
        (OptimalAssignor, {"protocol": "sticky"}, "protocol: 'sticky', expected cooperative or"),
        (OptimalAssignor, {"protocol": []}, "protocol: [], expected cooperative or eager"),
        (OptimalAssignor, {"name": "x"}, "no setting 'name', expected one of protocol, time_lim"),
        # Its client has no choice of protocol.
        (ASYNC, {"protocol": "eager"}, "no setting 'protocol', expected one of time_limit"),
        (ASYNC_LAG, {"auto_offset_reset": "none"}, "'none', expected latest or earliest"),
        (ASYNC_LAG, {"connection": "h:1"}, "connection: expected a live.connection.Connection"),
        (ASYNC_LAG, {"time_limit": 0}, "time_limit: 0, expected"),
        (ASYNC_LAG, {"bootstrap": "h:1"}, "no setting 'bootstrap', expected one of"),
        (LAG, {"protocol": "x", "connection": Connection("h:1")}, "'x', expected cooperative or"),
    ],
)
def test_settings_that_cannot_be_are_refused(assignor, settings, said):
    with pytest.raises(BadInput, match=re.escape(said)):
        assignor.with_(**settings)


EAGER = OptimalAssignor.with_(protocol="eager")


@pytest.mark.parametrize(
    ("assignors", "protocol"),
    [
        ([OptimalAssignor], RebalanceProtocol.COOPERATIVE),
        ([OptimalAssignor, CooperativeStickyAssignor], RebalanceProtocol.COOPERATIVE),
        ([EAGER, RangePartitionAssignor], RebalanceProtocol.EAGER),
        ([OptimalAssignor, RangePartitionAssignor], None),
    ],
)
def test_kafka_python_takes_it_beside_assignors_of_the_same_protocol(assignors, protocol):
    """Its own rule for the list of a consumer, asked without a connection."""
    rule = vars(ConsumerCoordinator)["_validate_rebalance_protocol"]
    consumer = SimpleNamespace(_assignors={one.name: one() for one in assignors})
    if protocol is not None:
        assert rule(consumer) is protocol
        return
    with pytest.raises(KafkaConfigurationError, match="do not support a common RebalanceProtocol"):
        rule(consumer)


@pytest.mark.parametrize("client", [live.kafka_python, live.aiokafka])
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "LagAwareAssignor: no group_id: LagAwareAssignor.with_(group_id=...)"),
        ({"group_id": "g"}, "LagAwareAssignor: no connection: LagAwareAssignor.with_(connection="),
    ],
)
def test_a_consumer_whose_assignor_lacks_a_setting_does_not_join(client, settings, said):
    assignor = client.LagAwareAssignor.with_(**settings)
    made = assignor() if client is live.kafka_python else assignor
    with pytest.raises(BadInput, match=re.escape(said)):
        made.metadata({"t0"})
