"""The optimum as an assignor: from what members and cluster say to a plan that is always valid.

`live.kafka_python` and `live.aiokafka` hand this to the two clients.
"""
