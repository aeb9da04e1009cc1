"""The optimum as an assignor: from members' claims and cluster metadata to an always valid plan.

`live.kafka_python` and `live.aiokafka` adapt it to the two clients.
"""
