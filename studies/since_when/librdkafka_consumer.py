"""A separate program: a consumer of any librdkafka that joins a group and polls.

Arguments: LIBRARY BOOTSTRAP GROUP ASSIGNOR [DEBUG]; DEBUG is librdkafka's setting of that name.

It calls the library directly, because old releases of confluent-kafka cannot be loaded into this
Python, but the library in their wheels can.
"""

import ctypes
import sys

CONSUMER = 1
MILLISECONDS = 1000


def main(path: str, bootstrap: str, group: str, assignor: str, logs: str = "") -> None:
    """Join and poll for ever."""
    library = ctypes.CDLL(path)
    for name in ("rd_kafka_conf_new", "rd_kafka_new", "rd_kafka_topic_partition_list_new"):
        getattr(library, name).restype = ctypes.c_void_p
    library.rd_kafka_consumer_poll.restype = ctypes.c_void_p
    said = ctypes.create_string_buffer(512)
    settings = {
        "bootstrap.servers": bootstrap,
        "group.id": group,
        "client.id": "librdkafka",
        "partition.assignment.strategy": assignor,
        "enable.auto.commit": "false",
        **({"debug": logs} if logs else {"log_level": "2"}),
    }
    conf = ctypes.c_void_p(library.rd_kafka_conf_new())
    for key, value in settings.items():
        if library.rd_kafka_conf_set(conf, key.encode(), value.encode(), said, len(said)):
            sys.exit(said.value.decode())
    client = ctypes.c_void_p(library.rd_kafka_new(CONSUMER, conf, said, len(said)))
    if not client:
        sys.exit(said.value.decode())
    library.rd_kafka_poll_set_consumer(client)
    topics = ctypes.c_void_p(library.rd_kafka_topic_partition_list_new(1))
    library.rd_kafka_topic_partition_list_add(topics, b"assay-probe", -1)
    if library.rd_kafka_subscribe(client, topics):
        sys.exit("it cannot subscribe")
    while True:
        message = library.rd_kafka_consumer_poll(client, MILLISECONDS)
        if message:
            library.rd_kafka_message_destroy(ctypes.c_void_p(message))


if __name__ == "__main__":
    main(*sys.argv[1:])
