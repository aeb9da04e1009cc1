"""A running cluster: groups captured and watched, and the optimum as an assignor of consumers."""

# To connect to a cluster, and for each answer afterwards.
DEFAULT_SECONDS = 10.0
