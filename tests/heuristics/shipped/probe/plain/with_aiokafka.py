"""A consumer of aiokafka, with its default options: BOOTSTRAP GROUP TOPIC."""

import asyncio
import sys

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import GroupAuthorizationFailedError


async def main() -> None:
    bootstrap, group, topic = sys.argv[1:]
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=bootstrap, group_id=group)
    try:
        await consumer.start()
        async for _ in consumer:
            pass
    except GroupAuthorizationFailedError:
        pass
    finally:
        await consumer.stop()


asyncio.run(main())
