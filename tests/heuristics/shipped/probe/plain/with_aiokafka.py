"""An aiokafka consumer: BOOTSTRAP GROUP TOPIC; it lists sticky if $ASSIGNOR is that."""

import asyncio
import os
import sys

from aiokafka import AIOKafkaConsumer
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from aiokafka.errors import GroupAuthorizationFailedError


async def main() -> None:
    bootstrap, group, topic = sys.argv[1:]
    sticky = os.environ.get("ASSIGNOR") == "sticky"
    options = {"partition_assignment_strategy": [StickyPartitionAssignor]} if sticky else {}
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=bootstrap, group_id=group, **options)
    try:
        await consumer.start()
        async for _ in consumer:
            pass
    except GroupAuthorizationFailedError:
        pass
    finally:
        await consumer.stop()


asyncio.run(main())
