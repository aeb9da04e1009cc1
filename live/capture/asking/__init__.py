"""Asking: the requests that captures send to brokers, and the answers typed."""
