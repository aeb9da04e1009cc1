"""Many groups in one solve, side by side, each proved by itself."""
