"""Waiting: how long a cluster is waited for; nothing is loaded for that."""

# To connect, and for each answer afterwards.
DEFAULT_SECONDS = 10.0
# To look at an address once more, for the reason why it was not reached.
LOOK_SECONDS = 2.0
