"""A running cluster: groups captured and watched, and the optimum as an assignor of consumers."""

# Time limit to connect to a cluster, and for each answer afterwards.
DEFAULT_SECONDS = 10.0
