"""A running cluster: groups captured and watched, and the optimum as an assignor of consumers."""
