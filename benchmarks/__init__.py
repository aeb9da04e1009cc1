"""Benchmarks: what is timed, against which rivals and on which groups (`make bench`)."""
